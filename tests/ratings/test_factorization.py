"""The estimator: what it reads, what it answers, what it refuses."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from bayesmargin import MaxMarginFactorization
from bayesmargin.errors import DataError
from bayesmargin.samplers import SSGLD, SSGNHT, AugmentationGibbs

SHORT = {"n_factors": 2, "n_sweeps": 40, "n_chains": 2, "n_draws": 10, "random_state": 0}


def taste(n_users=60, n_items=40, share=0.5, seed=0):
    """Ratings from 1 to 5 of users who differ in two tastes."""
    rng = np.random.default_rng(seed)
    score = 1.5 * rng.standard_normal((n_users, 2)) @ rng.standard_normal((2, n_items))
    score += rng.standard_normal(n_items) + rng.standard_normal((n_users, 1))
    noisy = score + rng.logistic(size=score.shape)
    rating = 1 + (noisy[..., None] > [-3.0, -1.0, 1.0, 3.0]).sum(axis=2)
    user, item = np.nonzero(rng.random(score.shape) < share)
    return np.column_stack([user, item, rating[user, item]])


@pytest.fixture(scope="module")
def fitted():
    rows = taste()
    order = np.random.default_rng(1).permutation(len(rows))
    train, test = rows[order[: -len(rows) // 5]], rows[order[-len(rows) // 5 :]]
    return MaxMarginFactorization(2, n_sweeps=1000, random_state=0).fit(train), train, test


def test_hidden_ratings_are_found(fitted):
    model, train, test = fitted
    error = np.abs(model.predict(test) - test[:, 2]).mean()
    constant = np.abs(np.median(train[:, 2]) - test[:, 2]).mean()
    assert error < 0.75 * constant
    mean = model.predict(test, "mean")
    assert np.mean((mean - test[:, 2]) ** 2) < 0.6 * test[:, 2].var()
    commonest = np.bincount(train[:, 2]).argmax()
    right = (model.predict(test, "mode") == test[:, 2]).mean()
    assert right > 1.2 * (commonest == test[:, 2]).mean()


def test_intervals_cover_at_least_as_often_as_they_say(fitted):
    model, _, test = fitted
    for probability in (0.5, 0.8, 0.95):
        low, high = model.predict_interval(test, probability).T
        covered = ((low <= test[:, 2]) & (test[:, 2] <= high)).mean()
        error = np.sqrt(probability * (1.0 - probability) / len(test))
        assert covered > probability - 3.0 * error
        assert (low <= model.predict(test)).all()
        assert (model.predict(test) <= high).all()
    assert (model.predict_interval(test, 0.5) != model.predict_interval(test, 0.95)).any()


def test_chains_of_easy_data_settle(fitted):
    assert fitted[0].diagnostics_.trustworthy
    assert "can be trusted" in str(fitted[0].diagnostics_)


def test_probabilities_add_up_and_of_strangers_too(fitted):
    model, train, _ = fitted
    chance = model.predict_proba([(0, 0), (999, 0), (0, 999), (999, 999)])
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert (chance > 0.0).all()
    shares = np.bincount(train[:, 2], minlength=6)[1:] / len(train)
    assert np.abs(chance[3] - shares).max() < 0.2  # a stranger rates a new item as anybody does
    # what is known of a stranger's rating is less than of a user's: the law is wider
    known, strange = (
        model.predict_proba([(user, item) for item in range(40)]) for user in (0, 999)
    )
    values = np.arange(1, 6)
    spread = [
        (part @ values**2 - (part @ values) ** 2).mean() for part in (known, strange)
    ]  # fmt: skip
    assert spread[0] < spread[1]


def test_forms_of_the_same_ratings_give_the_same_answer():
    rows = taste(20, 15)
    frame = pd.DataFrame(rows, columns=["who", "what", "stars"])
    named = pd.DataFrame(
        {"rating": rows[:, 2], "item": rows[:, 1], "time": 0.0, "user": rows[:, 0]}
    )
    matrix = sparse.csr_array((rows[:, 2], (rows[:, 0], rows[:, 1])))
    first = MaxMarginFactorization(**SHORT).fit(rows)
    for form in (rows.tolist(), frame, named, matrix, rows[::-1], rows.astype(float)):
        again = MaxMarginFactorization(**SHORT).fit(form)
        assert (again.predict_proba(rows) == first.predict_proba(rows)).all()
    pairs = frame[["who", "what"]]
    assert (first.predict_proba(pairs) == first.predict_proba(rows)).all()
    assert (first.predict_proba(named) == first.predict_proba(rows)).all()


def test_words_have_levels_in_their_order():
    rows = taste(20, 15)
    words = np.array(["bad", "poor", "fair", "good", "best"])
    named = [(f"user {i:02}", f"film {j:02}", words[k - 1]) for i, j, k in rows]
    with pytest.raises(DataError, match="pass levels"):
        MaxMarginFactorization(**SHORT).fit(named)
    model = MaxMarginFactorization(**SHORT, levels=words).fit(named)
    numbers = MaxMarginFactorization(**SHORT).fit(rows)
    assert (model.predict_proba(named) == numbers.predict_proba(rows)).all()
    assert (model.predict(named) == words[numbers.predict(rows) - 1]).all()
    with pytest.raises(DataError, match="without a mean"):
        model.predict(named, "mean")
    with pytest.raises(DataError, match="words or numbers"):
        model.predict([(1, 2)])
    assert model.item_table().index[0] == "film 00"


def test_no_factors_are_biases_and_thresholds():
    rows = taste(20, 15)
    model = MaxMarginFactorization(**{**SHORT, "n_factors": 0}).fit(rows)
    assert model.posterior_["item_factors"].shape[-1] == 0
    assert set(model.diagnostics_.quantities) == {"hinge", "items"}


def test_liked_items_lead_the_table(fitted):
    model, train, _ = fitted
    table = model.item_table(0.8)
    means = pd.Series(train[:, 2]).groupby(train[:, 1]).mean()
    assert np.corrcoef(table["liking"], means)[0, 1] > 0.7
    assert (table["liking 10%"] < table["liking"]).all()
    assert (table["liking"] < table["liking 90%"]).all()


@pytest.mark.parametrize("sampler", ["ssgnht", "sghmc"])
def test_minibatches_predict_like_exact_conditionals(sampler, fitted):
    model, train, test = fitted
    other = MaxMarginFactorization(3, sampler=sampler, n_sweeps=300, random_state=0).fit(train)
    ours, theirs = (one.predict(test, "mean") for one in (model, other))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.95


def test_draws_depend_on_the_seed_alone():
    rows = taste(20, 15)
    for sampler in ("gibbs", "ssgnht"):
        settings = {**SHORT, "sampler": sampler}
        first = MaxMarginFactorization(**settings, n_jobs=1).fit(rows)
        again = MaxMarginFactorization(**settings, n_jobs=2).fit(rows)
        other = MaxMarginFactorization(**{**settings, "random_state": 1}).fit(rows)
        assert (first.posterior_["item_bias"] == again.posterior_["item_bias"]).all()
        assert (first.posterior_["item_bias"] != other.posterior_["item_bias"]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_factors": -1}, "n_factors"),
        ({"C": 0.0}, "C=0.0"),
        ({"margin": -1.0}, "margin"),
        ({"prior_scale": (1.0, 0.0)}, "prior_scale"),
        ({"learn_scales": "yes"}, "learn_scales"),
        ({"sampler": "hmc"}, "sampler='hmc'"),
        ({"sampler": SSGLD()}, "sampler"),
        ({"sampler": SSGNHT(preconditioner="adagrad", step=0.1)}, "preconditioner"),
        ({"sampler": AugmentationGibbs(burn_in=40)}, "burn_in"),
        ({"n_chains": 0}, "n_chains"),
    ],
)
def test_settings_that_are_not_allowed(settings, message):
    with pytest.raises(ValueError, match=message):
        MaxMarginFactorization(**{**SHORT, **settings}).fit(taste(5, 5))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(0, 0, 1), (0, 0, 2)], "same user"),
        ([(0, 0, 1), (1, 0, 1)], "two different"),
        ([(0, 0, 1), (1, 0)], "row 1 of the ratings"),
        ([(0, 0, 1), (1, 0, float("nan"))], "no rating in row 1"),
        ([], "no ratings"),
        (np.column_stack([np.arange(200), np.zeros(200), np.linspace(0, 1, 200)]), "round them"),
    ],
)
def test_ratings_that_make_no_sense(rows, message):
    with pytest.raises(DataError, match=message):
        MaxMarginFactorization(**SHORT).fit(rows)


def test_questions_that_make_no_sense(fitted):
    model = fitted[0]
    with pytest.raises(DataError, match=r"row 0 of the pairs"):
        model.predict([(1, 2, 3, 4)])
    with pytest.raises(ValueError, match="statistic"):
        model.predict([(0, 0)], "best")
    with pytest.raises(ValueError, match="probability=1"):
        model.predict_interval([(0, 0)], 1.0)
    with pytest.raises(NotFittedError):
        clone(model).predict([(0, 0)])
    with pytest.raises(DataError, match="none of levels"):
        MaxMarginFactorization(levels=[1, 2]).fit([(0, 0, 1), (0, 1, 3)])
