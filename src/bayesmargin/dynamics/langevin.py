r"""SSGLD: stochastic subgradient Langevin dynamics, with the preconditioners of ``steps``.

.. math:: w_{t+1} = w_t - \tfrac{h_t^2}{2} P_t g(w_t) + h_t P_t^{1/2} \nu_t,
          \qquad \nu_t \sim N(0, I)

There is no Metropolis test. At constant step and full gradient the bias is of order :math:`h^2`,
also at the kinks of the hinge; gradient noise of variance :math:`V` raises the temperature to
:math:`1 + h^2 V / 4`.
"""

import math
from typing import Any, NamedTuple

from bayesmargin.dynamics.base import follow, moves_by_gradient
from bayesmargin.dynamics.steps import learn_early, learn_late, scale_of, step_at
from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.noise import fill_noise
from bayesmargin.targets.base import project


class Langevin(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SSGLD`."""

    schedule: Any
    scaling: Any
    n_rows: float


@implements(follow, Langevin, borrows=True)
def _follow(dynamics, state, space, work, source):  # type: ignore[no-untyped-def]
    scaling, time = dynamics.scaling, state.clock[0]
    step = step_at(dynamics.schedule, time)
    learn_early(scaling, work, dynamics.n_rows, time, state.moment)
    position, moment, gradient, noise = state.position, state.moment, work.gradient, work.noise
    fill_noise(source, noise)
    project(space, noise)
    for j in range(position.shape[0]):
        scale = scale_of(scaling, moment[j])
        drift = 0.5 * step * step * scale * gradient[j]
        position[j] += step * math.sqrt(scale) * noise[j] - drift
    learn_late(scaling, work, dynamics.n_rows, time, state.moment)


moves_by_gradient(Langevin)
