r"""Exact lazy SSGLD: per-step cost that follows the entries of the batch, not the features.

With a Gaussian prior of precision :math:`\lambda_j` about :math:`\mu_j`, a metric :math:`P_j` and
the constant part :math:`G_{0j}` of the gradient (the control variate), a coordinate that the batch
does not touch obeys

.. math:: \delta \leftarrow a_t\,\delta + h_t P_j^{1/2}\nu, \qquad
          \delta = w_j - w_j^*, \quad w_j^* = \mu_j - G_{0j}/\lambda_j, \quad
          a_t = 1 - \tfrac12 h_t^2 \kappa_j, \quad \kappa_j = P_j\lambda_j,

so the control variate only moves the point :math:`w^*` to which the coordinate relaxes. Its noise
is independent of everything else, and nobody reads it before it is next touched: a whole gap is one
draw :math:`\delta_T \sim N(F\delta_t, V)`. Three ways to know :math:`F` and :math:`V` at once:

* :class:`SharedEuler`, one :math:`\kappa` for all coordinates and any schedule. With
  :math:`A_t = \sum \log a_i` and the variance :math:`q_{t+1} = a_t^2 q_t + h_t^2` of a reference
  chain, :math:`\log F = A_T - A_t` and
  :math:`V/P = (q_T - q_t) - q_t\,\mathrm{expm1}(2 \log F)`. Nothing overflows, whatever the gap.
* :class:`OwnEuler`, a :math:`\kappa_j` for each coordinate and a constant step: geometric sums.
* :class:`Flow`, the exact Ornstein-Uhlenbeck flow of the prior, for any metric that is constant
  while its coordinate is not touched (AdaGrad) and any schedule: with
  :math:`\tau = \sum h_i^2`, :math:`F = e^{-\kappa\tau/2}`,
  :math:`V = (1 - e^{-\kappa\tau})/\lambda`.

The first two sample the law of dense SSGLD exactly; the third is its own, equally accurate scheme.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.compiling import implements, jit
from bayesmargin.hinge import winner
from bayesmargin.steps import AdaGrad, Unscaled, scale_of, step_at
from bayesmargin.target import BinaryHinge, InterleavedHinge
from bayesmargin.types import FloatArray, IntArray


class SharedEuler(NamedTuple):
    """Euler steps with one curvature ``P * precision`` for all coordinates."""

    curvature: float


class OwnEuler(NamedTuple):
    """Euler steps of constant length with a curvature for each coordinate."""

    step: float


class Flow(NamedTuple):
    """Exact flow of the prior between gradients."""

    unused: float = 0.0


class LazyDynamics(NamedTuple):
    """What moves lazily: schedule, jumps, learned metric, and the prior of each coordinate."""

    schedule: Any
    jump: Any
    preconditioner: Any
    metric: FloatArray
    precision: FloatArray
    rest: FloatArray


class LazyState(NamedTuple):
    """Weights, the clock readings at which each was last moved, and the clocks themselves.

    ``clock`` holds the sums A and q, the number of steps, and the sum of squared steps.
    """

    weights: FloatArray
    mark: FloatArray
    moment: FloatArray
    data: FloatArray
    touched: IntArray
    scores: FloatArray
    clock: FloatArray


def jump(kind: Any, mark: FloatArray, clock: FloatArray, metric: float, precision: float) -> Any:
    """Factor and variance of the move from ``mark`` to ``clock`` (generic, compiled)."""
    raise TypeError(f"{type(kind).__name__} is not a kind of jump")


def set_mark(kind: Any, mark: FloatArray, clock: FloatArray) -> None:
    """Note in ``mark`` that a coordinate has reached ``clock`` (generic, compiled)."""
    raise TypeError(f"{type(kind).__name__} is not a kind of jump")


def is_current(kind: Any, mark: FloatArray, clock: FloatArray) -> bool:
    """Whether a coordinate has reached ``clock`` already (generic, compiled)."""
    raise TypeError(f"{type(kind).__name__} is not a kind of jump")


@implements(is_current, SharedEuler)
def _shared_current(kind, mark, clock):  # type: ignore[no-untyped-def]
    return mark[0] == clock[0]


@implements(is_current, OwnEuler)
def _own_current(kind, mark, clock):  # type: ignore[no-untyped-def]
    return mark[0] == clock[2]


@implements(is_current, Flow)
def _flow_current(kind, mark, clock):  # type: ignore[no-untyped-def]
    return mark[0] == clock[3]


@implements(jump, SharedEuler)
def shared_jump(kind, mark, clock, metric, precision):  # type: ignore[no-untyped-def] # noqa: D103
    log_factor = clock[0] - mark[0]
    variance = (clock[1] - mark[1]) - mark[1] * math.expm1(2.0 * log_factor)
    return math.exp(log_factor), metric * variance


@implements(set_mark, SharedEuler)
def _shared_mark(kind, mark, clock):  # type: ignore[no-untyped-def]
    mark[0] = clock[0]
    mark[1] = clock[1]


@implements(jump, OwnEuler)
def own_jump(kind, mark, clock, metric, precision):  # type: ignore[no-untyped-def] # noqa: D103
    square = kind.step * kind.step
    log_factor = math.log1p(-0.5 * square * metric * precision)
    steps = clock[2] - mark[0]
    variance = square * metric * math.expm1(2.0 * steps * log_factor) / math.expm1(2.0 * log_factor)
    return math.exp(steps * log_factor), variance


@implements(set_mark, OwnEuler)
def _own_mark(kind, mark, clock):  # type: ignore[no-untyped-def]
    mark[0] = clock[2]


@implements(jump, Flow)
def flow_jump(kind, mark, clock, metric, precision):  # type: ignore[no-untyped-def] # noqa: D103
    decay = metric * precision * (clock[3] - mark[0])
    return math.exp(-0.5 * decay), -math.expm1(-decay) / precision


@implements(set_mark, Flow)
def _flow_mark(kind, mark, clock):  # type: ignore[no-untyped-def]
    mark[0] = clock[3]


@jit
def advance_clock(clock, step, curvature):  # type: ignore[no-untyped-def]
    """Let the clocks run by one step of size ``step``."""
    factor = 1.0 - 0.5 * step * step * curvature
    clock[0] += math.log(abs(factor))
    clock[1] = factor * factor * clock[1] + step * step
    clock[2] += 1.0
    clock[3] += step * step


@jit
def metric_of(dynamics, state, j):  # type: ignore[no-untyped-def]
    """Metric of one coordinate: given, times what was learned."""
    return dynamics.metric[j] * scale_of(dynamics.preconditioner, state.moment[j])


@jit
def move(dynamics, state, j, push, rng):  # type: ignore[no-untyped-def]
    """Move coordinate ``j`` to the clocks' reading, with ``push`` added at the end."""
    if is_current(dynamics.jump, state.mark[j], state.clock):
        return
    metric = metric_of(dynamics, state, j)
    factor, variance = jump(
        dynamics.jump, state.mark[j], state.clock, metric, dynamics.precision[j]
    )
    rest = dynamics.rest[j]
    noise = math.sqrt(max(variance, 0.0)) * rng.standard_normal()
    state.weights[j] = rest + factor * (state.weights[j] - rest) + noise - push * metric
    set_mark(dynamics.jump, state.mark[j], state.clock)


@jit
def catch_up(dynamics, state, rng):  # type: ignore[no-untyped-def]
    """Move every coordinate to the present."""
    for j in range(state.weights.shape[0]):
        move(dynamics, state, j, 0.0, rng)


@jit
def _catch_up_row(dynamics, state, rows, d, count, rng):  # type: ignore[no-untyped-def]
    for k in range(rows.begin[d], rows.end[d] + rows.constant):
        column = rows.indices[k] if k < rows.end[d] else rows.last
        for j in range(column * count, (column + 1) * count):
            move(dynamics, state, j, 0.0, rng)


@jit
def _push_row(state, rows, d, scale, place, touched):  # type: ignore[no-untyped-def]
    """Add ``scale`` times row ``d`` to the data gradient of a class; note what was touched."""
    count, own = place
    for k in range(rows.begin[d], rows.end[d] + rows.constant):
        inside = k < rows.end[d]
        j = (rows.indices[k] if inside else rows.last) * count + own
        if state.data[j] == 0.0:
            state.touched[touched] = j
            touched += 1
        state.data[j] += scale * (rows.values[k] if inside else 1.0)
    return touched


def visit(hinge: Any, dynamics: Any, state: LazyState, rows: Any, job: Any, rng: Any) -> int:
    """Read one row and add the change of its gradient (generic, compiled).

    ``job`` is ``(row, scale, number of coordinates touched so far)``; returns the new number.
    """
    raise TypeError(f"{type(hinge).__name__} is not a hinge of lazy chains")


@implements(visit, BinaryHinge)
def _visit_binary(hinge, dynamics, state, rows, job, rng):  # type: ignore[no-untyped-def]
    d, scale, touched = job
    _catch_up_row(dynamics, state, rows, d, 1, rng)
    score = state.weights[rows.last] if rows.constant else 0.0
    for k in range(rows.begin[d], rows.end[d]):
        score += rows.values[k] * state.weights[rows.indices[k]]
    active = 1 if hinge.slack[d] - hinge.sign[d] * score > 0.0 else 0
    change = active - hinge.reference[d]
    if change != 0:
        push = -scale * hinge.cost[d] * hinge.sign[d] * change
        touched = _push_row(state, rows, d, push, (1, 0), touched)
    return touched


@implements(visit, InterleavedHinge)
def _visit_multiclass(hinge, dynamics, state, rows, job, rng):  # type: ignore[no-untyped-def]
    d, scale, touched = job
    count = hinge.n_classes
    _catch_up_row(dynamics, state, rows, d, count, rng)
    for c in range(count):
        state.scores[c] = state.weights[rows.last * count + c] if rows.constant else 0.0
    for k in range(rows.begin[d], rows.end[d]):
        first = rows.indices[k] * count
        for c in range(count):
            state.scores[c] += rows.values[k] * state.weights[first + c]
    now, before = winner(hinge.margin, state.scores, hinge.label[d]), hinge.reference[d]
    if now != before:
        push = scale * hinge.cost[d]
        touched = _push_row(state, rows, d, push, (count, now), touched)
        touched = _push_row(state, rows, d, -push, (count, before), touched)
    return touched


def learn(preconditioner: Any, moment: FloatArray, j: int, gradient: float, first: bool) -> None:
    """Update what is learned of one coordinate's metric (generic, compiled).

    Called before the move with ``first`` true, when only a coordinate without any gradient yet
    learns, and after it with ``first`` false.
    """
    raise TypeError(f"{type(preconditioner).__name__} cannot be learned lazily")


@implements(learn, Unscaled)
def _learn_nothing(preconditioner, moment, j, gradient, first):  # type: ignore[no-untyped-def]
    pass


@implements(learn, AdaGrad)
def _learn_square(preconditioner, moment, j, gradient, first):  # type: ignore[no-untyped-def]
    if first == (moment[j] == 0.0):
        moment[j] += gradient * gradient


@jit
def lazy_step(dynamics, target, state, rng):  # type: ignore[no-untyped-def]
    """One iteration of SSGLD that moves only what the batch reads."""
    step = step_at(dynamics.schedule, int(state.clock[2]))
    start, take = target.strata.start, target.strata.take
    touched = 0
    for s in range(take.shape[0]):
        first, size, count = start[s], start[s + 1] - start[s], take[s]
        index = 0 if count == size else int(rng.random() * size)
        for _ in range(count):
            job = (first + index, size / count, touched)
            touched = visit(target.hinge, dynamics, state, target.rows, job, rng)
            index = 0 if index + 1 == size else index + 1
    shared = dynamics.metric[0] * dynamics.precision[0]
    advance_clock(state.clock, step, shared)
    for k in range(touched):
        j = state.touched[k]
        gradient = state.data[j]
        # A coordinate that cancelled to zero and was touched again stands in the list twice.
        if gradient != 0.0:
            learn(dynamics.preconditioner, state.moment, j, gradient, True)
            move(dynamics, state, j, 0.5 * step * step * gradient, rng)
            learn(dynamics.preconditioner, state.moment, j, gradient, False)
            state.data[j] = 0.0


@jit
def lazy_record(dynamics, target, state, rng, thin, out):  # type: ignore[no-untyped-def]
    """Make one draw, ``thin`` iterations on; return whether it stayed finite."""
    for _ in range(thin):
        lazy_step(dynamics, target, state, rng)
    catch_up(dynamics, state, rng)
    square = 0.0
    for j in range(out.shape[0]):
        out[j] = state.weights[j]
        square += out[j] * out[j]
    return 1 if square < 1e200 else 0


def lazy_state(weights: FloatArray, n_classes: int, capacity: int, curvature: float) -> LazyState:
    """State at ``weights``; ``capacity`` bounds the entries that a batch touches."""
    size = weights.shape[0]
    clock = np.array([0.0, 1.0 / curvature, 0.0, 0.0])
    mark = np.zeros((size, 2))
    mark[:, 1] = clock[1]
    return LazyState(
        weights=np.array(weights, dtype=float),
        mark=mark,
        moment=np.zeros(size),
        data=np.zeros(size),
        touched=np.zeros(capacity, dtype=np.int64),
        scores=np.zeros(n_classes),
        clock=clock,
    )
