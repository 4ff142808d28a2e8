"""Binary features of users: as frequent as brute force says, and of use to the estimator."""

import numpy as np
import pytest

from bayesmargin import MaxMarginFactorization
from bayesmargin.models.ratings.priors import Expected
from bayesmargin.running.gibbs import Gibbs
from bayesmargin.samplers import SSGNHT

from .brute_force import cells, log_psi, scores, shares
from .test_exactness import COST, MARGIN, PAIRS, ROWS, SIZE, factorization
from .test_factorization import SHORT, taste

RATE, MOST = 1.5, 5
EXPECTED = Expected(0.7, 0.8, 1.0, False)


def visited(model, n_sweeps, seed=0):
    """How often each cell and each number of features of the two users occurs."""
    chain = Gibbs(model, np.random.default_rng(seed), 200, range(200, n_sweeps))
    chain.run(n_sweeps)
    found, sizes = [], []
    for user, threshold, item in chain.draws:
        found.append(cells(user[None], threshold[None], item[None], PAIRS)[0])
        sizes.append(min(int(user[:2, 1:].any(axis=0).sum()), MOST))
    return shares(np.array(found), SIZE), shares(np.array(sizes), MOST + 1)


def exact(n_draws=1_000_000):
    """The same by draws of the prior, weighted by psi.

    Of two guests, both hold Poisson(rate / 2) features, and each as many that the other lacks.
    """
    rng = np.random.default_rng(1)
    kinds = rng.poisson(RATE / 2.0, (n_draws, 3))  # of both, of the first, of the second
    item = rng.standard_normal((n_draws, 2, 4))
    item[:, :, 0] *= EXPECTED.bias
    item[:, :, 1:] *= EXPECTED.factor * np.sqrt(kinds)[:, None]
    user = np.empty((n_draws, 2, 4))
    user[:, :, 0] = EXPECTED.bias * rng.standard_normal((n_draws, 2))
    user[:, :, 1:] = [[1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    threshold = np.array([-0.5, 0.5]) + EXPECTED.bias * rng.standard_normal((n_draws, 2, 2))
    logs = sum(
        log_psi(level, scores(user, item, i, j), threshold[:, i], COST, MARGIN)
        for i, j, level in ROWS
    )
    weight = np.exp(logs - logs.max())
    assert weight.sum() ** 2 / (weight**2).sum() > 50_000
    sizes = np.minimum(kinds.sum(axis=1), MOST)
    number = cells(user, threshold, item, PAIRS)
    return shares(number, SIZE, weight), shares(sizes, MOST + 1, weight)


def distances(model, n_sweeps):
    """Total variation of cells and of numbers."""
    return [
        0.5 * np.abs(found - wanted).sum()
        for found, wanted in zip(visited(model, n_sweeps), exact(), strict=True)
    ]


@pytest.mark.slow
def test_long_chains_come_within_a_hundredth():
    assert max(distances(factorization(concentration=RATE), 200_200)) < 0.01


def test_features_are_as_frequent_as_brute_force_says():
    # 12,000 sweeps that depend on each other; independent draws would be off by 0.017 and 0.007.
    cells_off, sizes_off = distances(factorization(concentration=RATE), 12_200)
    assert cells_off < 0.04
    assert sizes_off < 0.025


def test_a_planted_mistake_is_noticed():
    wrong = factorization(concentration=1.4 * RATE)
    assert distances(wrong, 12_200)[1] > 0.05


# Features mix slowly; predictions are of use long before they have.
@pytest.mark.filterwarnings("ignore:The chains have NOT settled")
def test_hidden_ratings_are_found_by_features():
    rows = taste(80, 40)
    order = np.random.default_rng(1).permutation(len(rows))
    train, test = rows[order[: -len(rows) // 5]], rows[order[-len(rows) // 5 :]]
    model = MaxMarginFactorization("infinite", n_sweeps=200, n_chains=2, random_state=0)
    plain = MaxMarginFactorization(0, n_sweeps=200, n_chains=2, random_state=0)
    errors = [
        np.mean((one.fit(train).predict(test, "mean") - test[:, 2]) ** 2) for one in (model, plain)
    ]
    assert errors[0] < 0.9 * errors[1]
    held = model.posterior_["user_factors"]
    assert set(np.unique(held)) == {0.0, 1.0}
    assert (model.posterior_["n_features"] <= held.shape[-1]).all()
    assert {"features", "hinge"} <= set(model.diagnostics_.quantities)


def test_a_saved_model_of_features_answers_as_before(tmp_path):
    import bayesmargin

    rows = taste(15, 10)
    model = MaxMarginFactorization(**{**SHORT, "n_factors": "infinite"}).fit(rows)
    model.save(tmp_path / "features")
    again = bayesmargin.load(tmp_path / "features")
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all()


def test_features_have_no_gradient():
    with pytest.raises(ValueError, match="no gradient"):
        MaxMarginFactorization("infinite", sampler=SSGNHT()).fit(taste(5, 5))
    with pytest.raises(ValueError, match="n_factors"):
        MaxMarginFactorization("many").fit(taste(5, 5))
    with pytest.raises(ValueError, match="concentration"):
        MaxMarginFactorization("infinite", concentration=0.0).fit(taste(5, 5))
