r"""Subgradient Hamiltonian Monte Carlo with the Metropolis test: exact in spite of the kinks.

A trajectory alternates kicks :math:`r \leftarrow r - \tfrac{h}{2} \partial U(u)` and drifts
:math:`u \leftarrow u + h r`. Each adds a function of one variable to the other, a shear of
Jacobian one for any measurable force, and the composition undoes itself when the momentum is
reversed. Accepted with probability :math:`\min(1, e^{H - H'})`, where :math:`H = U + r \cdot r/2`
holds the true hinge, it leaves :math:`e^{-U}` exactly invariant; smoothness only matters for the
acceptance rate. One step a trajectory is Langevin Monte Carlo.

The mass matrix lives in the coordinates: unit mass in :math:`u`, with weights :math:`w = m + F u`,
is the mass :math:`(F F^T)^{-1}` for the weights.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.dynamics.base import advance
from bayesmargin.foundation.compiling import implements, inner_jit, jit
from bayesmargin.foundation.copying import copy_vector
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.targets.base import energy

LARGEST_ERROR = 1000.0  # of the energy along a trajectory, beyond which it counts as divergent
LONGEST = 1000  # steps of one trajectory

# Dual averaging of Hoffman and Gelman (2014), with their constants.
SHRINKAGE, DELAY, FORGETTING = 0.05, 10.0, 0.75
STEP, AVERAGE, ERROR, CENTRE, ADAPTED = range(5)


class Hamiltonian(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SubgradientHMC`.

    ``length`` is the time that a trajectory lasts, unless ``n_steps`` is positive; ``jitter`` the
    relative range of its step.
    """

    length: float
    n_steps: int
    jitter: float
    target_acceptance: float


class HamiltonianState(NamedTuple):
    """State of one chain.

    ``friction[0]`` is the acceptance probability of the last trajectory, which the trace averages;
    ``gradient`` and ``energy`` belong to ``position``; ``origin`` is where a trajectory began;
    ``tuning`` holds the step and its dual averages; ``clock`` the iterations, the divergent
    trajectories, whether the step is still being tuned, and the trajectories that ended where
    something had won that they did not watch.
    """

    position: FloatArray
    momentum: FloatArray
    friction: FloatArray
    gradient: FloatArray
    origin: FloatArray
    energy: FloatArray
    tuning: FloatArray
    clock: IntArray


def hamiltonian_state(position: FloatArray, step: float, tune: bool) -> HamiltonianState:
    """State at ``position`` whose energy has still to be evaluated."""
    size = position.shape[0]
    tuning = np.zeros(5)
    tuning[STEP], tuning[AVERAGE], tuning[CENTRE] = step, math.log(step), math.log(3.0 * step)
    return HamiltonianState(
        position=position.astype(np.float64),
        momentum=np.zeros(size),
        friction=np.zeros(1),
        gradient=np.zeros(size),
        origin=np.zeros(size),
        energy=np.full(1, np.nan),
        tuning=tuning,
        clock=np.array([0, 0, int(tune), 0], dtype=np.int64),
    )


compiled_state = inner_jit(hamiltonian_state)


@jit
def energy_of(target, position, work):  # type: ignore[no-untyped-def]
    """Energy and gradient at ``position``, from Python."""
    return energy(target, position, work)


@inner_jit
def leapfrog(target, state, work, step, n_steps):  # type: ignore[no-untyped-def]
    """Move position and momentum along a trajectory; return the energy at its end.

    ``work.gradient`` holds the gradient where it begins, and at return where it ends.
    """
    position, momentum, gradient = state.position, state.momentum, work.gradient
    size = position.shape[0]
    potential = 0.0
    for j in range(size):
        momentum[j] -= 0.5 * step * gradient[j]
    for k in range(n_steps):
        for j in range(size):
            position[j] += step * momentum[j]
        potential = energy(target, position, work)
        if not math.isfinite(potential):
            return potential
        kick = step if k < n_steps - 1 else 0.5 * step
        for j in range(size):
            momentum[j] -= kick * gradient[j]
    return potential


def trajectory(
    dynamics: Any, target: Any, state: Any, work: Any, step: float, n_steps: int
) -> float:
    """Move along a trajectory from ``work.gradient``; return the energy at its end (generic)."""
    raise TypeError(f"{type(dynamics).__name__} has no trajectories")


def longest_step(dynamics: Any, step: float) -> float:
    """The tuned step, or less where acceptance sets no bound to it (generic)."""
    raise TypeError(f"{type(dynamics).__name__} has no steps")


@implements(longest_step, Hamiltonian)
def _any_step(dynamics, step):  # type: ignore[no-untyped-def]
    return step


@implements(trajectory, Hamiltonian)
def _leaping(dynamics, target, state, work, step, n_steps):  # type: ignore[no-untyped-def]
    return leapfrog(target, state, work, step, n_steps)


@inner_jit
def kinetic_energy(momentum):  # type: ignore[no-untyped-def]
    """Half the square of the momentum."""
    total = 0.0
    for j in range(momentum.shape[0]):
        total += momentum[j] * momentum[j]
    return 0.5 * total


@inner_jit
def tune_step(tuning, acceptance, wanted):  # type: ignore[no-untyped-def]
    """One update of the dual averages towards the wanted acceptance."""
    tuning[ADAPTED] += 1.0
    count = tuning[ADAPTED]
    share = 1.0 / (count + DELAY)
    tuning[ERROR] = (1.0 - share) * tuning[ERROR] + share * (wanted - acceptance)
    log_step = tuning[CENTRE] - math.sqrt(count) / SHRINKAGE * tuning[ERROR]
    weight = count ** (-FORGETTING)
    tuning[AVERAGE] = weight * log_step + (1.0 - weight) * tuning[AVERAGE]
    tuning[STEP] = math.exp(log_step)


@jit
def freeze_step(tuning):  # type: ignore[no-untyped-def]
    """End the tuning: the averaged step replaces the last one tried."""
    tuning[STEP] = math.exp(tuning[AVERAGE])


@inner_jit
def draw_momentum(state, rng):  # type: ignore[no-untyped-def]
    """A momentum from its law."""
    for j in range(state.momentum.shape[0]):
        state.momentum[j] = rng.standard_normal()


@inner_jit
def metropolis_trajectory(dynamics, target, state, work, step, n_steps, rng):  # type: ignore[no-untyped-def]
    """A trajectory from the present momentum, accepted or undone; whether it was accepted."""
    if not math.isfinite(state.energy[0]):
        state.energy[0] = energy(target, state.position, work)
        copy_vector(work.gradient, state.gradient)
    copy_vector(state.position, state.origin)
    copy_vector(state.gradient, work.gradient)
    before, missed = state.energy[0] + kinetic_energy(state.momentum), state.clock[3]
    potential = trajectory(dynamics, target, state, work, step, n_steps)
    error = potential + kinetic_energy(state.momentum) - before
    acceptance = 0.0
    if error < LARGEST_ERROR:
        acceptance = math.exp(min(0.0, -error))
    else:
        state.clock[1] += 1
    accepted = rng.random() < acceptance
    if accepted:
        state.energy[0] = potential
        copy_vector(work.gradient, state.gradient)
    else:
        copy_vector(state.origin, state.position)
    state.friction[0] = acceptance
    # What was not watched is no fault of the step, and no shorter one would mend it.
    if state.clock[2] == 1 and state.clock[3] == missed:
        tune_step(state.tuning, acceptance, dynamics.target_acceptance)
    state.clock[0] += 1
    return accepted


@implements(advance, Hamiltonian)
def hamiltonian_step(dynamics, target, state, work, rng):  # type: ignore[no-untyped-def] # noqa: D103
    draw_momentum(state, rng)
    n_steps, size_of_step = dynamics.n_steps, longest_step(dynamics, state.tuning[STEP])
    if n_steps <= 0:
        n_steps = int(min(LONGEST, max(1.0, round(dynamics.length / size_of_step))))
    # The step is drawn before the trajectory and does not depend on where the chain is.
    step = size_of_step * (1.0 + dynamics.jitter * (2.0 * rng.random() - 1.0))
    metropolis_trajectory(dynamics, target, state, work, step, n_steps, rng)
