"""Gradient estimates: right where the energy is smooth, unbiased, cheap in noise."""

import numpy as np
import pytest

from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.row_states import row_states
from bayesmargin.approximation.targets import anchored_target, plain_target
from bayesmargin.diagnostics.stein import full_batch, gradient_noise
from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.likelihoods.base import add_rows
from bayesmargin.likelihoods.hinge import winner
from bayesmargin.targets.base import estimate_gradient
from bayesmargin.targets.rows import Strata, workspace
from tests.conftest import make_problem


def energy(problem, weights):
    """Energy written the slow and obvious way."""
    X = problem.source.take(np.arange(problem.source.n_rows))
    prior = problem.prior
    if hasattr(prior, "scale"):
        total = np.sum(np.abs(weights) / prior.scale)
    else:
        shift = weights - prior.mean
        total = 0.5 * np.sum(prior.precision * shift**2)
    if problem.is_binary:
        slack = problem.margin - problem.sign * (X @ weights)
    else:
        scores = X @ weights.reshape(problem.n_classes, -1).T
        rows = np.arange(len(X))
        own = scores[rows, problem.label].copy()
        scores[rows, problem.label] = -np.inf
        slack = problem.margin + scores.max(axis=1) - own
    return total + np.sum(problem.cost * np.maximum(slack, 0.0))


def numeric_gradient(problem, weights, step=1e-6):
    result = np.empty_like(weights)
    for j in range(len(weights)):
        move = np.zeros_like(weights)
        move[j] = step
        rise = energy(problem, weights + move) - energy(problem, weights - move)
        result[j] = rise / (2 * step)
    return result


@jit
def estimate(target, position, rng, work):
    estimate_gradient(target, position, rng, work)


def gradient(target, position, rng):
    work = workspace(target, target.rows.values.dtype)
    estimate(target, position, rng, work)
    return work.gradient.copy()


CASES = {
    "binary": {"n_classes": 2},
    "binary, margin and cost": {"n_classes": 2, "margin": 2.5, "cost": 0.7, "scale": 2.0},
    "binary, Laplace": {"n_classes": 2, "prior": "laplace", "scale": 0.5},
    "multi-class": {"n_classes": 3},
    "multi-class, Laplace": {"n_classes": 3, "prior": "laplace", "margin": 0.5},
}


@pytest.fixture(params=CASES)
def problem(request, two_gaussians, three_clouds):
    settings = CASES[request.param]
    X, label = two_gaussians if settings["n_classes"] == 2 else three_clouds
    return make_problem(X, label, intercept=True, **settings)


def test_plain_gradient_is_the_derivative_of_the_energy(problem):
    rng = np.random.default_rng(1)
    prepared = plain_target(problem, problem.source.n_rows, rng)
    weights = rng.standard_normal(problem.n_weights)
    found = gradient(prepared.target, weights, rng)
    expected = numeric_gradient(problem, weights)
    # A central difference is blind to a row only if its kink is farther than the step.
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-4)
    assert energy(problem, weights - 1e-4 * found) < energy(problem, weights)


@pytest.mark.parametrize("whiten", [True, False])
@pytest.mark.parametrize("control_variates", [True, False])
def test_anchored_gradient_pulls_back_the_derivative(problem, whiten, control_variates):
    rng = np.random.default_rng(2)
    anchor = fit_anchor(problem, rng)
    prepared = anchored_target(
        problem,
        anchor,
        row_states(problem, anchor),
        40,
        0.2,
        rng,
        control_variates=control_variates,
        whiten=whiten,
    )
    target = full_batch(prepared.target)
    position = rng.standard_normal(problem.n_weights)
    if not whiten:
        position = anchor.mean + np.sqrt(anchor.variances()) * position
    found = gradient(target, position, rng)
    expected = numeric_gradient(problem, prepared.weights(position))
    jacobian = np.stack(
        [prepared.weights(position + e) - prepared.weights(position) for e in np.eye(len(position))]
    )
    np.testing.assert_allclose(found, jacobian @ expected, rtol=1e-3, atol=2e-3)


def test_batches_are_unbiased_exactly(two_gaussians):
    """The mean over all possible single-row batches is the full gradient."""
    X, label = two_gaussians
    problem = make_problem(X[:40], label[:40])
    rng = np.random.default_rng(3)
    anchor = fit_anchor(problem, rng)
    states = row_states(problem, anchor)
    target = anchored_target(problem, anchor, states, 5, 0.2, rng).target
    position = 1.5 * rng.standard_normal(problem.n_weights)
    exact = gradient(full_batch(target), position, rng)
    start = target.strata.start
    total = np.array(gradient(_only(target, []), position, rng))
    for s in range(len(start) - 1):
        rows = range(start[s], start[s + 1])
        parts = [gradient(_only(target, [r]), position, rng) for r in rows]
        base = gradient(_only(target, []), position, rng)
        total += sum(part - base for part in parts)
    np.testing.assert_allclose(total, exact, atol=1e-9)


def _only(target, rows):
    """The same target with exactly the given rows in the batch, each with weight one."""
    if not rows:
        return target._replace(strata=Strata(np.array([0, 1]), np.array([0])))
    first = rows[0]
    return target._replace(strata=Strata(np.array([first, first + 1]), np.array([1])))


def test_control_variates_and_strata_cut_the_noise(two_gaussians):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((20_000, 4))
    label = (X[:, 0] + rng.standard_normal(20_000) > 0).astype(int)
    problem = make_problem(X, label)
    anchor = fit_anchor(problem, rng)
    states = row_states(problem, anchor)
    noises = []
    for control_variates in (False, True):
        prepared = anchored_target(
            problem, anchor, states, 50, 0.2, rng, control_variates=control_variates
        )
        draws = rng.standard_normal((4, 50, problem.n_weights))
        work = workspace(prepared.target, np.float32)
        noises.append(gradient_noise(prepared.target, draws, work, rng))
    assert noises[1] < 0.01 * noises[0]
    assert noises[1] == pytest.approx(prepared.noise, rel=0.5)


def test_equal_generators_give_equal_batches(two_gaussians):
    X, label = two_gaussians
    problem = make_problem(X, label)
    prepared = plain_target(problem, 10, np.random.default_rng(0))
    first, second = spawn_generators(3, 1)[0], spawn_generators(3, 1)[0]
    position = np.zeros(problem.n_weights)
    np.testing.assert_array_equal(
        gradient(prepared.target, position, first), gradient(prepared.target, position, second)
    )


@jit
def _block(target, block, work):
    work.data[:] = 0.0
    return add_rows(target.hinge, target.rows, block, 1.0, work)


@pytest.mark.parametrize("size", [3, 5, 8, 11])
def test_blocks_of_rows_of_several_classes_go_round_the_end(three_clouds, size):
    """Rows go four at a time, from any start and round the end; each counts once and rightly."""
    X, label = three_clouds
    problem = make_problem(X[:30], label[:30], n_classes=3)
    rng = np.random.default_rng(5)
    target = plain_target(problem, 30, rng).target
    target = target._replace(
        hinge=target.hinge._replace(reference=rng.integers(3, size=30).astype(np.int64))
    )
    work = workspace(target, target.rows.values.dtype)
    work.working[:] = rng.standard_normal(problem.n_weights)
    rows, hinge = target.rows.values.astype(float), target.hinge
    scores = rows @ work.working.astype(float).reshape(3, -1).T
    for first in (0, 7):
        for index in range(size):
            gradient, energy = np.zeros((3, rows.shape[1])), 0.0
            for d in first + (index + np.arange(size)) % size:
                own, before = hinge.label[d], hinge.reference[d]
                now = winner(hinge.margin, scores[d], own)
                gradient[now] += hinge.cost[d] * rows[d]
                gradient[before] -= hinge.cost[d] * rows[d]
                options = scores[d] + hinge.margin * (np.arange(3) != own)
                energy += hinge.cost[d] * (options[now] - options[before])
            assert _block(target, (first, size, index, size), work) == pytest.approx(
                energy, rel=1e-4, abs=1e-4
            )
            np.testing.assert_allclose(work.data, gradient.ravel(), atol=1e-5)
