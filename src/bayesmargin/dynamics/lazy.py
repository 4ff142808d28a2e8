r"""Exact lazy SSGLD: per-step cost that follows the entries of the batch, not the features.

With a Gaussian prior of precision :math:`\lambda_j` about :math:`\mu_j`, a metric :math:`P_j` and
the constant part :math:`G_{0j}` of the gradient (the control variate), a coordinate that the batch
does not touch obeys

.. math:: \delta \leftarrow a_t\,\delta + h_t P_j^{1/2}\nu, \qquad
          \delta = w_j - w_j^*, \quad w_j^* = \mu_j - G_{0j}/\lambda_j, \quad
          a_t = 1 - \tfrac12 h_t^2 \kappa_j, \quad \kappa_j = P_j\lambda_j,

so the control variate only moves the point :math:`w^*` to which the coordinate relaxes. Its noise
is independent of everything else, and nobody reads it before it is next touched: a whole gap is one
draw :math:`\delta_T \sim N(F\delta_t, V)`. The file
:mod:`bayesmargin.dynamics.lazy_jumps` knows :math:`F` and :math:`V`.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.dynamics.lazy_jumps import advance_clock, jump, one_step, reading
from bayesmargin.dynamics.steps import AdaGrad, Unscaled, scale_of, step_at
from bayesmargin.foundation.compiling import implements, inner_jit, jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.hinge import winner
from bayesmargin.likelihoods.largest import InterleavedHinge
from bayesmargin.likelihoods.one_score import BinaryHinge

# Columns of the table of coordinates: all that a jump reads and writes is one cache line.
WEIGHT, MARK, SPREAD, REST, METRIC, PRECISION, MOMENT, DATA = range(8)
LARGEST_SQUARE = 1e200  # of all weights, in units nobody knows; beyond it the chain has diverged


class LazyDynamics(NamedTuple):
    """What moves lazily: schedule, jumps, and the learned part of the metric."""

    schedule: Any
    jump: Any
    preconditioner: Any
    curvature: float


class LazyState(NamedTuple):
    """A line for every coordinate, and the clocks.

    A line of ``table`` holds the weight, the clock readings at which it was last moved (that which
    the kind of jump goes by, and q), the point to which it relaxes, its metric and prior precision,
    what was learned of the metric, and the data gradient of the batch. ``clock`` holds the sums A
    and q, the number of steps, and the sum of squared steps.
    """

    table: FloatArray
    touched: IntArray
    scores: FloatArray
    clock: FloatArray


def change_of(hinge: Any, row: int, scores: FloatArray) -> tuple[int, int, float]:
    """Class that gains, class that loses (or -1), and how much of a row's gradient (generic)."""
    raise TypeError(f"{type(hinge).__name__} is not a hinge of lazy chains")


@implements(change_of, BinaryHinge)
def _binary_change(hinge, row, scores):  # type: ignore[no-untyped-def]
    active = 1 if hinge.slack[row] - hinge.sign[row] * scores[0] > 0.0 else 0
    change = active - hinge.reference[row]
    return 0, -1, -hinge.cost[row] * hinge.sign[row] * change


@implements(change_of, InterleavedHinge)
def _multiclass_change(hinge, row, scores):  # type: ignore[no-untyped-def]
    now, before = winner(hinge.margin, scores, hinge.label[row]), hinge.reference[row]
    return now, before, hinge.cost[row] if now != before else 0.0


@inner_jit
def _read_block(dynamics, target, state, block, touched, rng):  # type: ignore[no-untyped-def]
    """Bring what a run of rows reads to the present, and add the changes of their gradients.

    Returns how many coordinates are touched so far. Written as one loop, since a call for every
    entry would hand over all of these arrays each time.
    """
    kind, learned, rows, table = dynamics.jump, dynamics.preconditioner, target.rows, state.table
    scores, count = state.scores, state.scores.shape[0]
    now = (state.clock[0], state.clock[1], state.clock[2], state.clock[3])
    present = reading(kind, now)
    first, size, index, length = block
    for _ in range(length):
        d = first + index
        begin, end = rows.begin[d], rows.end[d]
        scores[:] = 0.0
        for k in range(begin, end + rows.constant):
            inside = k < end
            column = rows.indices[k] if inside else rows.last
            value = rows.values[k] if inside else 1.0
            for c in range(count):
                j = column * count + c
                if table[j, MARK] != present:
                    metric = table[j, METRIC] * scale_of(learned, table[j, MOMENT])
                    factor, variance = jump(
                        kind, table[j, MARK], table[j, SPREAD], now, metric, table[j, PRECISION]
                    )
                    noise = math.sqrt(max(variance, 0.0)) * rng.standard_normal()
                    rest = table[j, REST]
                    table[j, WEIGHT] = rest + factor * (table[j, WEIGHT] - rest) + noise
                    table[j, MARK] = present
                    table[j, SPREAD] = now[1]
                scores[c] += value * table[j, WEIGHT]
        gains, loses, push = change_of(target.hinge, d, scores)
        if push != 0.0:
            push *= size / length
            for k in range(begin, end + rows.constant):
                inside = k < end
                column = rows.indices[k] if inside else rows.last
                amount = push * (rows.values[k] if inside else 1.0)
                for side in range(2 if loses >= 0 else 1):
                    j = column * count + (gains if side == 0 else loses)
                    if table[j, DATA] == 0.0:
                        state.touched[touched] = j
                        touched += 1
                    table[j, DATA] += amount if side == 0 else -amount
        index = 0 if index + 1 == size else index + 1
    return touched


@inner_jit
def lazy_step(dynamics, target, state, rng):  # type: ignore[no-untyped-def]
    """One iteration of SSGLD that moves only what the batch reads."""
    step = step_at(dynamics.schedule, int(state.clock[2]))
    start, take = target.strata.start, target.strata.take
    touched = 0
    for s in range(take.shape[0]):
        size, count = start[s + 1] - start[s], take[s]
        index = 0 if count == size else int(rng.random() * size)
        block = (start[s], size, index, count)
        touched = _read_block(dynamics, target, state, block, touched, rng)
    advance_clock(state.clock, step, dynamics.curvature)
    now = (state.clock[0], state.clock[1], state.clock[2], state.clock[3])
    for k in range(touched):
        line = state.table[state.touched[k]]
        # A coordinate that cancelled to zero and was touched again stands in the list twice.
        if line[DATA] != 0.0:
            settle(dynamics.preconditioner, dynamics.jump, line, now, step, rng)
            line[DATA] = 0.0


def settle(
    preconditioner: Any, kind: Any, line: FloatArray, now: Any, step: float, rng: Any
) -> None:
    """Let one coordinate feel the gradient of the batch (generic, compiled)."""
    raise TypeError(f"{type(preconditioner).__name__} cannot be learned lazily")


@implements(settle, Unscaled)
def _settle_later(preconditioner, kind, line, now, step, rng):  # type: ignore[no-untyped-def]
    # From a*delta - push + noise = a*(delta - push/a) + noise: the move itself can wait.
    push = 0.5 * step * step * line[METRIC] * line[DATA]
    line[WEIGHT] -= push / one_step(kind, step, line[METRIC], line[PRECISION])


@implements(settle, AdaGrad)
def _settle_now(preconditioner, kind, line, now, step, rng):  # type: ignore[no-untyped-def]
    # The gradient changes the metric, so a lagged step is made before it does; without any
    # gradient yet there is no metric to make it with, and this one gives it.
    square = line[DATA] * line[DATA] if now[2] <= preconditioner.freeze_after else 0.0
    first = not preconditioner.lagged or line[MOMENT] == 0.0
    if first:
        line[MOMENT] += square
    metric = line[METRIC] * scale_of(preconditioner, line[MOMENT])
    _move(kind, line, now, metric, 0.5 * step * step * metric * line[DATA], rng)
    if not first:
        line[MOMENT] += square


@jit
def _move(kind, line, now, metric, push, rng):  # type: ignore[no-untyped-def]
    """Move one coordinate to the present, less ``push``."""
    factor, variance = jump(kind, line[MARK], line[SPREAD], now, metric, line[PRECISION])
    noise = math.sqrt(max(variance, 0.0)) * rng.standard_normal()
    line[WEIGHT] = line[REST] + factor * (line[WEIGHT] - line[REST]) + noise - push
    line[MARK] = reading(kind, now)
    line[SPREAD] = now[1]


@jit
def catch_up(dynamics, state, rng):  # type: ignore[no-untyped-def]
    """Move every coordinate to the present."""
    now = (state.clock[0], state.clock[1], state.clock[2], state.clock[3])
    present = reading(dynamics.jump, now)
    for j in range(state.table.shape[0]):
        line = state.table[j]
        if line[MARK] != present:
            metric = line[METRIC] * scale_of(dynamics.preconditioner, line[MOMENT])
            _move(dynamics.jump, line, now, metric, 0.0, rng)


@jit
def lazy_record(dynamics, target, state, rng, thin, out):  # type: ignore[no-untyped-def]
    """Make one draw, ``thin`` iterations on; return whether it stayed finite."""
    for _ in range(thin):
        lazy_step(dynamics, target, state, rng)
    catch_up(dynamics, state, rng)
    for j in range(out.shape[0]):
        out[j] = state.table[j, WEIGHT]
    square = 0.0
    for j in range(out.shape[0]):
        square += out[j] * out[j]
    return 1 if square < LARGEST_SQUARE else 0


def lazy_state(
    weights: FloatArray,
    rest: FloatArray,
    metric: FloatArray,
    precision: FloatArray,
    n_classes: int,
    capacity: int,
) -> LazyState:
    """State at ``weights``; ``capacity`` bounds the entries that a batch touches."""
    clock = np.array([0.0, 1.0 / (metric[0] * precision[0]), 0.0, 0.0])
    table = np.zeros((weights.shape[0], 8))
    table[:, WEIGHT] = weights
    table[:, SPREAD] = clock[1]
    table[:, REST] = rest
    table[:, METRIC] = metric
    table[:, PRECISION] = precision
    touched = np.zeros(capacity, dtype=np.int64)
    return LazyState(table, touched, np.zeros(n_classes), clock)
