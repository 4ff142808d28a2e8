r"""SSGNHT: stochastic subgradient Nose-Hoover thermostat.

Position :math:`u \in R^n`, momentum :math:`r`, thermostat :math:`\xi`, diffusion :math:`A`:

.. math:: du = r\,dt, \qquad dr = -g\,dt - \xi r\,dt + \sqrt{2A}\,dW,
          \qquad d\xi = (r \cdot r / n - 1)\,dt

which leaves :math:`e^{-U(u)} N(r; 0, I)\, e^{-n(\xi - A)^2/2}` invariant. Gradient noise of
variance :math:`V` per coordinate is absorbed by :math:`\xi`, which settles at :math:`A + hV/2`: the
shift tells how noisy the gradients are while the chain runs.

Three integrators with one gradient a step: the Euler scheme of the original papers (first order),
the symmetric splitting SSI (second order), and the splitting kick, drift, friction and noise, drift
(BAOAB). The last is of second order too, but where the energy is quadratic the law of its positions
is exact whatever the step. So it bears steps three times as long in wide problems, where nearly all
rows are read; elsewhere kinks and the noise of batches allow neither more than the other.
"""

import math
from typing import Any, NamedTuple

from bayesmargin.dynamics.base import State, advance
from bayesmargin.dynamics.injection import deviation_of
from bayesmargin.foundation.compiling import implements, inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.targets.rows import estimate_gradient


class SymmetricThermostat(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SSGNHT` with ``integrator="ssi"``."""

    step: float
    injection: Any


class CentredThermostat(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SSGNHT` with ``integrator="baoab"``."""

    step: float
    injection: Any


class EulerThermostat(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SSGNHT` with ``integrator="euler"``."""

    step: float
    injection: Any


@inner_borrowing_jit
def temperature(momentum: FloatArray) -> float:
    """Kinetic temperature ``r.r / n``; one when the chain is at equilibrium."""
    total = 0.0
    for j in range(momentum.shape[0]):
        total += momentum[j] * momentum[j]
    return total / momentum.shape[0]


@inner_borrowing_jit
def _drift(state: State, duration: float) -> None:
    for j in range(state.position.shape[0]):
        state.position[j] += duration * state.momentum[j]
    state.friction[0] += duration * (temperature(state.momentum) - 1.0)


@implements(advance, SymmetricThermostat, borrows=True)
def symmetric_step(dynamics, target, state, work, rng):  # type: ignore[no-untyped-def] # noqa: D103
    step = dynamics.step
    _drift(state, 0.5 * step)
    estimate_gradient(target, state.position, rng, work)
    damping = math.exp(-0.5 * step * state.friction[0])
    for j in range(state.momentum.shape[0]):
        kick = deviation_of(dynamics.injection, j) * rng.standard_normal() - step * work.gradient[j]
        state.momentum[j] = damping * (damping * state.momentum[j] + kick)
    _drift(state, 0.5 * step)
    state.clock[0] += 1


@implements(advance, CentredThermostat, borrows=True)
def centred_step(dynamics, target, state, work, rng):  # type: ignore[no-untyped-def] # noqa: D103
    step = dynamics.step
    estimate_gradient(target, state.position, rng, work)
    for j in range(state.momentum.shape[0]):
        state.momentum[j] -= step * work.gradient[j]
    damping = math.exp(-0.5 * step * state.friction[0])
    _drift(state, 0.5 * step)
    for j in range(state.momentum.shape[0]):
        kick = deviation_of(dynamics.injection, j) * rng.standard_normal()
        state.momentum[j] = damping * (damping * state.momentum[j] + kick)
    _drift(state, 0.5 * step)
    state.clock[0] += 1


@implements(advance, EulerThermostat, borrows=True)
def euler_step(dynamics, target, state, work, rng):  # type: ignore[no-untyped-def] # noqa: D103
    step = dynamics.step
    estimate_gradient(target, state.position, rng, work)
    for j in range(state.momentum.shape[0]):
        friction = step * state.friction[0] * state.momentum[j]
        kick = deviation_of(dynamics.injection, j) * rng.standard_normal() - step * work.gradient[j]
        state.momentum[j] += kick - friction
        state.position[j] += step * state.momentum[j]
    state.friction[0] += step * (temperature(state.momentum) - 1.0)
    state.clock[0] += 1
