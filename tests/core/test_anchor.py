"""The Gaussian anchor, whitening and screening."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.svm import LinearSVC

from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.binary import SlackMoments, expected_hinges, part_sizes, with_prior
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.row_states import row_states
from bayesmargin.approximation.screening import SCREEN, allocate, gradient_noise, screen
from bayesmargin.priors.moments import GaussianBelief, normal_density
from tests.conftest import make_problem
from tests.core.test_target import energy


def test_binary_anchor_is_stationary(two_gaussians):
    X, label = two_gaussians
    problem = make_problem(X, label, intercept=True)
    anchor = fit_anchor(problem, np.random.default_rng(0))
    rows = problem.source.take(np.arange(len(X)))
    centre, _, _, deviation = SlackMoments(problem, anchor, None)(slice(0, len(X)), rows)
    ratio = centre / deviation
    gradient = anchor.mean - (problem.sign * ndtr(ratio)) @ rows
    hessian = np.eye(5) + (rows * (normal_density(ratio) / deviation)[:, None]).T @ rows
    covariance = anchor.factor @ anchor.factor.T
    assert np.sqrt(gradient @ covariance @ gradient) < 0.05
    np.testing.assert_allclose(covariance @ hessian, np.eye(5), atol=0.02)


@pytest.mark.parametrize("radius", [None, SCREEN])
def test_a_row_of_zeros_is_far_from_its_kink(two_gaussians, radius):
    X, label = two_gaussians
    X = np.vstack([np.zeros(X.shape[1]), X])
    problem = make_problem(X, np.append(0, label), intercept=False)
    states = row_states(problem, fit_anchor(problem, np.random.default_rng(0)), radius)
    assert (0 in states.place) == (radius is None)
    assert radius is not None or states.distance[0] > 1e100
    assert 0.0 < states.roughness() < 10.0


@pytest.mark.parametrize("n_rows", [30_000, 900_000])
def test_a_start_on_some_rows_ends_where_all_rows_do(n_rows):
    """The last Newton step is believed without a pass; what it leaves is far below one sd."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n_rows, 4)).astype(np.float32)
    label = (X @ [1.0, -0.5, 0.2, 0.0] + rng.logistic(size=n_rows) > 0).astype(np.int64)
    problem = make_problem(X, label, intercept=True)
    assert part_sizes(n_rows, 5)
    anchor = fit_anchor(problem, rng)
    _, gradient, hessian = with_prior(problem.prior, anchor, expected_hinges(problem, anchor))
    covariance = anchor.factor @ anchor.factor.T
    assert np.sqrt(gradient @ covariance @ gradient / 5) < 0.1
    np.testing.assert_allclose(covariance @ hessian, np.eye(5), atol=0.15)


@pytest.mark.parametrize("n_rows", [2000, 5000])
def test_a_rare_class_under_a_laplace_prior_has_an_anchor(n_rows):
    """On the way the intercept is beyond all kinks, where the energy has no curvature at all."""
    X = np.random.default_rng(0).standard_normal((n_rows, 5))
    label = (np.arange(n_rows) < 3).astype(np.int64)
    problem = make_problem(X, label, prior="laplace", intercept=True)
    anchor = fit_anchor(problem, np.random.default_rng(0))
    _, gradient, hessian = with_prior(problem.prior, anchor, expected_hinges(problem, anchor))
    covariance = anchor.factor @ anchor.factor.T
    assert np.sqrt(gradient @ covariance @ gradient / 6) < 0.1
    np.testing.assert_allclose(covariance @ hessian, np.eye(6), atol=0.15)


def test_the_mode_is_that_of_linear_svc(two_gaussians):
    X, label = two_gaussians
    problem = make_problem(X, label)
    svm = LinearSVC(C=1.0, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=200_000)
    mode = svm.fit(X, label).coef_[0]
    rng = np.random.default_rng(0)
    lowest = energy(problem, mode)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(50):
            assert energy(problem, mode + size * rng.standard_normal(4)) > lowest - 1e-6


def test_anchor_survives_scales_from_1e_minus_6_to_1e6():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((500, 4))
    label = (X.sum(axis=1) + rng.standard_normal(500) > 0).astype(int)
    scales = np.array([1e-6, 1e-2, 1.0, 1e6])
    anchor = fit_anchor(make_problem(X * scales, label), rng)
    assert np.all(np.isfinite(anchor.factor))
    # A feature too small to matter keeps its prior; a huge one is pinned at a tiny weight.
    assert np.sqrt(anchor.variances())[0] == pytest.approx(1.0, rel=1e-3)
    assert np.sqrt(anchor.variances())[3] < 1e-6


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("column", [0, 2])
def test_a_column_in_the_billions_has_the_anchor_of_any_other(n_classes, column):
    """The first step led so far from all kinks that the search ended there, and chains stood."""
    rng = np.random.default_rng(3)
    values = rng.standard_normal((400, 3))
    label = np.digitize(values[:, 0] + rng.standard_normal(400), [-0.5, 0.5][: n_classes - 1])
    scale = np.where(np.arange(3) == column, 1e12, 1.0)
    huge = make_problem(values * scale, label, n_classes=n_classes)
    prior = GaussianBelief(np.zeros(huge.n_weights), np.tile(scale**-2.0, huge.n_blocks))
    same = replace(make_problem(values, label, n_classes=n_classes), prior=prior)
    wanted, found = (fit_anchor(one, np.random.default_rng(0)) for one in (same, huge))
    unit = np.tile(scale, huge.n_blocks)
    table = (found.mean * unit - wanted.mean).reshape(huge.n_blocks, 3)
    if n_classes > 2:
        table -= table.mean(axis=0)  # what the classes share is the prior's alone
    np.testing.assert_allclose(table, 0.0, atol=0.02)
    if n_classes == 2:
        sd = np.sqrt(wanted.variances())
        np.testing.assert_allclose(np.sqrt(found.variances()) * unit, sd, rtol=0.03)


def test_prior_axes_make_both_precisions_diagonal(two_gaussians):
    rng = np.random.default_rng(2)
    root = rng.standard_normal((4, 4))
    prior = GaussianBelief(np.zeros(4), root @ root.T + np.eye(4))
    anchor = GaussianAnchor(np.zeros(4), rng.standard_normal((4, 4)))
    basis, curvature = anchor.with_prior_axes(prior)
    np.testing.assert_allclose(basis @ basis.T, anchor.factor @ anchor.factor.T, atol=1e-10)
    np.testing.assert_allclose(basis.T @ prior.precision @ basis, np.diag(curvature), atol=1e-9)


def test_moved_anchor_follows_its_draws():
    rng = np.random.default_rng(3)
    anchor = GaussianAnchor(np.array([1.0, -1.0]), np.diag([2.0, 0.5]))
    draws = rng.standard_normal((20_000, 2)) * [3.0, 0.2] + [1.0, 0.0]
    moved = anchor.moved_by(draws)
    np.testing.assert_allclose(moved.mean, [3.0, -1.0], atol=0.1)
    np.testing.assert_allclose(moved.variances(), [36.0, 0.01], rtol=0.05)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_screened_out_do_not_change_state(n_classes, two_gaussians, three_clouds):
    X, label = two_gaussians if n_classes == 2 else three_clouds
    rng = np.random.default_rng(4)
    X, label = np.repeat(X, 25, axis=0), np.repeat(label, 25)
    X = X + 0.5 * rng.standard_normal(X.shape)
    problem = make_problem(X, label, n_classes=n_classes)
    anchor = fit_anchor(problem, rng)
    states = row_states(problem, anchor)
    kept = screen(states.distance, states.reach, rng).index
    far = np.setdiff1d(np.arange(len(X)), kept)
    assert 0 < len(far) < len(X)
    assert np.all(np.abs(states.distance[far]) >= SCREEN)
    for _ in range(200):
        weights = anchor.mean + anchor.factor @ rng.standard_normal(problem.n_weights)
        if n_classes == 2:
            now = problem.margin - problem.sign[far] * (X[far] @ weights) > 0
        else:
            options = X[far] @ weights.reshape(3, -1).T + problem.margin
            options[np.arange(len(far)), label[far]] -= problem.margin
            now = options.argmax(axis=1)
        np.testing.assert_array_equal(now, states.reference[far])


def test_allocation_respects_sizes_and_kicks():
    rng = np.random.default_rng(5)
    distance = rng.uniform(0.0, 12.0, 5000)
    reach = rng.uniform(0.01, 0.05, 5000)
    screening = screen(distance, reach, rng)
    sizes = np.diff(screening.start)
    assert sizes.sum() == np.sum(distance < SCREEN)
    small, large = (allocate(screening, size, 0.2) for size in (50, 500))
    for strata in (small, large):
        assert np.all((strata.take >= 1) & (strata.take <= sizes))
        kick = 0.2 * sizes / strata.take * screening.reach
        assert np.all((kick <= 1.0 + 1e-9) | (strata.take >= 0.5 * sizes))
    assert gradient_noise(screening, large, 10) < gradient_noise(screening, small, 10)


@pytest.mark.parametrize("n_blocks", [1, 3])
def test_a_factor_moved_by_draws_keeps_its_triangle_of_zeros(n_blocks):
    """A step then leaves out half of the products; the covariance is that of the draws."""
    rng = np.random.default_rng(0)
    factor = np.triu(rng.normal(size=(n_blocks, 6, 6))) + 3.0 * np.eye(6)
    positions = rng.normal(size=(4000, 6 * n_blocks)) * rng.uniform(0.5, 2.0, 6 * n_blocks)
    anchor = GaussianAnchor(np.zeros(6 * n_blocks), factor if n_blocks > 1 else factor[0])
    moved = anchor.moved_by(positions).factor.reshape(factor.shape)
    assert not np.tril(moved, -1).any()
    draws = np.einsum("bij,sbj->bsi", factor, positions.reshape(4000, n_blocks, 6))
    for new, block in zip(moved, draws, strict=True):
        np.testing.assert_allclose(new @ new.T, np.cov(block.T), atol=0.3)
