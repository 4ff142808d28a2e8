"""Every integrator on normal laws, through a target from outside the package."""

from typing import NamedTuple

import numpy as np
import pytest

from bayesmargin.dynamics.base import (
    State,
    begin_step,
    end_step,
    initial_state,
    reconcile_state,
)
from bayesmargin.dynamics.friction import Friction
from bayesmargin.dynamics.injection import Alike, injected
from bayesmargin.dynamics.langevin import Langevin
from bayesmargin.dynamics.steps import AdaGrad, Averaged, Constant, Unscaled
from bayesmargin.dynamics.thermostat import (
    Bounded,
    CentredThermostat,
    EulerThermostat,
    SymmetricThermostat,
)
from bayesmargin.foundation.compiling import implements, jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import record
from bayesmargin.targets.base import Contrasts, Full, Scratch, estimate_gradient, space_of
from bayesmargin.validation.agreement import monte_carlo_error

STEP = 0.25


class Normal(NamedTuple):
    """Independent normal coordinates; gradients with noise of a given deviation, or none."""

    precision: FloatArray
    noise: FloatArray


class SharedNormal(NamedTuple):
    """Vectors of standard normal coordinates of which only the contrasts are sampled."""

    n_vectors: int
    shared: FloatArray


@implements(space_of, Normal)
def _all(target):
    return Full()


@implements(estimate_gradient, Normal)
def _noisy(target, position, source, work):
    for j in range(position.shape[0]):
        work.gradient[j] = target.precision[j] * position[j]
        if target.noise[j] > 0.0:
            work.gradient[j] += target.noise[j] * source.standard_normal()
        work.data[j] = work.gradient[j]


@implements(space_of, SharedNormal)
def _contrasts(target):
    return Contrasts(target.n_vectors, target.shared)


@implements(estimate_gradient, SharedNormal)
def _slopes(target, position, source, work):
    size = target.shared.shape[0]
    for j in range(size):
        mean = 0.0
        for y in range(target.n_vectors):
            mean += position[y * size + j] / target.n_vectors
        for y in range(target.n_vectors):
            work.gradient[y * size + j] = position[y * size + j] - mean


def scratch(size):
    return Scratch(np.zeros(size), np.zeros(size), np.zeros(size))


def normal(size):
    return Normal(np.ones(size), np.zeros(size))


def thermostat(kind, step=STEP, **more):
    return kind(step, Alike(np.sqrt(2.0 * step)), **more)


def run(dynamics, target, size, n_draws, thin, seed=0, chains=4, start=None, warmup=2000):
    """Draws (chain, draw, coordinate)."""
    found = []
    for rng in np.random.default_rng(seed).spawn(chains):
        state = initial_state(rng.standard_normal(size) if start is None else start, rng, 1.0)
        work, draws, trace = scratch(size), np.empty((n_draws, size)), np.empty((n_draws, 3))
        few = warmup // thin
        assert record(dynamics, target, state, work, rng, thin, draws[:few], trace[:few]) == few
        assert record(dynamics, target, state, work, rng, thin, draws, trace) == n_draws
        found.append(draws)
    return np.array(found)


def variance(draws):
    """Mean of the squares and its Monte Carlo error, all coordinates together."""
    return monte_carlo_error((draws**2).mean(axis=-1))


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_centred_thermostat_is_symmetric_in_few_coordinates(size):
    """Damping by the friction before its half turn leaves 1.017, 1.007 and 1.002 instead."""
    draws = run(thermostat(CentredThermostat), normal(size), size, 200_000, 10)
    mean, error = variance(draws)
    assert error < 0.0015
    assert -0.006 - 2.0 * error < mean - 1.0 < 3.0 * error


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_symmetric_thermostat_errs_by_the_square_of_the_step_at_most(size):
    found, error = variance(run(thermostat(SymmetricThermostat), normal(size), size, 100_000, 10))
    assert abs(found - 1.0) < 0.5 * STEP**2 + 3.0 * error
    half = thermostat(SymmetricThermostat, 0.5 * STEP)
    finer, rest = variance(run(half, normal(size), size, 100_000, 20))
    assert abs(finer - 1.0) < 0.4 * abs(found - 1.0) + 3.0 * np.hypot(0.4 * error, rest)


@pytest.mark.parametrize("size", [1, 30])
def test_euler_steps_err_in_proportion_to_the_step(size):
    errors = []
    for step in (0.1, 0.05):
        dynamics = thermostat(EulerThermostat, step)
        mean, error = variance(run(dynamics, normal(size), size, 40_000, round(3 / step)))
        errors.append((mean - 1.0, error))
    (coarse, one), (fine, other) = errors
    assert abs(coarse) < 0.1 + 3.0 * one
    assert abs(fine - 0.5 * coarse) < 0.01 + 3.0 * np.hypot(other, 0.5 * one)


def test_fixed_friction_and_langevin_have_their_known_variances():
    friction = Friction(STEP, 1.0, injected(2.0 * STEP, STEP, None))
    mean, error = variance(run(friction, normal(3), 3, 100_000, 10))
    assert abs(mean - 1.0 / (1.0 - STEP**2 / (4.0 - 2.0 * STEP))) < 4.0 * error
    langevin = Langevin(Constant(0.4), Unscaled(), 1.0)
    mean, error = variance(run(langevin, normal(3), 3, 100_000, 15))
    assert abs(mean - 1.0 / (1.0 - 0.4**2 / 4.0)) < 4.0 * error


@pytest.mark.parametrize("kind", [CentredThermostat, SymmetricThermostat])
def test_contrasts_are_sampled_and_the_mean_of_the_vectors_stays(kind):
    target, start = SharedNormal(3, np.zeros(2)), np.arange(6.0)
    draws = run(thermostat(kind), target, 6, 100_000, 10, start=start)
    vectors = draws.reshape(*draws.shape[:2], 3, 2)
    # A thermostat whose momentum began with a mean keeps it; contrasts never see it.
    centred = vectors - vectors.mean(axis=2, keepdims=True)
    mean, error = variance(centred.reshape(*draws.shape))
    bias = 0.5 * STEP**2 if kind is SymmetricThermostat else 0.006
    assert abs(mean - 2.0 / 3.0) < bias + 3.0 * error


PRECISION = np.array([100.0, 1.0, 0.04])


@pytest.mark.parametrize(
    "dynamics",
    [
        thermostat(CentredThermostat, 0.2, scaling=Averaged(), bounds=Bounded(5.0, 4.0)),
        thermostat(SymmetricThermostat, 0.2, scaling=Averaged(), bounds=Bounded(5.0, 4.0)),
        thermostat(EulerThermostat, 0.03, scaling=Averaged(), bounds=Bounded(5.0, 4.0)),
        Friction(0.1, 1.0, injected(0.2, 0.1, None), Averaged()),
        Langevin(Constant(0.3), Averaged(freeze_after=20_000), 1.0),
        thermostat(CentredThermostat, 0.4, scaling=AdaGrad(freeze_after=400)),
    ],
    ids=["centred", "symmetric", "euler", "friction", "langevin", "adagrad"],
)
def test_learned_scales_serve_every_dynamics(dynamics):
    """Standard deviations from 0.1 to 5; the chain starts away from where gradients vanish."""
    target = Normal(PRECISION, np.zeros(3))
    start = 2.0 / np.sqrt(PRECISION)
    draws = run(dynamics, target, 3, 40_000, 20, start=start, warmup=60_000)
    for j in range(3):
        mean, error = monte_carlo_error(draws[..., j] ** 2 * PRECISION[j])
        assert abs(mean - 1.0) < 0.06 + 4.0 * error


def test_a_gradient_may_come_from_python():
    """What a user's own function needs: lead, ask for the gradient, follow."""
    rng, dynamics = np.random.default_rng(3), thermostat(SymmetricThermostat)
    state, work, draws = initial_state(np.ones(2), rng, 1.0), scratch(2), []
    for _ in range(40_000):
        begin_step(dynamics, state)
        work.gradient[:] = state.position
        end_step(dynamics, state, Full(), work, rng)
        draws.append(state.position.copy())
    mean, error = monte_carlo_error((np.array(draws[1000:]) ** 2).mean(axis=-1)[None])
    assert abs(mean - 1.0) < 0.5 * STEP**2 + 4.0 * error


@jit
def _exchange(dynamics, target, state, work, rng, thin, draws):
    """Draws between which the second coordinate is drawn afresh, momentum told or not."""
    for k in range(draws.shape[0]):
        for _ in range(thin):
            begin_step(dynamics, state)
            estimate_gradient(target, state.position, rng, work)
            end_step(dynamics, state, space_of(target), work, rng)
        draws[k, 0], draws[k, 1] = state.position[0], state.momentum[1]
        fresh = rng.standard_normal()
        work.data[0], work.data[1] = 0.0, fresh - state.position[1]
        state.position[1] = fresh
        reconcile_state(dynamics, state, work.data)


def test_a_momentum_is_told_that_the_position_has_been_drawn_afresh():
    r"""Between steps a momentum lacks half a kick: its law is :math:`N(\tfrac h2 u, 1)`.

    The friction stays at the mean of the thermostat's law only if the half belongs to the new
    position; the first coordinate, which shares the thermostat, tells.
    """
    dynamics, found = thermostat(CentredThermostat, 0.5), []
    for rng in np.random.default_rng(4).spawn(4):
        state, work, draws = initial_state(np.ones(2), rng, 1.0), scratch(2), np.empty((60_000, 2))
        _exchange(dynamics, normal(2), state, work, rng, 1, draws)
        found.append(draws[2000:])
    mean, error = variance(np.array(found)[..., :1])
    assert abs(mean - 1.0) < 0.015 + 3.0 * error


def test_a_dynamics_that_is_none_says_so():
    class Nothing(NamedTuple):
        step: float

    with pytest.raises(Exception, match=r"not a dynamics|No implementation|advance"):
        record(
            Nothing(1.0),
            normal(1),
            State(*np.zeros((4, 1)), np.zeros(2, dtype=np.int64)),
            scratch(1),
            np.random.default_rng(0),
            1,
            np.empty((1, 1)),
            np.empty((1, 3)),
        )
