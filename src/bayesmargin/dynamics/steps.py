r"""Step sizes: schedules :math:`h_t`, and the preconditioners that learn a scale per coordinate.

All samplers use the convention of a drift :math:`h^2/2` and a noise :math:`h`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit, jit
from bayesmargin.foundation.types import FloatArray


class Constant(NamedTuple):
    r"""The same step for ever: :math:`h_t = h`. Its bias stays, of order :math:`h^2`."""

    step: float


class Polynomial(NamedTuple):
    r"""Decaying steps :math:`h_t = h_0 (1 + t/b)^{-\gamma}`.

    Draws are then weighted by :math:`h_t^2`. As :math:`\epsilon_t = h_t^2` decays like
    :math:`t^{-2\gamma}`, the classical conditions ask for :math:`\gamma \in (1/4, 1/2]`;
    :math:`\gamma = 1/6` has the smallest mean squared error.

    Examples
    --------
    >>> from bayesmargin.dynamics.steps import Polynomial
    >>> Polynomial(step=0.1, offset=1.0, exponent=1 / 6)
    Polynomial(step=0.1, offset=1.0, exponent=0.16666666666666666)
    """

    step: float
    offset: float = 1.0
    exponent: float = 1.0 / 6.0


Schedule = Constant | Polynomial


def step_at(schedule: Any, time: int) -> float:
    """Step size at iteration ``time`` (generic; runs in compiled code only)."""
    raise TypeError(f"{type(schedule).__name__} is not a schedule")


@implements(step_at, Constant, borrows=True)
def constant_step(schedule, time):  # type: ignore[no-untyped-def] # noqa: D103
    return schedule.step


@implements(step_at, Polynomial, borrows=True)
def polynomial_step(schedule, time):  # type: ignore[no-untyped-def] # noqa: D103
    return schedule.step * (1.0 + time / schedule.offset) ** (-schedule.exponent)


def step_sizes(schedule: Schedule, times: FloatArray) -> FloatArray:
    """Step sizes at many iterations, outside compiled code (weights of draws, plots)."""
    if isinstance(schedule, Constant):
        return np.full(len(times), schedule.step)
    return schedule.step * (1.0 + times / schedule.offset) ** (-schedule.exponent)


class Unscaled(NamedTuple):
    """No preconditioner: every coordinate takes the same step."""


class AdaGrad(NamedTuple):
    r"""Scale :math:`P_j = 1/(\delta + \sqrt{v_j})`, with :math:`v_j` the sum of squared gradients.

    Only the data part of the gradient enters :math:`v`, so that a coordinate no row touches keeps
    its scale. After ``freeze_after`` steps :math:`v` stays as it is, and the sampler has the
    accuracy of one with a fixed metric. With ``lagged`` the step at time :math:`t` uses
    :math:`v` from before time :math:`t`, which keeps the scale independent of the newest gradient.
    ``largest`` is where scales end: of a weight that no row touches the prior alone holds the step.
    """

    regularizer: float = 1e-5
    freeze_after: int = np.iinfo(np.int64).max
    lagged: bool = True
    largest: float = np.inf


class RMSprop(NamedTuple):
    r"""Scale :math:`P_j = 1/(\delta + \sqrt{v_j})`, :math:`v` a running mean of squares.

    :math:`v \leftarrow a v + (1 - a) \bar g^2`, where :math:`\bar g` is the mean gradient per row.
    The bias of order :math:`1 - a` does not vanish unless the scale is frozen. ``largest`` is that
    of :class:`AdaGrad`.
    """

    decay: float = 0.99
    regularizer: float = 1e-5
    freeze_after: int = np.iinfo(np.int64).max
    lagged: bool = True
    largest: float = np.inf


class Averaged(NamedTuple):
    r"""Scale :math:`P_j = 1/v_j`, with :math:`v_j` a mean square of all gradients so far.

    Later ones count more: :math:`v \leftarrow v + \tfrac{2}{t + 1} (g^2 - v)` at the t-th. As
    :math:`\mathrm{E}\,g_j^2 = \mathrm{E}\,\partial_j^2 U + V_j`, with :math:`V` the variance of
    the estimate, no step is long for the curvature of the energy nor for the noise. It settles.
    A chain should not start where the gradient is zero: ``largest`` is where scales end.
    """

    largest: float = 1e300
    freeze_after: int = np.iinfo(np.int64).max
    lagged: bool = False


Preconditioner = Unscaled | AdaGrad | RMSprop | Averaged


def mean_scale(preconditioner: Preconditioner, moments: Sequence[FloatArray]) -> float:
    """Mean over weights and chains of what has been learned; one without a preconditioner.

    Weights that no gradient has touched bring no noise, and their scales do not count.
    """
    if isinstance(preconditioner, Unscaled):
        return 1.0
    learned = np.concatenate(moments)
    learned = learned[learned > 0.0]
    if isinstance(preconditioner, Averaged):
        scales = 1.0 / learned
    else:
        scales = 1.0 / (preconditioner.regularizer + np.sqrt(learned))
    return float(np.minimum(scales, preconditioner.largest).sum() / max(1, learned.size))


def learn_scale(
    preconditioner: Any, work: Any, n_rows: float, time: int, moment: FloatArray
) -> None:
    """Update ``moment`` with the gradient of a step (generic, compiled)."""
    raise TypeError(f"{type(preconditioner).__name__} is not a preconditioner")


def scale_of(preconditioner: Any, moment: float) -> float:
    """Scale of one coordinate from its accumulated moment (generic, compiled)."""
    raise TypeError(f"{type(preconditioner).__name__} is not a preconditioner")


def is_lagged(preconditioner: Any) -> bool:
    """Whether the step precedes the update of the moment (generic, compiled)."""
    raise TypeError(f"{type(preconditioner).__name__} is not a preconditioner")


def is_known(preconditioner: Any, time: int) -> bool:
    """Whether there is a scale at ``time``, before its gradient (generic, compiled)."""
    raise TypeError(f"{type(preconditioner).__name__} is not a preconditioner")


@inner_borrowing_jit
def learn_early(preconditioner, work, n_rows, time, moment):  # type: ignore[no-untyped-def]
    """Learn before the step; lagged scales do so once, as there is nothing to step with yet."""
    if time == 0 or not is_lagged(preconditioner):
        learn_scale(preconditioner, work, n_rows, time, moment)


@inner_borrowing_jit
def learn_late(preconditioner, work, n_rows, time, moment):  # type: ignore[no-untyped-def]
    """Learn after the step what is lagged."""
    if time > 0 and is_lagged(preconditioner):
        learn_scale(preconditioner, work, n_rows, time, moment)


@jit
def learn(preconditioner, work, n_rows, time, moment):  # type: ignore[no-untyped-def]
    """:func:`learn_scale`, from Python."""
    learn_scale(preconditioner, work, n_rows, time, moment)


@implements(learn_scale, Unscaled, borrows=True)
def _learn_nothing(preconditioner, work, n_rows, time, moment):  # type: ignore[no-untyped-def]
    pass


@implements(is_known, Unscaled, borrows=True)
def _always(preconditioner, time):  # type: ignore[no-untyped-def]
    return True


@implements(is_known, AdaGrad, borrows=True)
@implements(is_known, RMSprop, borrows=True)
@implements(is_known, Averaged, borrows=True)
def _after_the_first(preconditioner, time):  # type: ignore[no-untyped-def]
    return time > 0


@implements(scale_of, Unscaled, borrows=True)
def _unit_scale(preconditioner, moment):  # type: ignore[no-untyped-def]
    return 1.0


@implements(is_lagged, Unscaled, borrows=True)
def _unscaled_lagged(preconditioner):  # type: ignore[no-untyped-def]
    return True


@implements(learn_scale, AdaGrad, borrows=True)
def _sum_squares(preconditioner, work, n_rows, time, moment):  # type: ignore[no-untyped-def]
    gradient = work.data
    if time < preconditioner.freeze_after:
        for j in range(gradient.shape[0]):
            moment[j] += gradient[j] * gradient[j]


@implements(learn_scale, RMSprop, borrows=True)
def _mean_squares(preconditioner, work, n_rows, time, moment):  # type: ignore[no-untyped-def]
    gradient = work.data
    if time < preconditioner.freeze_after:
        keep = preconditioner.decay
        for j in range(gradient.shape[0]):
            mean = gradient[j] / n_rows
            moment[j] = keep * moment[j] + (1.0 - keep) * mean * mean


@implements(learn_scale, Averaged, borrows=True)
def _average_squares(preconditioner, work, n_rows, time, moment):  # type: ignore[no-untyped-def]
    gradient = work.gradient
    if time < preconditioner.freeze_after:
        share = 2.0 / (time + 2.0)
        for j in range(gradient.shape[0]):
            moment[j] += share * (gradient[j] * gradient[j] - moment[j])


@implements(scale_of, Averaged, borrows=True)
def _inverse_square(preconditioner, moment):  # type: ignore[no-untyped-def]
    return min(preconditioner.largest, 1.0 / max(moment, 1e-300))


@implements(scale_of, AdaGrad, borrows=True)
@implements(scale_of, RMSprop, borrows=True)
def _learned_scale(preconditioner, moment):  # type: ignore[no-untyped-def]
    return min(preconditioner.largest, 1.0 / (preconditioner.regularizer + np.sqrt(moment)))


@implements(is_lagged, AdaGrad, borrows=True)
@implements(is_lagged, RMSprop, borrows=True)
@implements(is_lagged, Averaged, borrows=True)
def _as_set(preconditioner):  # type: ignore[no-untyped-def]
    return preconditioner.lagged
