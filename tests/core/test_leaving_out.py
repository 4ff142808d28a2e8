"""Posteriors without a row."""

import numpy as np
import pytest

from bayesmargin.calibration.leave_one_out import (
    leave_one_out,
    leave_one_out_jointly,
    without,
)
from bayesmargin.likelihoods.tilting import with_hinge

GRID = np.linspace(-80.0, 80.0, 400_001)


def _moments(log_density):
    """Mean and variance of a law on the grid."""
    weight = np.exp(log_density - log_density.max())
    mean = np.average(GRID, weights=weight)
    return mean, np.average((GRID - mean) ** 2, weights=weight)


def _kept(values, slack, cost, rng):
    """Draws with the row, from draws without: those that survive its pseudo-likelihood."""
    return values[rng.random(len(values)) < np.exp(-cost * np.maximum(slack, 0.0))]


@pytest.mark.parametrize("mean", [-30.0, -1.0, 0.0, 0.7, 4.0, 20.0])
@pytest.mark.parametrize("variance", [1e-2, 1.0, 9.0, 50.0])
def test_a_hinge_changes_a_normal_law_as_quadrature_says(mean, variance):
    log_density = -0.5 * (GRID - mean) ** 2 / variance - np.maximum(GRID, 0.0)
    found = with_hinge(np.array([mean]), np.array([variance]))
    np.testing.assert_allclose(np.ravel(found), _moments(log_density), rtol=1e-5)


def test_the_normal_law_is_found_again():
    rng = np.random.default_rng(0)
    mean = rng.standard_normal(3000) * 10.0 ** rng.uniform(-2.0, 2.0, 3000)
    variance = 10.0 ** rng.uniform(-6.0, 6.0, 3000)
    given = with_hinge(mean, variance)
    possible = variance < 20.0 * given[1]
    assert possible.mean() > 0.99
    found = without(*(part[possible] for part in given))
    np.testing.assert_allclose(found[1], variance[possible], rtol=1e-3)
    error = np.abs(found[0] - mean[possible]) / np.sqrt(variance[possible])
    assert error.max() < 1e-3


def test_a_variance_that_no_normal_law_explains_has_an_end():
    """Two rates of exponential decay are the limit; beyond it nothing fits."""
    found = without(np.zeros(1), np.array([100.0]))
    assert np.all(np.isfinite(found))
    assert found[1] <= 25.0 * 100.0 * (1.0 + 1e-9)


@pytest.mark.parametrize("cost", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_row_that_matters_much_is_left_out_as_by_a_refit(cost, sign):
    """Weighted draws are off by half a unit here, as they hardly see where the row would be."""
    rng = np.random.default_rng(4)
    kept = []
    for mean in (-2.0, 0.0, 1.0):
        score = mean + 3.0 * rng.standard_normal(1_000_000)
        kept.append(_kept(score, 1.0 - sign * score, cost, rng)[:100_000])
    found = [[part.mean() for part in kept], [part.var() for part in kept]]
    mean, variance = leave_one_out(*map(np.array, found), np.full(3, sign), 1.0, np.full(3, cost))
    np.testing.assert_allclose(mean, [-2.0, 0.0, 1.0], atol=0.25)
    np.testing.assert_allclose(variance, 9.0, rtol=0.12)


def test_with_classes_the_scores_go_with_the_slack_of_the_row():
    rng = np.random.default_rng(5)
    root = rng.standard_normal((3, 3))
    centre = np.array([0.5, 0.0, -4.0])
    free = centre + rng.standard_normal((400_000, 3)) @ root.T
    slack = 1.0 + free[:, 1] - free[:, 0]  # the third class is never the rival
    scores = _kept(free, slack, 2.0, rng)[:40_000, None]
    slack = 1.0 + scores[..., 1] - scores[..., 0]
    mean, variance = leave_one_out_jointly(scores, slack, np.full(1, 2.0))
    np.testing.assert_allclose(mean[0], centre, atol=0.1)
    law = root @ root.T
    leader = mean[0].argmax()
    expected = np.diag(law) + law[leader, leader] - 2.0 * law[leader]
    np.testing.assert_allclose(variance[0], expected, rtol=0.08, atol=1e-9)


def test_rows_without_cost_or_doubt_stay_as_they_are():
    given = np.array([0.4, 0.3]), np.array([2.0, 0.0])
    found = leave_one_out(*given, np.ones(2), 1.0, np.array([0.0, 5.0]))
    np.testing.assert_allclose(found, given)
    one = leave_one_out_jointly(np.ones((1, 2, 3)), np.ones((1, 2)), np.ones(2))
    np.testing.assert_array_equal(one, [np.ones((2, 3)), np.zeros((2, 3))])
