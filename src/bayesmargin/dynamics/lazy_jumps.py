r"""Gaps of lazy chains made in one draw: how far a coordinate relaxed, and how much noise it got.

A coordinate at distance :math:`\delta` from its point of rest obeys
:math:`\delta \leftarrow a_t\,\delta + h_t P_j^{1/2}\nu` with
:math:`a_t = 1 - \tfrac12 h_t^2 \kappa_j` (see :mod:`bayesmargin.dynamics.lazy`), so after a gap it
is :math:`\delta_T \sim N(F\delta_t, V)`. Three ways to know :math:`F` and :math:`V` at once:

* :class:`SharedEuler`, one :math:`\kappa` for all coordinates and any schedule. With
  :math:`A_t = \sum \log a_i` and the variance :math:`q_{t+1} = a_t^2 q_t + h_t^2` of a reference
  chain, :math:`\log F = A_T - A_t` and
  :math:`V/P = (q_T - q_t) - q_t\,\mathrm{expm1}(2 \log F)`. Nothing overflows, whatever the gap;
  but with :math:`h^2\kappa` near the rounding error the two sums stand still.
* :class:`OwnEuler`, a :math:`\kappa_j` for each coordinate and a constant step: geometric sums.
* :class:`Flow`, the exact Ornstein-Uhlenbeck flow of the prior, for any metric that is constant
  while its coordinate is not touched (AdaGrad) and any schedule: with
  :math:`\tau = \sum h_i^2`, :math:`F = e^{-\kappa\tau/2}`,
  :math:`V = (1 - e^{-\kappa\tau})/\lambda`.

The first two sample the law of dense SSGLD exactly; the third is its own, equally accurate scheme.
"""

import math
from typing import Any, NamedTuple

from bayesmargin.foundation.compiling import implements, inner_jit


class SharedEuler(NamedTuple):
    """Euler steps with one curvature ``P * precision`` for all coordinates."""

    curvature: float


class OwnEuler(NamedTuple):
    """Euler steps of constant length with a curvature for each coordinate."""

    step: float


class Flow(NamedTuple):
    """Exact flow of the prior between gradients."""


def jump(kind: Any, mark: float, spread: float, now: Any, metric: float, precision: float) -> Any:
    """Factor and variance of the move from ``mark`` to ``now`` (generic, compiled).

    Only numbers cross this interface: handing over arrays would cost more than the jump.
    """
    raise TypeError(f"{type(kind).__name__} is not a kind of jump")


def reading(kind: Any, now: Any) -> float:
    """The clock that a kind of jump goes by (generic, compiled)."""
    raise TypeError(f"{type(kind).__name__} is not a kind of jump")


def one_step(kind: Any, step: float, metric: float, precision: float) -> float:
    """Factor of a single step (generic, compiled)."""
    raise TypeError(f"{type(kind).__name__} is not a kind of jump")


@implements(one_step, SharedEuler)
def _shared_step(kind, step, metric, precision):  # type: ignore[no-untyped-def]
    return 1.0 - 0.5 * step * step * kind.curvature


@implements(one_step, OwnEuler)
def _own_step(kind, step, metric, precision):  # type: ignore[no-untyped-def]
    return 1.0 - 0.5 * kind.step * kind.step * metric * precision


@implements(one_step, Flow)
def _flow_step(kind, step, metric, precision):  # type: ignore[no-untyped-def]
    return math.exp(-0.5 * metric * precision * step * step)


@inner_jit
def short_expm1(x):  # type: ignore[no-untyped-def]
    """``expm1``, by seven terms of its series (error below 1e-16) where the gap was short."""
    if abs(x) > 0.02:
        return math.expm1(x)
    tail = 1.0 + x / 5.0 * (1.0 + x / 6.0 * (1.0 + x / 7.0))
    return x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * tail)))


@implements(jump, SharedEuler)
def shared_jump(kind, mark, spread, now, metric, precision):  # type: ignore[no-untyped-def] # noqa: D103
    shrinkage = short_expm1(2.0 * (now[0] - mark))
    variance = (now[1] - spread) - spread * shrinkage
    return math.sqrt(1.0 + shrinkage), metric * variance


@implements(reading, SharedEuler)
def _shared_reading(kind, now):  # type: ignore[no-untyped-def]
    return now[0]


@implements(jump, OwnEuler)
def own_jump(kind, mark, spread, now, metric, precision):  # type: ignore[no-untyped-def] # noqa: D103
    square = kind.step * kind.step
    log_factor = math.log1p(-0.5 * square * metric * precision)
    steps = now[2] - mark
    variance = square * metric * math.expm1(2.0 * steps * log_factor) / math.expm1(2.0 * log_factor)
    return math.exp(steps * log_factor), variance


@implements(reading, OwnEuler)
def _own_reading(kind, now):  # type: ignore[no-untyped-def]
    return now[2]


@implements(jump, Flow)
def flow_jump(kind, mark, spread, now, metric, precision):  # type: ignore[no-untyped-def] # noqa: D103
    decay = metric * precision * (now[3] - mark)
    return math.exp(-0.5 * decay), -math.expm1(-decay) / precision


@implements(reading, Flow)
def _flow_reading(kind, now):  # type: ignore[no-untyped-def]
    return now[3]


@inner_jit
def advance_clock(clock, step, curvature):  # type: ignore[no-untyped-def]
    """Let the clocks run by one step of size ``step``."""
    factor = 1.0 - 0.5 * step * step * curvature
    clock[0] += math.log(abs(factor))
    clock[1] = factor * factor * clock[1] + step * step
    clock[2] += 1.0
    clock[3] += step * step
