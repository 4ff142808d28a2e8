r"""SGHMC: stochastic subgradient Hamiltonian Monte Carlo with a fixed friction.

.. math:: r_{t+1} = r_t - h\,g(u_t) - h\,C r_t + N(0, 2h(C - \hat B) I),
          \qquad u_{t+1} = u_t + h\,r_{t+1}

with friction :math:`C` and an estimate :math:`\hat B = h \hat V/2` of the diffusion that gradient
noise adds (:math:`\hat V` its variance in each coordinate). With :math:`\hat B = 0` the temperature
is too high by about :math:`hV/(2C)`.
"""

import math
from typing import Any, NamedTuple

from bayesmargin.dynamics.base import follow, moves_by_gradient
from bayesmargin.dynamics.injection import inject
from bayesmargin.dynamics.steps import Unscaled, learn_early, learn_late, scale_of
from bayesmargin.foundation.compiling import implements


class Friction(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SGHMC`."""

    step: float
    friction: float
    injection: Any
    scaling: Any = Unscaled()
    n_rows: float = 1.0


@implements(follow, Friction, borrows=True)
def _follow(dynamics, state, space, work, source):  # type: ignore[no-untyped-def]
    step, scaling, time = dynamics.step, dynamics.scaling, state.clock[0]
    learn_early(scaling, work, dynamics.n_rows, time, state.moment)
    keep = 1.0 - step * dynamics.friction
    gradient, noise = work.gradient, work.noise
    inject(dynamics.injection, space, source, noise)
    for j in range(state.position.shape[0]):
        scale = math.sqrt(scale_of(scaling, state.moment[j]))
        kick = noise[j] - step * scale * gradient[j]
        state.momentum[j] = keep * state.momentum[j] + kick
        state.position[j] += step * scale * state.momentum[j]
    learn_late(scaling, work, dynamics.n_rows, time, state.moment)


moves_by_gradient(Friction)
