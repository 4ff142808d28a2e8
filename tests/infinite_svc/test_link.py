"""Probabilities that agree with frequencies: the link, and the rows it is learned from."""

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.datasets import load_digits, load_wine, make_circles
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from bayesmargin import InfiniteSVC, load
from bayesmargin.calibration.floored import Link, fit_link, learn_link
from bayesmargin.models.infinite_svc.held_out import ENOUGH, FOLDS, MOST, make_folds

# Short chains: what they say about themselves is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")
QUICK = {"n_sweeps": 40, "random_state": 0}


def some_chances(rng, rows, classes):
    return np.exp(log_softmax(rng.normal(size=(rows, classes)), axis=1))


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize(("slope", "floor"), [(0.3, 0.02), (3.0, 0.02), (2.0, 0.3)])
def test_slope_and_floor_are_found(classes, slope, floor):
    rng = np.random.default_rng(0)
    chance = some_chances(rng, 40_000, classes)
    truth = Link(slope, floor).apply(chance)
    labels = (rng.random((len(chance), 1)) > truth.cumsum(axis=1)).sum(axis=1)
    link = fit_link(chance, labels)
    if slope > 1.0:  # a small one can be told from a high floor by few rows only
        assert link.slope == pytest.approx(slope, rel=0.1)
    assert np.abs(link.apply(chance) - truth).max() < 0.02


def test_the_order_of_the_classes_is_kept():
    chance = some_chances(np.random.default_rng(1), 1000, 4)
    for link in (Link(), Link(0.01, 0.5), Link(50.0, 1e-6)):
        after = link.apply(chance)
        np.testing.assert_allclose(after.sum(axis=1), 1.0)
        assert np.array_equal(after.argmax(axis=1), chance.argmax(axis=1))
        assert after.min() >= link.floor / 4.0


def test_impossible_labels_do_not_make_it_infinite():
    chance = np.tile([1.0, 0.0], (50, 1))
    link = fit_link(chance, (np.arange(50) == 0).astype(int))
    assert 0.005 < link.apply(chance)[0, 1] < 0.1


def test_how_impossible_a_label_is_says_nothing():
    """Few draws that agree give odds of a googol to one; many do not, and need the same link."""
    rng = np.random.default_rng(4)
    odds = np.where(np.arange(300) < 36, rng.normal(-40.0, 10.0, 300), rng.normal(90.0, 20.0, 300))
    chance = np.exp(log_softmax(np.stack([np.zeros(300), odds], axis=1), axis=1))
    link = fit_link(chance, np.ones(300, int))
    assert link.slope > 0.2
    assert 0.65 < link.apply(np.array([[0.05, 0.95]]))[0, 1] < 0.95


def test_few_rows_do_not_make_it_bold():
    chance = np.tile([0.2, 0.8], (5, 1))
    assert fit_link(chance, np.ones(5, int)).apply(chance)[0, 1] < 0.95


def test_a_fit_that_was_interrupted_has_the_usual_link():
    assert learn_link([some_chances(np.random.default_rng(0), 5, 2), None], np.zeros(5, int)) == (
        Link()
    )


@pytest.mark.parametrize("number", [2, 3, 7, 300, 1300, 60_000])
def test_folds_share_the_classes(number):
    rng = np.random.default_rng(2)
    labels = (rng.random(number) < 0.1).astype(int)
    folds = make_folds(labels)
    left_out = folds >= 0
    assert left_out.sum() >= min(number, ENOUGH)
    assert 1 <= folds.max() + 1 <= FOLDS
    for fold in range(folds.max() + 1):
        chosen = folds == fold
        assert 1 <= chosen.sum() <= min(MOST, -(-number // FOLDS))
        expected = chosen.sum() * labels.mean()
        assert abs(labels[chosen].sum() - expected) <= 2.0


@pytest.mark.parametrize("classes", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_labels_that_are_chance_give_the_odds_of_chance(classes):
    """Rows that are left out have left no trace, or their labels would seem to be known."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(600, 20)), rng.integers(classes, size=600)
    model = InfiniteSVC(C=10.0, random_state=0).fit(X[:200], y[:200])
    assert log_loss(y[200:], model.predict_proba(X[200:])) < np.log(classes) + 0.03
    model.set_params(prediction="probability")
    assert log_loss(y[:200], model.predict_proba(X[:200])) < 0.1  # it has learned them by heart


CASES = {
    "too cautious": (lambda: load_wine(return_X_y=True), 1.0, 0.7),
    "too bold": (lambda: [part[:600] for part in load_digits(return_X_y=True)], 10.0, 0.7),
}


@pytest.mark.parametrize("case", ["too cautious", pytest.param("too bold", marks=pytest.mark.slow)])
def test_new_rows_are_predicted_better(case):
    """With covariances that are left to few rows: probabilities are far off without a link."""
    data, cost, ratio = CASES[case]
    losses = []
    for seed in range(3):
        X, X_test, y, y_test = train_test_split(*data(), test_size=0.5, random_state=seed)
        settings = {
            "C": cost,
            "n_sweeps": 100,
            "components__extra_degrees": 0,
            "components__covariates": True,
        }
        model = InfiniteSVC(**settings, random_state=seed).fit(X, y)
        classes = model.predict(X_test)
        with_link = log_loss(y_test, model.predict_proba(X_test))
        model.set_params(prediction="probability")
        losses.append((with_link, log_loss(y_test, model.predict_proba(X_test))))
        assert np.array_equal(model.predict(X_test), classes)
    with_link, without = np.mean(losses, axis=0)
    assert with_link < ratio * without


def test_a_link_costs_a_fit_that_wants_it():
    X, y = make_circles(300, noise=0.15, factor=0.5, random_state=0)
    model = InfiniteSVC(prediction="vote", **QUICK).fit(X, y)
    assert model.link_ is None
    assert model.timings_["calibration"] < 0.1 * model.timings_["assignments"]
    with pytest.raises(ValueError, match=r"prediction='calibrated'.*fit the model with it"):
        model.set_params(prediction="calibrated").predict_proba(X)


def test_the_link_is_saved(tmp_path):
    X, y = make_circles(100, noise=0.15, factor=0.5, random_state=0)
    model = InfiniteSVC(**QUICK).fit(X, y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.link_ == model.link_
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("rows", [2, 3, 6])
def test_a_handful_of_rows_has_a_link(rows):
    X, y = np.arange(rows * 2.0).reshape(rows, 2), np.arange(rows) % 2
    model = InfiniteSVC(**QUICK).fit(X, y)
    chance = model.predict_proba(X)
    np.testing.assert_allclose(chance.sum(axis=1), 1.0)
    assert chance.max() < 0.99


def test_the_default_takes_the_steps_that_wide_experts_need():
    """Sweeps over rows of many columns are dear and few, and ten steps in each are not enough."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X[:600], y[:600], test_size=0.5, random_state=0)
    loss = {}
    for steps in (10, "auto"):
        settings = {"C": 3.0, "prediction": "probability", "components__covariates": True}
        model = InfiniteSVC(sampler__inner_steps=steps, **settings, random_state=0)
        loss[steps] = log_loss(y_test, model.fit(X, y).predict_proba(X_test))
    assert loss["auto"] < 0.8 * loss[10]
