r"""SSGLD: stochastic subgradient Langevin dynamics, with the preconditioners of ``steps``.

.. math:: w_{t+1} = w_t - \tfrac{h_t^2}{2} P_t g(w_t) + h_t P_t^{1/2} \nu_t,
          \qquad \nu_t \sim N(0, I)

There is no Metropolis test. At constant step and full gradient the bias is of order :math:`h^2`,
also at the kinks of the hinge; gradient noise of variance :math:`V` raises the temperature to
:math:`1 + h^2 V / 4`.
"""

import math
from typing import Any, NamedTuple

from bayesmargin.dynamics.base import advance
from bayesmargin.dynamics.steps import is_lagged, learn_scale, scale_of, step_at
from bayesmargin.foundation.compiling import implements
from bayesmargin.targets.rows import estimate_gradient


class Langevin(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SSGLD`."""

    schedule: Any
    preconditioner: Any
    n_rows: float


@implements(advance, Langevin, borrows=True)
def langevin_step(dynamics, target, state, work, rng):  # type: ignore[no-untyped-def] # noqa: D103
    time = state.clock[0]
    step = step_at(dynamics.schedule, time)
    scaling = dynamics.preconditioner
    estimate_gradient(target, state.position, rng, work)
    # Before the first gradient there is no scale to step with, lagged or not.
    late = is_lagged(scaling) and time > 0
    if not late:
        learn_scale(scaling, work.data, dynamics.n_rows, time, state.moment)
    position, moment, gradient = state.position, state.moment, work.gradient
    for j in range(position.shape[0]):
        scale = scale_of(scaling, moment[j])
        drift = 0.5 * step * step * scale * gradient[j]
        noise = step * math.sqrt(scale) * rng.standard_normal()
        position[j] += noise - drift
    if late:
        learn_scale(scaling, work.data, dynamics.n_rows, time, state.moment)
    state.clock[0] = time + 1
