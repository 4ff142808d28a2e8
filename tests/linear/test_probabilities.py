"""Probabilities do not depend on whether equal rows are joined."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC


def _yes_or_no(n_rows, seed, n_classes):
    """Four columns of 0 and 1, so few different rows, and labels that overlap."""
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, 4)) < 0.4).astype(float)
    slopes = np.array([[0.0, 0.0, 0.0, 0.0], [1.5, -1.0, 0.7, 0.3], [-0.5, 1.0, 1.0, -1.0]])
    scores = X @ slopes[:n_classes].T - np.array([0.0, 0.6, 0.3])[:n_classes]
    return X, (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)


def _log_loss(model, X, y):
    return -np.mean(np.log(model.predict_proba(X)[np.arange(len(y)), y]))


@pytest.mark.parametrize("n_classes", [2, 3])
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
