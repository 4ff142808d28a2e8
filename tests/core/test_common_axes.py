"""Classes that share their axes: the anchor, the coordinates, and chains in them."""

import numpy as np
import pytest

import bayesmargin.approximation.common_axes as common_axes
import bayesmargin.samplers.stochastic as stochastic
from bayesmargin.approximation.common_axes import NARROW, in_common_axes
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.priors.shared import SharedPart
from bayesmargin.rows import DenseSource
from bayesmargin.running.chains import collected, run_chains
from bayesmargin.samplers import SSGNHT
from bayesmargin.samplers.sharing import BlocksAlongAxes, SharedInCompany
from bayesmargin.targets.common_axes import common_axes_of, weights_along
from bayesmargin.targets.coordinates import fill_gradient, fill_weights
from bayesmargin.targets.problem import Problem

N_CLASSES, SIZE = 5, 40


@pytest.fixture(autouse=True)
def all_blocks_are_large(monkeypatch):
    monkeypatch.setattr(common_axes, "LARGE", 0)


def anchor_of(n_narrow=1):
    """Classes with axes in common, each much narrower in directions of its own."""
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.standard_normal((SIZE, SIZE)))[0]
    factors = []
    for _ in range(N_CLASSES):
        own = np.linalg.qr(rng.standard_normal((SIZE, n_narrow)))[0]
        inner = np.eye(SIZE) - 0.7 * own @ own.T
        factors.append(axes @ np.diag(rng.uniform(0.8, 1.2, SIZE)) @ inner)
    return GaussianAnchor(rng.standard_normal(N_CLASSES * SIZE), np.stack(factors), 3)


def test_the_anchor_keeps_its_covariance_but_for_small_correlations():
    anchor = anchor_of()
    found = in_common_axes(anchor)
    assert found.common is not None
    np.testing.assert_array_equal(found.mean, anchor.mean)
    for old, new in zip(anchor.factor, found.factor, strict=True):
        values = np.linalg.eigvals(np.linalg.solve(new @ new.T, old @ old.T)).real
        assert values.min() > 0.5
        assert values.max() < 2.0


def test_classes_with_many_narrow_directions_keep_their_blocks():
    anchor = anchor_of(NARROW + 2)
    assert in_common_axes(anchor) is anchor


def test_coordinates_are_those_of_the_factor():
    anchor = in_common_axes(anchor_of())
    made = common_axes_of(anchor.mean, anchor.common, np.float64)
    rng = np.random.default_rng(1)
    position, slope = rng.standard_normal((2, N_CLASSES * SIZE))
    weights, gradient = np.empty_like(position), np.empty_like(position)
    fill_weights(made, position, weights)
    fill_gradient(made, slope, gradient)
    parts = position.reshape(N_CLASSES, SIZE)
    wanted = anchor.mean + np.einsum("kij,kj->ki", anchor.factor, parts).ravel()
    pulled = np.einsum("kij,ki->kj", anchor.factor, slope.reshape(N_CLASSES, SIZE)).ravel()
    np.testing.assert_allclose(weights, wanted, atol=1e-10)
    np.testing.assert_allclose(weights_along(made, position[None])[0], wanted, atol=1e-10)
    np.testing.assert_allclose(gradient, pulled, atol=1e-10)


def test_what_classes_share_is_moved_and_taken_away():
    anchor = in_common_axes(anchor_of())
    size = N_CLASSES * SIZE
    shared = SharedPart(GaussianBelief(np.zeros(size), np.ones(size)), N_CLASSES)
    blocks = BlocksAlongAxes(common_axes_of(anchor.mean, anchor.common, np.float64), shared)
    position = np.random.default_rng(2).standard_normal(size)
    shift = np.tile(np.linspace(-1.0, 1.0, SIZE), N_CLASSES)
    moved = blocks.weights(blocks.moved(position, shift))
    np.testing.assert_allclose(moved, blocks.weights(position) + shift, atol=1e-10)
    contrasts = blocks.weights(blocks.contrasts(position[None])[0]).reshape(N_CLASSES, SIZE)
    np.testing.assert_allclose(contrasts.mean(axis=0), 0.0, atol=1e-10)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_chains_have_the_law_that_they_have_in_blocks(monkeypatch, n_jobs):
    """The same posterior in both coordinates: means and variances of the contrasts."""
    monkeypatch.setattr(stochastic, "COSTLY", 1)
    monkeypatch.setattr(stochastic, "CHEAPER_CLASSES", 1000)
    monkeypatch.setattr("bayesmargin.approximation.multiclass.FULL_LIMIT", 20)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 6))
    label = np.argmax(X @ rng.standard_normal((6, 4)) + rng.gumbel(size=(400, 4)), axis=1)
    prior = GaussianBelief(np.zeros(24), np.ones(24))
    problem = Problem(DenseSource(X, False), label, 4, np.ones(400), 1.0, prior)
    found = []
    for large in (0, 1 << 22):
        monkeypatch.setattr(common_axes, "LARGE", large)
        made = SSGNHT(integrator="badodab").start(problem, spawn_generators(4, 5))
        assert isinstance(made.chains[0], SharedInCompany)
        assert isinstance(made.chains[0].blocks, BlocksAlongAxes) == (large == 0)
        run_chains(made.chains, 1, 300, n_jobs)
        for chain in made.chains:
            chain.forget()
        run_chains(made.chains, 3000, 8, n_jobs)
        table = made.weights(collected(made.chains)[0]).reshape(-1, 4, 6)
        contrasts = (table - table.mean(axis=1, keepdims=True)).reshape(-1, 24)
        found.append((contrasts.mean(axis=0), contrasts.std(axis=0)))
    (mean, spread), (other, wide) = found
    np.testing.assert_allclose((mean - other) / spread, 0.0, atol=0.08)  # 12,000 draws a side
    np.testing.assert_allclose(wide / spread, 1.0, atol=0.06)
