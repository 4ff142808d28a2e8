"""Energies and gradients of the array engine against the definition of the posterior."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")

from dataclasses import replace

from bayesmargin.engines.loading import load
from bayesmargin.engines.memory import SCORES, STATES
from bayesmargin.engines.programs import program
from bayesmargin.engines.target import (
    batch_change,
    energy_and_gradient,
    estimated_gradient,
    full_gradient,
    weights_at,
    without_common,
)
from bayesmargin.engines.whitening import whiten
from bayesmargin.priors.moments import LaplaceBelief
from bayesmargin.targets.problem import slacks
from tests.conftest import make_problem

KINDS = ("binary", "largest", "separate")


def problem_of(kind, n_rows=700, n_columns=3):
    rng = np.random.default_rng(3)
    n_classes = 2 if kind == "binary" else 4
    X, label = rng.standard_normal((n_rows, n_columns)), rng.integers(0, n_classes, n_rows)
    X += 0.4 * (label[:, None] == np.arange(n_columns))
    prior = "laplace" if kind == "laplace" else "gaussian"
    problem = make_problem(X, label, n_classes=n_classes, scale=0.8, intercept=True, prior=prior)
    problem = replace(problem, cost=rng.uniform(0.5, 2.0, n_rows))
    return replace(problem, separate=True) if kind == "separate" else problem


def in_tiles(problem, n_chains=2, tile=64):
    """The problem on the device, its rows in several tiles."""
    rng = np.random.default_rng(0)
    loaded = load(problem, n_chains, "float32", rng)
    n_tiles = -(-problem.source.n_rows // tile)
    size = tile * n_tiles
    filled = jax.tree.map(lambda a: a[:size] if np.ndim(a) else a, (loaded.rows, loaded.family))
    layout = replace(loaded.layout, tile=tile, n_tiles=n_tiles)
    return whiten(
        replace(loaded, rows=filled[0], family=filled[1], cost=loaded.cost[:size], layout=layout),
        rng,
    )


def true_energy(problem, weights):
    """Energy of weights (class, feature), from the rows as they came."""
    if isinstance(problem.prior, LaplaceBelief):
        prior = np.abs(weights).sum() / problem.prior.scale[0]
    else:
        prior = 0.5 * problem.prior.precision[0] * np.sum(weights**2)
    if not problem.separate:
        return prior + problem.cost @ np.maximum(slacks(problem, weights.ravel())[0], 0.0)
    scores = problem.source.take(np.arange(problem.source.n_rows)) @ weights.T
    sign = np.where(problem.label[:, None] == np.arange(len(weights)), 1.0, -1.0)
    hinge = np.maximum(problem.margin - sign * scores, 0.0).sum(axis=1)
    return prior + problem.cost @ hinge


@pytest.mark.parametrize("kind", [*KINDS, "laplace"])
def test_energy_is_that_of_the_posterior_and_the_gradient_its_slope(kind):
    problem = problem_of(kind)
    whitened = in_tiles(problem)
    target, layout = whitened.target, whitened.layout
    rng = np.random.default_rng(1)
    places = rng.standard_normal((2, *target.centre.shape)).astype(np.float32)
    places = np.asarray(without_common(target, layout, places))
    found, gradient = energy_and_gradient(target, layout, places)
    basis = np.asarray(whitened.basis, dtype=float)

    def energy(position):
        weights = np.asarray(target.centre) + np.asarray(target.scale) * position
        return true_energy(problem, weights.astype(float) @ basis.T)

    at_centre = energy(np.zeros(target.centre.shape))
    truth = [energy(place) - at_centre for place in places]
    assert np.asarray(found) == pytest.approx(truth, abs=2e-3)
    direction = np.asarray(without_common(target, layout, rng.standard_normal(places.shape)))
    tiny = 1e-4
    for k in range(2):
        ahead, behind = (energy(places[k] + s * tiny * direction[k]) for s in (1.0, -1.0))
        slope = np.sum(np.asarray(gradient[k], dtype=float) * direction[k])
        assert slope == pytest.approx((ahead - behind) / (2.0 * tiny), rel=5e-3, abs=5e-2)


@pytest.mark.parametrize("kind", KINDS)
def test_batches_average_to_the_gradient_of_all_rows(kind):
    whitened = in_tiles(problem_of(kind, n_rows=64 * 8))
    target = whitened.target
    layout = replace(whitened.layout, batch=64)
    place = np.random.default_rng(2).standard_normal((1, *target.centre.shape))
    place = without_common(target, layout, place.astype(np.float32))
    weights = weights_at(target, place)
    changes = [batch_change(target, layout, weights[0], 64 * k) for k in range(8)]
    slope = target.precision * weights + target.drift + sum(changes) / 8
    mean = without_common(target, layout, target.scale * slope)
    full = full_gradient(target, replace(layout, batch=0), place)
    assert np.asarray(mean) == pytest.approx(np.asarray(full), abs=2e-3)
    assert max(float(np.abs(change).max()) for change in changes) > 0.0


@pytest.mark.parametrize("in_turn", [False, True])
def test_a_batch_in_pieces_has_the_gradient_of_the_whole(in_turn):
    whitened = in_tiles(problem_of("largest", n_rows=64 * 8))
    target, layout = whitened.target, replace(whitened.layout, batch=128)
    places = np.random.default_rng(2).standard_normal((2, *target.centre.shape))
    places, keys = places.astype(np.float32), jax.random.split(jax.random.key(0), 2)
    whole = np.asarray(estimated_gradient(target, layout, places, keys))
    cut = replace(layout, pieces=4, in_turn=in_turn)
    assert np.asarray(estimated_gradient(target, cut, places, keys)) == pytest.approx(
        whole, rel=1e-4, abs=1e-4
    )
    assert np.abs(whole).max() > 0.1


def test_a_batch_takes_no_more_memory_than_a_tile():
    """What a step holds beside its arguments is within what is told of it before a fit."""
    whitened = in_tiles(problem_of("largest", n_rows=128 * 64, n_columns=8), tile=128)
    target = whitened.target
    places = np.zeros((2, *target.centre.shape), np.float32)
    keys = jax.random.split(jax.random.key(0), 2)

    def held(pieces):
        layout = replace(whitened.layout, batch=32 * 128, pieces=pieces)
        step = program(lambda *facts: estimated_gradient(facts[0], layout, *facts[1:]))
        return step.lower(target, places, keys).compile().memory_analysis().temp_size_in_bytes

    rows = 2 * 128 * target.rows.shape[1] * target.rows.dtype.itemsize
    told = 4 * SCORES * 128 * places.size // target.rows.shape[1] + rows + STATES * places.nbytes
    assert held(32) < told < held(1)


def test_two_classes_become_white_and_batches_know_their_noise():
    """The posterior of two classes has unit scale in positions: Stein's identity of a Gaussian."""
    whitened = in_tiles(problem_of("binary", n_rows=4000))
    assert whitened.stiffness == pytest.approx(1.0, abs=0.1)
    centre = np.zeros((1, *whitened.target.centre.shape), np.float32)
    gradient = full_gradient(whitened.target, whitened.layout, centre)
    assert float(np.sqrt(np.mean(np.square(gradient)))) < 0.5
