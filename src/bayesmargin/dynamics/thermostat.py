r"""SSGNHT: stochastic subgradient Nose-Hoover thermostat.

Position :math:`u \in R^n`, momentum :math:`r`, thermostat :math:`\xi`, diffusion :math:`A`:

.. math:: du = r\,dt, \qquad dr = -g\,dt - \xi r\,dt + \sqrt{2A}\,dW,
          \qquad d\xi = (r \cdot r / n - 1)\,dt

which leaves :math:`e^{-U(u)} N(r; 0, I)\, e^{-n(\xi - A)^2/2}` invariant. Gradient noise of
variance :math:`V` per coordinate is absorbed by :math:`\xi`, which settles at :math:`A + hV/2`: the
shift tells how noisy the gradients are while the chain runs.

Three integrators with one gradient a step: the Euler scheme of the original papers (first order),
the symmetric splitting SSI (second order), and the splitting kick, drift, friction and noise, drift
(BADODAB of Leimkuhler and Shang, whose name for the thermostat is D). The last is of second order
too, but where the energy is quadratic and coordinates are many, so that the friction stays near its
mean, the law of its positions is nearly exact whatever the step. So it bears steps three times as
long in wide problems, where nearly all rows are read; elsewhere kinks and the noise of batches
allow neither more than the other.

A ``scaling`` of the coordinates, :math:`\sigma_j`, turns :math:`g` into :math:`\sigma g` and the
drift into :math:`\sigma r`; ``bounds`` hold back single kicks and what the thermostat notices.
"""

import math
from typing import Any, NamedTuple

from bayesmargin.dynamics.base import State, follow, moves_by_gradient
from bayesmargin.dynamics.injection import inject
from bayesmargin.dynamics.steps import Unscaled, is_known, learn_early, learn_late, scale_of
from bayesmargin.foundation.compiling import implements, inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.targets.base import freedom


class Unbounded(NamedTuple):
    """Every kick counts in full."""


class Bounded(NamedTuple):
    """No coordinate is kicked by more than ``kick``; warmer than ``heat`` is taken for ``heat``.

    Nothing of the kind happens at rest, where kicks are about a step and the heat is near one: a
    chain that starts far out is kept from running away.
    """

    kick: float
    heat: float


class SymmetricThermostat(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SSGNHT` with ``integrator="ssi"``."""

    step: float
    injection: Any
    scaling: Any = Unscaled()
    bounds: Any = Unbounded()
    n_rows: float = 1.0


class CentredThermostat(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SSGNHT` with ``integrator="badodab"``."""

    step: float
    injection: Any
    scaling: Any = Unscaled()
    bounds: Any = Unbounded()
    n_rows: float = 1.0


class EulerThermostat(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SSGNHT` with ``integrator="euler"``."""

    step: float
    injection: Any
    scaling: Any = Unscaled()
    bounds: Any = Unbounded()
    n_rows: float = 1.0


def bounded_kick(bounds: Any, kick: float) -> float:
    """The kick, or as much of it as bounds allow (generic, compiled)."""
    raise TypeError(f"{type(bounds).__name__} bounds nothing")


def bounded_heat(bounds: Any, heat: float) -> float:
    """The heat that a thermostat takes notice of (generic, compiled)."""
    raise TypeError(f"{type(bounds).__name__} bounds nothing")


@implements(bounded_kick, Unbounded, borrows=True)
@implements(bounded_heat, Unbounded, borrows=True)
def _as_it_is(bounds, value):  # type: ignore[no-untyped-def]
    return value


@implements(bounded_kick, Bounded, borrows=True)
def _held_back(bounds, kick):  # type: ignore[no-untyped-def]
    return min(max(kick, -bounds.kick), bounds.kick)


@implements(bounded_heat, Bounded, borrows=True)
def _at_most(bounds, heat):  # type: ignore[no-untyped-def]
    return min(heat, bounds.heat)


@inner_borrowing_jit
def temperature(momentum: FloatArray, directions: int) -> float:
    """Kinetic temperature ``r.r / n``; one when the chain is at equilibrium."""
    total = 0.0
    for j in range(momentum.shape[0]):
        total += momentum[j] * momentum[j]
    return total / directions


@inner_borrowing_jit
def _turn(dynamics: Any, state: State, space: Any, duration: float) -> None:
    """Let the thermostat feel the momentum for a while."""
    heat = temperature(state.momentum, freedom(space, state.momentum.shape[0]))
    state.friction[0] += duration * (bounded_heat(dynamics.bounds, heat) - 1.0)


@inner_borrowing_jit
def _drift(dynamics: Any, state: State, duration: float) -> None:
    """Let the position follow the momentum for a while."""
    for j in range(state.position.shape[0]):
        scale = math.sqrt(scale_of(dynamics.scaling, state.moment[j]))
        state.position[j] += duration * scale * state.momentum[j]


@inner_borrowing_jit
def _push(dynamics: Any, state: State, work: Any, coordinate: int) -> float:
    """What the gradient takes from the momentum of a coordinate in a step."""
    scale = math.sqrt(scale_of(dynamics.scaling, state.moment[coordinate]))
    return bounded_kick(dynamics.bounds, dynamics.step * scale * work.gradient[coordinate])


def _half_a_drift(dynamics, state):  # type: ignore[no-untyped-def]
    if is_known(dynamics.scaling, state.clock[0]):
        _drift(dynamics, state, 0.5 * dynamics.step)


@implements(follow, SymmetricThermostat, borrows=True)
def _follow_symmetric(dynamics, state, space, work, source):  # type: ignore[no-untyped-def]
    step, scaling, time = dynamics.step, dynamics.scaling, state.clock[0]
    _turn(dynamics, state, space, 0.5 * step)
    learn_early(scaling, work, dynamics.n_rows, time, state.moment)
    inject(dynamics.injection, space, source, work.noise)
    damping = math.exp(-0.5 * step * state.friction[0])
    momentum, noise = state.momentum, work.noise
    for j in range(momentum.shape[0]):
        kick = noise[j] - _push(dynamics, state, work, j)
        momentum[j] = damping * (damping * momentum[j] + kick)
    _drift(dynamics, state, 0.5 * step)
    _turn(dynamics, state, space, 0.5 * step)
    learn_late(scaling, work, dynamics.n_rows, time, state.moment)


@implements(follow, CentredThermostat, borrows=True)
def _follow_centred(dynamics, state, space, work, source):  # type: ignore[no-untyped-def]
    step, scaling, time = dynamics.step, dynamics.scaling, state.clock[0]
    learn_early(scaling, work, dynamics.n_rows, time, state.moment)
    inject(dynamics.injection, space, source, work.noise)
    momentum, noise = state.momentum, work.noise
    for j in range(momentum.shape[0]):
        momentum[j] -= _push(dynamics, state, work, j)
    _drift(dynamics, state, 0.5 * step)
    _turn(dynamics, state, space, 0.5 * step)
    # The friction of now: what half a turn has made of it, or the splitting is not symmetric.
    damping = math.exp(-0.5 * step * state.friction[0])
    for j in range(momentum.shape[0]):
        momentum[j] = damping * (damping * momentum[j] + noise[j])
    _drift(dynamics, state, 0.5 * step)
    _turn(dynamics, state, space, 0.5 * step)
    learn_late(scaling, work, dynamics.n_rows, time, state.moment)


@implements(follow, EulerThermostat, borrows=True)
def _follow_euler(dynamics, state, space, work, source):  # type: ignore[no-untyped-def]
    step, scaling, time = dynamics.step, dynamics.scaling, state.clock[0]
    learn_early(scaling, work, dynamics.n_rows, time, state.moment)
    inject(dynamics.injection, space, source, work.noise)
    momentum, noise, damping = state.momentum, work.noise, step * state.friction[0]
    for j in range(momentum.shape[0]):
        kick = noise[j] - _push(dynamics, state, work, j)
        momentum[j] += kick - damping * momentum[j]
    _drift(dynamics, state, step)
    _turn(dynamics, state, space, step)
    learn_late(scaling, work, dynamics.n_rows, time, state.moment)


def _half_a_kick(dynamics, state, coordinate):  # type: ignore[no-untyped-def]
    return 0.5 * dynamics.step * math.sqrt(scale_of(dynamics.scaling, state.moment[coordinate]))


moves_by_gradient(SymmetricThermostat, leads=_half_a_drift)
moves_by_gradient(CentredThermostat, is_ahead=_half_a_kick)
moves_by_gradient(EulerThermostat)
