"""Probabilities: equal rows, joined or not, rows in parts, rows unlike those of training."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from bayesmargin import BayesianLinearSVC
from bayesmargin.calibration.maps import fit_link


def _yes_or_no(n_rows, seed, n_classes):
    """Four columns of 0 and 1, so few different rows, and labels that overlap."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, 4)) < 0.4).astype(float)
    slopes = np.array([[0.0, 0.0, 0.0, 0.0], [1.5, -1.0, 0.7, 0.3], [-0.5, 1.0, 1.0, -1.0]])
    scores = X @ slopes[:n_classes].T - np.array([0.0, 0.6, 0.3])[:n_classes]
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def _log_loss(model, X, y):
    return -np.mean(np.log(model.predict_proba(X)[np.arange(len(y)), y]))


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_rows_that_occur_often_are_left_out_one_at_a_time(n_classes):
    """All copies left out together, and counted as one row, made the probabilities too timid."""
    X, y = _yes_or_no(3000, 0, n_classes)
    new, label = _yes_or_no(20_000, 1, n_classes)
    apart = X + 1e-7 * np.random.default_rng(2).normal(size=X.shape)
    joined = _log_loss(BayesianLinearSVC(random_state=0).fit(X, y), new, label)
    separate = _log_loss(BayesianLinearSVC(random_state=0).fit(apart, y), new, label)
    assert joined < separate + 0.002


def test_a_weight_of_two_has_the_probabilities_of_a_row_given_twice():
    X, y = _yes_or_no(200, 3, 2)
    weight = np.arange(200) % 3
    repeated = np.repeat(np.arange(200), weight)
    model = BayesianLinearSVC(random_state=0, n_draws=100)
    first = model.fit(X, y, sample_weight=weight).predict_proba(X)
    np.testing.assert_array_equal(model.fit(X[repeated], y[repeated]).predict_proba(X), first)


def test_the_scale_of_small_weights_does_not_matter_to_the_link():
    """As in boosting, where weights add up to one and C makes up for it."""
    X, y = _yes_or_no(500, 4, 2)
    X = X + 0.01 * np.random.default_rng(5).normal(size=X.shape)
    plain = BayesianLinearSVC(random_state=0).fit(X, y)
    scaled = BayesianLinearSVC(random_state=0, C=500.0).fit(X, y, np.full(500, 1.0 / 500.0))
    assert np.abs(plain.predict_proba(X) - scaled.predict_proba(X)).mean() < 0.05


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_probabilities_after_parts_of_one_class_are_those_of_all_rows(n_classes):
    """The link saw the last part alone: ten rows of one class cost 0.2 in log loss."""
    X, y = _yes_or_no(2000, 0, n_classes)
    X = X + 0.01 * np.random.default_rng(2).normal(size=X.shape)
    new, label = _yes_or_no(20_000, 1, n_classes)
    whole = _log_loss(BayesianLinearSVC(random_state=0).fit(X, y), new, label)
    last = np.flatnonzero(y == 1)[:100]
    first = np.setdiff1d(np.arange(2000), last)
    model = BayesianLinearSVC(random_state=0).partial_fit(X[first], y[first], range(n_classes))
    for part in (last[:10], last[10:]):
        model.partial_fit(X[part], y[part])
        assert _log_loss(model, new, label) < whole + 0.02


def _unlike(n_rows, seed, distance, n_classes=2):
    """Rows of 30 features at some distance, with the same overlap of labels at any."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 30))
    slopes = np.random.default_rng(9).standard_normal((n_classes, 30)) / np.sqrt(10.0)
    return distance * X, (X @ slopes.T + rng.gumbel(size=(n_rows, n_classes))).argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_far_from_those_of_training_are_not_judged_boldly(n_classes):
    """Their scores are large, and known badly. By the mean scores alone the log loss was 1.3."""
    losses = []
    for seed in range(3):
        X, y = _unlike(80, seed, 1.0, n_classes)
        model = BayesianLinearSVC(random_state=0, n_draws=250).fit(X, y)
        losses.append(_log_loss(model, *_unlike(5000, 100 + seed, 4.0, n_classes)))
    assert np.mean(losses) < np.log(n_classes)


def test_probabilities_of_ordinary_rows_gain_from_caution_when_rows_are_few():
    losses = []
    for seed in range(5):
        X, y = _unlike(40, seed, 1.0)
        model = BayesianLinearSVC(random_state=0, n_draws=250).fit(X, y)
        new, label = _unlike(5000, 100 + seed, 1.0)
        cautious = _log_loss(model, new, label)
        model.link_ = replace(model.link_, caution=0.0, reach=np.inf)
        losses.append([cautious, _log_loss(model, new, label)])
    cautious, bold = np.mean(losses, axis=0)
    assert cautious < min(np.log(2.0), 0.8 * bold)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_the_most_probable_class_is_the_predicted_one(n_classes, multi_class):
    X, y = _unlike(60, 0, 1.0, n_classes)
    model = BayesianLinearSVC(random_state=0, n_draws=100, multi_class=multi_class).fit(X, y)
    new = _unlike(5000, 1, 3.0)[0]
    chosen = model.classes_[model.predict_proba(new).argmax(axis=1)]
    np.testing.assert_array_equal(chosen, model.predict(new))


def test_a_few_words_say_less_than_many():
    """A text of one word that was seen once, beside one of all words that go with a class."""
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    rate = np.where(y[:, None] == 1, 1.5, 0.5) * np.ones(1200)
    X = sparse.csr_matrix(rng.poisson(0.02 * rate).astype(float))
    model = BayesianLinearSVC(random_state=0, n_draws=100).fit(X, y)
    texts = sparse.random_array((200, 1200), density=4 / 1200, rng=rng, format="csr")
    score, sd = model.decision_function(texts, return_std=True)
    certain = replace(model.link_, caution=0.0, reach=np.inf).probabilities(score, sd**2)
    found = model.predict_proba(texts)
    assert model.link_.caution > 0.0
    assert np.all(np.abs(found - 0.5) <= np.abs(certain - 0.5))


def _margins(mean, label):
    """By how much the score of the own class is ahead."""
    if mean.ndim == 1:
        return np.where(label == 1, mean, -mean)
    own = np.arange(mean.shape[1]) == label[:, None]
    return mean[own] - np.where(own, -np.inf, mean).max(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_classes", "multi_class"), [(2, "crammer_singer"), (3, "crammer_singer"), (3, "ovr")]
)
def test_scores_without_a_row_are_those_of_refits(n_classes, multi_class, monkeypatch):
    """Few rows for their weights, where leaving one out matters most, and laws are not normal."""
    taken = []

    def spy(*given):
        taken.append(given)
        return fit_link(*given)

    monkeypatch.setattr("bayesmargin.models.linear.fitting.fit_link", spy)
    X, y = _unlike(60, 0, 1.0, n_classes)
    model = BayesianLinearSVC(random_state=0, multi_class=multi_class, n_draws=500)
    model.fit(X, y)
    mean, variance, label = taken[0][:3]  # rows are in an order of their own
    refits = []
    for row in range(60):
        rest = np.arange(60) != row
        coef, intercept = model.fit(X[rest], y[rest])._draws()
        refits.append(coef @ X[row] + intercept)
    draws = np.stack(refits, axis=1)  # (draw, row, block)
    expected = draws.mean(axis=0)
    leader = expected.argmax(axis=1)[None, :, None]
    if n_classes == 2:
        draws, expected = draws[..., 0], expected[:, 0]
    else:
        draws = draws - np.take_along_axis(draws, leader, axis=2)
    width = draws.var(axis=0).mean()
    assert variance.mean() == pytest.approx(width, rel=0.15)
    ahead = _margins(mean, label).mean(), _margins(expected, y).mean()
    assert abs(ahead[0] - ahead[1]) < 0.1 * np.sqrt(width)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("cost", "margin"), [(10.0, 1.0), (1000.0, 1.0), (1.0, 1000.0)])
def test_dear_margins_do_not_make_labels_certain(cost, margin, seed):
    """A quarter of the labels is wrong; an even guess has the log loss 0.693."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2060, 3))
    y = (X[:, 0] + rng.standard_normal(2060) > 0).astype(int)
    model = BayesianLinearSVC(
        C=cost, margin=margin, prior_scale=margin, n_draws=200, random_state=seed, sampler="hmc"
    )
    model.fit(X[:60], y[:60])
    assert _log_loss(model, X[60:], y[60:]) < 0.57
