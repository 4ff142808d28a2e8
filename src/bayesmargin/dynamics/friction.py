r"""SGHMC: stochastic subgradient Hamiltonian Monte Carlo with a fixed friction.

.. math:: r_{t+1} = r_t - h\,g(u_t) - h\,C r_t + N(0, 2h(C - \hat B) I),
          \qquad u_{t+1} = u_t + h\,r_{t+1}

with friction :math:`C` and an estimate :math:`\hat B = h \hat V/2` of the diffusion that gradient
noise adds (:math:`\hat V` its variance in each coordinate). With :math:`\hat B = 0` the temperature
is too high by about :math:`hV/(2C)`.
"""

from typing import Any, NamedTuple

from bayesmargin.dynamics.base import advance
from bayesmargin.dynamics.injection import deviation_of
from bayesmargin.foundation.compiling import implements
from bayesmargin.targets.rows import estimate_gradient


class Friction(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SGHMC`."""

    step: float
    friction: float
    injection: Any


@implements(advance, Friction, borrows=True)
def friction_step(dynamics, target, state, work, rng):  # type: ignore[no-untyped-def] # noqa: D103
    step = dynamics.step
    estimate_gradient(target, state.position, rng, work)
    keep = 1.0 - step * dynamics.friction
    for j in range(state.position.shape[0]):
        kick = deviation_of(dynamics.injection, j) * rng.standard_normal() - step * work.gradient[j]
        state.momentum[j] = keep * state.momentum[j] + kick
        state.position[j] += step * state.momentum[j]
    state.clock[0] += 1
