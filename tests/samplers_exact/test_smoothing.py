"""The smoothed hinge: matching values and slopes, the gap, and what it does to a posterior."""

import numpy as np
import pytest

from bayesmargin.targets.problem import slacks
from bayesmargin.validation import quadrature
from bayesmargin.validation.problems import five_rows, three_classes
from bayesmargin.validation.smoothing import (
    LARGEST_GAP,
    smoothed_hinge,
    smoothed_slope,
    smoothing_report,
)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("width", [0.01, 0.15, 2.0])
def test_values_and_slopes_match_where_the_smoothing_ends(order, width):
    inside = width * (1.0 - 1e-15)
    assert smoothed_hinge(-inside, width, order) == pytest.approx(0.0, abs=1e-12)
    assert smoothed_hinge(inside, width, order) == pytest.approx(width, abs=1e-12)
    assert smoothed_slope(-inside, width, order) == pytest.approx(0.0, abs=1e-12)
    assert smoothed_slope(inside, width, order) == pytest.approx(1.0, abs=1e-12)
    grid = np.linspace(-2 * width, 2 * width, 4001)
    gap = smoothed_hinge(grid, width, order) - np.maximum(grid, 0.0)
    assert gap.min() > -1e-12
    assert gap.max() == pytest.approx(LARGEST_GAP[order] * width, rel=1e-9)
    assert np.argmax(gap) == 2000
    numeric = np.gradient(smoothed_hinge(grid, width, order), grid)
    assert np.abs(numeric - smoothed_slope(grid, width, order)).max() < 2e-3


def test_the_second_order_form_has_no_jump_in_curvature():
    width, h = 0.5, 1e-5
    for end in (-width, width):
        left = (smoothed_slope(end, width) - smoothed_slope(end - h, width)) / h
        right = (smoothed_slope(end + h, width) - smoothed_slope(end, width)) / h
        assert abs(left - right) < 1e-3
    jump = smoothed_slope(width - h, width, 1) - smoothed_slope(width, width, 1)
    assert abs(jump / h) > 0.5  # the first-order form does have one


@pytest.mark.parametrize("make", [five_rows, three_classes])
@pytest.mark.parametrize("order", [1, 2])
def test_total_variation_stays_below_the_reported_bound(make, order):
    problem = make()
    reference = quadrature(problem, 300 if problem.n_weights == 2 else 80)
    rng = np.random.default_rng(0)
    drawn = reference.points[rng.choice(len(reference.points), 4000, p=reference.probability)]
    for width in (0.05, 0.3):
        slack = slacks(problem, reference.points)
        gap = smoothed_hinge(slack, width, order) - np.maximum(slack, 0.0)
        smoothed = reference.probability * np.exp(-(gap @ problem.cost))
        smoothed /= smoothed.sum()
        distance = 0.5 * np.abs(smoothed - reference.probability).sum()
        report = smoothing_report(problem, drawn, width, order)
        assert distance <= report.bound + 4.0 * report.error
        assert report.bound <= report.crude + 1e-12
        assert distance > 0.0


def test_bad_settings():
    with pytest.raises(ValueError, match="width=0"):
        smoothed_hinge(0.0, 0.0)
    with pytest.raises(ValueError, match="order=3"):
        smoothed_slope(0.0, 1.0, 3)
