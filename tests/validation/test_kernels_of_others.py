"""Kernels of others: they hide a fault, are slow, are stuck, or do not stay finite."""

import numpy as np
import pytest

from bayesmargin.errors import ConvergenceWarning
from bayesmargin.validation import (
    CalibrationRanks,
    agreement,
    bias_curve,
    calibration_ranks,
    draw_joint,
    geweke_test,
    kernel_stein_discrepancy,
    moment_scores,
    quadrature,
)
from bayesmargin.validation.geweke import function_names, test_functions
from bayesmargin.validation.kernels import with_label
from bayesmargin.validation.problems import GEWEKE_ROWS, five_rows, many_kinks, small_problem
from bayesmargin.validation.quadrature import energies

TWO = small_problem(GEWEKE_ROWS, [0, 0, 0], cost=1.2)
THREE = small_problem(GEWEKE_ROWS[:, :1], [0, 0, 0], n_classes=3, cost=1.2)


def independent(n_points):
    """Independent draws of the posterior, from its density on a grid of small cells."""

    def transition(problem):
        law = quadrature(problem, n_points)
        below, cell = np.cumsum(law.probability), np.ptp(law.points, axis=0) / (n_points - 1)

        def kernel(weights, rng):
            chosen = min(np.searchsorted(below, rng.random()), len(below) - 1)
            return law.points[chosen] + cell * (rng.random(weights.size) - 0.5)

        return kernel

    return transition


def swapped(problem):
    """Two of three classes taken for each other, by a kernel that is otherwise perfect."""
    return independent(40)(with_label(problem, np.array([1, 0, 2])[problem.label]))


def walk(step):
    def transition(problem):
        def kernel(weights, rng):
            proposal = weights + step * rng.standard_normal(weights.size)
            old, new = energies(problem, np.stack([weights, proposal]))
            return proposal if np.log(rng.random()) < old - new else weights

        return kernel

    return transition


def stuck(problem):
    return lambda weights, rng: weights


@pytest.mark.parametrize("seed", [0, 1])
def test_classes_taken_for_each_other_are_caught(seed):
    """All expectations over weights and the last class were the same for both."""
    assert geweke_test(independent(40), THREE, n_draws=4000, seed=seed).passes()
    assert geweke_test(swapped, THREE, n_draws=4000, seed=seed).worst > 6.0


def test_every_function_has_its_name():
    rng = np.random.default_rng(0)
    for n_classes in (2, 3, 5):
        labels = rng.integers(0, n_classes, (7, 3))
        values = test_functions(rng.standard_normal((7, 2)), labels, n_classes)
        assert len(set(function_names(2, 3, n_classes))) == values.shape[1]


def test_thin_counts_for_kernels_as_for_samplers():
    calls = []

    def counting(problem):
        inner = walk(1.5)(problem)

        def kernel(weights, rng):
            calls.append(1)
            return inner(weights, rng)

        return kernel

    assert geweke_test(counting, TWO, n_draws=1200, thin=4, seed=0).passes()
    assert len(calls) == 4800


def test_a_kernel_that_works_in_place():
    def in_place(problem):
        inner = walk(1.5)(problem)

        def kernel(weights, rng):
            weights[:] = inner(weights.copy(), rng)
            return weights

        return kernel

    one, other = (geweke_test(kind, TWO, 1200, 4, seed=0) for kind in (in_place, walk(1.5)))
    np.testing.assert_array_equal(one.chain, other.chain)
    np.testing.assert_array_equal(one.independent, other.independent)


@pytest.mark.parametrize("seed", [4, 5])
def test_a_slow_kernel_is_told_to_be_slow(seed):
    """It is right; scores of 11 and 19 and uneven ranks had called it wrong without a word."""
    with pytest.warns(ConvergenceWarning, match=r"worth \d independent ones: .* increase thin"):
        result = geweke_test(walk(0.05), TWO, n_draws=1500, seed=seed)
    assert not result.passes()
    assert result.effective < 20
    with pytest.warns(ConvergenceWarning, match=r"correlation of 0\.\d+, .* increase thin"):
        ranks = calibration_ranks(walk(0.1), TWO, n_sets=150, n_draws=19, thin=5, seed=seed)
    assert not ranks.passes()
    assert ranks.correlation.min() > 0.6


def test_a_quick_kernel_is_not():
    assert geweke_test(walk(1.5), TWO, n_draws=2000, thin=5, seed=0).effective > 200
    ranks = calibration_ranks(walk(1.5), TWO, n_sets=100, n_draws=19, thin=20, seed=0)
    assert np.abs(ranks.correlation).max() < 0.3


def test_a_kernel_that_never_moves():
    with pytest.warns(ConvergenceWarning, match="never moved"):
        assert not geweke_test(stuck, TWO, n_draws=500).passes()
    with pytest.warns(ConvergenceWarning, match="never moved"):
        assert not calibration_ranks(stuck, TWO, n_sets=200, n_draws=19).passes()


def test_a_kernel_that_is_not_always_finite():
    """Such a rank had counted as zero, and a few of these pass."""

    def transition(problem):
        inner = independent(40)(problem)
        return lambda weights, rng: inner(weights, rng) / (rng.random() > 0.002)

    with np.errstate(divide="ignore"), pytest.raises(ArithmeticError, match=r"data set .* finite"):
        calibration_ranks(transition, TWO, n_sets=100, n_draws=19, thin=1, burn_in=0)


@pytest.mark.parametrize("n_draws", [4, 15, 24])
def test_bins_that_are_not_equal(n_draws):
    """The ranks of a right kernel; equal counts were expected of bins of one and of two ranks."""
    passed = [
        CalibrationRanks(rng.integers(0, n_draws + 1, (400, 2)), n_draws).passes()
        for rng in map(np.random.default_rng, range(20))
    ]
    assert all(passed)
    low = np.random.default_rng(0).integers(0, n_draws + 1, (400, 2)) * 4 // 5
    assert not CalibrationRanks(low, n_draws).passes()


def test_bins_that_cannot_be_filled():
    ranks = CalibrationRanks(np.zeros((50, 1), dtype=int), 4)
    with pytest.raises(ValueError, match=r"n_bins=10 .* 2 to 5 bins"):
        ranks.p_values()


def test_a_joint_law_that_the_prior_never_meets():
    """This had never ended."""
    rows = np.random.default_rng(0).standard_normal((50, 2))
    with pytest.raises(ValueError, match=r"fewer rows \(it has 50\)"):
        draw_joint(small_problem(rows, np.zeros(50), cost=3.0), 10, np.random.default_rng(0))


def test_draws_without_an_axis_of_chains():
    """A draw had been taken for a chain, and a weight for a draw."""
    draws = np.random.default_rng(0).standard_normal((500, 2))
    with pytest.raises(ValueError, match=r"shape \(500, 2\) .* draws\[None\]"):
        agreement(draws, draws + 1.0)
    with pytest.raises(ValueError, match=r"draws\[None\]"):
        moment_scores(draws, np.zeros(2), np.ones(2))
    with pytest.raises(ValueError, match="2 and of 1 weights"):
        agreement(draws[None], draws[None, :, :1])


def test_draws_without_a_covariance():
    draws = np.random.default_rng(0).standard_normal((500, 2))
    for given, told in [
        (np.ones((500, 2)), "span 0 of 2 dimensions"),
        (draws * [1.0, 0.0], "span 1 of 2 dimensions"),
        (draws[:2], "the 2 draws span 1 of 2"),
        (draws[:, 0], r"shape \(500,\) .* 2 weights"),
        (draws[None], r"shape \(1, 500, 2\)"),
        (np.full((9, 2), np.nan), "not all finite"),
    ]:
        with pytest.raises(ValueError, match=told):
            kernel_stein_discrepancy(five_rows(), given)


def test_the_order_of_a_kernel_of_ones_own():
    """Langevin steps in NumPy on thirty copies of one kink: a bias of second order in h."""

    def make(step):
        def transition(problem):
            def kernel(weights, rng):
                drift = weights - 3.0 * (weights < 1.0)
                return weights - 0.5 * step**2 * drift + step * rng.standard_normal(weights.size)

            return kernel

        return transition

    truth = 1.7356427
    curve = bias_curve(
        make, many_kinks(), lambda weights: (weights**2).mean(axis=-1), (0.3, 0.42, 0.6),
        n_draws=6000, thin=(12, 8, 4), truth=truth,
    )  # fmt: skip
    assert abs(curve.order - 2.0) < 0.2 + 3.0 * curve.order_error
    assert curve.order_error < 0.2
