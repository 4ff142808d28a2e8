r"""Gradients of several classes from the rows that can have crossed a kink, as molecules meet.

Where walls are steep, steps are short beside the posterior: the score of a row moves by a hundredth
of its deviation. A row whose winner leads by much then keeps it for many steps, whatever happens,
and so do molecules that are far apart (Verlet 1967). In whitened coordinates momenta are standard
normal, and within :math:`m` steps of length :math:`h` the lead of an option over another changes by
:math:`m h\,|F^\top(x \otimes (e_k - e_l))|` times a standard normal variate, at most:
``stride`` holds :data:`FARTHEST_MOVE` of these a step. So

* at every ``period``-th step all scores are products of matrices, and the options that can win
  before the next such step are noted, with their rows;
* at the steps between, a noted row is looked at again when its smallest lead can have been used up,
  and its scores under the noted options alone are taken.

What is not seen in time is seen at the next pass. Rows that were not noted and have another winner
there are counted (:attr:`Lists.tally`).
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.hinge import winner
from bayesmargin.priors.densities import prior_gradient
from bayesmargin.rows.layout import row_add, row_dot
from bayesmargin.running.side_by_side import led, moved, put
from bayesmargin.targets.coordinates import pull_back, to_weights

FARTHEST_MOVE = 5.0  # deviations of a momentum that a row is expected to have at most
FEWEST, LONGEST = 8, 64  # steps between passes over all rows: fewer do not pay,
OF_LONG, LONG = 6, 128  # but of rows with so many columns
SKIN = 2.5  # deviations of a lead up to which a rival is noted
SOON = 2  # steps by which options are looked at sooner where their row is looked at anyway
ROOM = 32  # options of a row that are noted; all of them where there are more
BLOCK = 1 << 16  # numbers in a block of rows, a quarter of a megabyte
SMALLEST, LARGEST = 64, 512  # rows of a block


class Lists(NamedTuple):
    """What a chain knows about its rows: the last winner, rivals, and when to look again.

    ``due`` is a clock, ``noted`` how many ``options`` of a row are noted (-1: all), each with the
    clock ``until`` which it is behind, ``listed`` the rows that have any, of which there are
    ``tally[0]``; ``tally[1]`` changes of winners were found at passes over all rows, ``tally[2]``
    of them unseen until then. ``data`` is the gradient.
    """

    winner: IntArray
    due: IntArray
    noted: IntArray
    options: IntArray
    until: IntArray
    listed: IntArray
    tally: IntArray
    values: FloatArray
    data: FloatArray
    table: FloatArray


def new_lists(target: Any, n_classes: int) -> Lists:
    """Lists of a chain that has seen no row yet."""
    n_rows, n_columns = target.rows.values.shape
    return Lists(
        winner=np.zeros(n_rows, dtype=np.int32),
        due=np.zeros(n_rows, dtype=np.int64),
        noted=np.zeros(n_rows, dtype=np.int32),
        options=np.zeros((n_rows, ROOM), dtype=np.int32),
        until=np.zeros((n_rows, ROOM), dtype=np.int64),
        listed=np.zeros(n_rows, dtype=np.int32),
        tally=np.full(3, -1, dtype=np.int64),
        values=np.zeros(ROOM),
        data=np.zeros((n_classes, n_columns)),
        table=np.zeros((n_classes, n_columns), dtype=target.rows.values.dtype),
    )


def period_of(step: float, n_columns: int) -> int:
    """Steps from a pass over all rows to the next, one where noting rivals does not pay."""
    fewest = OF_LONG if n_columns >= LONG else FEWEST
    period = min(LONGEST, int(SKIN / (FARTHEST_MOVE * step)))
    return period if period >= fewest else 1


@inner_jit
def _steps_until(lead, stride):  # type: ignore[no-untyped-def]
    """Steps after which a lead can have been used up."""
    return max(1, int(min(1e6, np.ceil(lead / max(stride, 1e-30)))))


@inner_jit
def _note(hinge, lists, i, scores, skin, stride, clock):  # type: ignore[no-untyped-def]
    """Note winner and rivals of row ``i``; whether it has rivals."""
    label, margin = hinge.label[i], hinge.margin
    now = winner(margin, scores, label)
    top = scores[now] + (0.0 if now == label else margin)
    bar = scores.dtype.type(top - skin)
    bare = scores.dtype.type(top - skin - margin)
    above = 0
    for k in range(scores.shape[0]):
        above += scores[k] > bare
    above += (scores[label] > bar) - (scores[label] > bare)
    lists.winner[i] = now
    if above <= 1:
        return False
    lists.noted[i] = above if above <= ROOM else -1
    lead, n = top, 0
    for k in range(scores.shape[0]):
        value = scores[k] + (0.0 if k == label else margin)
        if scores[k] > (bar if k == label else bare):
            if k != now:
                lead = min(lead, top - value)
            if above <= ROOM:
                lists.options[i, n] = k
                lists.until[i, n] = clock + _steps_until(top - value, stride)
                n += 1
    lists.due[i] = clock + _steps_until(lead, stride)
    return True


@inner_jit
def _pass_over_all(  # type: ignore[no-untyped-def]
    target, lists, works, count, places, tables, scores, stride, period, clock
):
    """Winners of all rows, the rivals that they have, and the gradients."""
    hinge = target.hinge
    n_classes, n_columns = lists[0].table.shape
    for k in range(count):
        begin = places[k] % 2 * n_classes
        tally, data, table = lists[k].tally, lists[k].data, lists[k].table
        fresh = tally[0] < 0
        for i in range(tally[0]):
            lists[k].due[lists[k].listed[i]] = -1
        tally[0] = 0
        if fresh:
            tally[1] = tally[2] = 0
            for i in range(lists[k].winner.shape[0]):
                lists[k].winner[i] = -1
        for c in range(n_classes):
            for j in range(n_columns):
                tables[places[k] // 2, begin + c, j] = table[c, j]
                data[c, j] = target.drift[c * n_columns + j]
    n_rows, length = target.strata.start[-1], scores.shape[0]
    for first in range(0, n_rows, length):
        last = min(n_rows, first + length)
        block, part = target.rows.values[first:last], scores[: last - first]
        made = -1
        for k in range(count):
            pair, begin = places[k] // 2, places[k] % 2 * n_classes
            if pair != made:
                np.dot(block, tables[pair].T, part)
                made = pair
            one = lists[k]
            for i in range(first, last):
                own = part[i - first][begin : begin + n_classes]
                before, had_rivals = one.winner[i], one.due[i] == -1
                one.due[i] = 0
                if _note(hinge, one, i, own, period * stride[i], stride[i], clock):
                    one.listed[one.tally[0]] = i
                    one.tally[0] += 1
                now = one.winner[i]
                if before >= 0 and now != before:
                    one.tally[1] += 1
                    one.tally[2] += not had_rivals
                if now != hinge.reference[i]:
                    row_add(target.rows, i, hinge.cost[i], one.data[now])
                    row_add(target.rows, i, -hinge.cost[i], one.data[hinge.reference[i]])


@inner_jit
def _best_of_all(hinge, rows, one, i, stride, clock):  # type: ignore[no-untyped-def]
    """Winner of a row among all options, and when to look again."""
    label, table = hinge.label[i], one.table
    now, top, second = -1, -np.inf, -np.inf
    for k in range(table.shape[0]):
        value = row_dot(rows, i, table[k]) + (0.0 if k == label else hinge.margin)
        if value > top or (value == top and k == label):
            now, top, second = k, value, top
        elif value > second:
            second = value
    one.due[i] = clock + _steps_until(top - second, stride)
    return now


@inner_jit
def _best_of_noted(hinge, rows, one, i, stride, clock):  # type: ignore[no-untyped-def]
    """The same among those noted of which it is not known that they are behind.

    One that was behind another cannot have passed it, and that one is not before the winner.
    """
    label, table, n_options = hinge.label[i], one.table, one.noted[i]
    options, until, before = one.options[i], one.until[i], one.winner[i]
    values = one.values
    now, top = -1, -np.inf
    for m in range(n_options):
        k = options[m]
        values[m] = np.inf
        if k == before or until[m] <= clock + SOON:
            values[m] = row_dot(rows, i, table[k]) + (0.0 if k == label else hinge.margin)
            if values[m] > top or (values[m] == top and k == label):
                now, top = k, values[m]
    due = clock + (1 << 30)
    for m in range(n_options):
        if values[m] < np.inf:
            until[m] = clock + _steps_until(top - values[m], stride)
        if options[m] != now:
            due = min(due, until[m])
    one.due[i] = due
    return now


@inner_jit
def _look_again(target, one, stride, clock):  # type: ignore[no-untyped-def]
    """Winners of the rows that are due, and what they change of the gradient."""
    hinge, rows = target.hinge, target.rows
    for n in range(one.tally[0]):
        i = one.listed[n]
        if one.due[i] > clock:
            continue
        before = one.winner[i]
        if one.noted[i] < 0:
            now = _best_of_all(hinge, rows, one, i, stride[i], clock)
        else:
            now = _best_of_noted(hinge, rows, one, i, stride[i], clock)
        if now != before:
            row_add(rows, i, hinge.cost[i], one.data[now])
            row_add(rows, i, -hinge.cost[i], one.data[before])
            one.winner[i] = now


@inner_jit
def _gradients(  # type: ignore[no-untyped-def]
    target, states, works, count, lists, places, stride, period, tables, scores
):
    """Gradient of the energy at the position of every state, to ``gradient`` of its workspace."""
    n_classes, n_columns = lists[0].table.shape
    clock = states[0].clock[0]
    for k in range(count):
        weights, table = works[k].weights, lists[k].table
        to_weights(target.coordinates, states[k].position, weights)
        for c in range(n_classes):
            for j in range(n_columns):
                table[c, j] = weights[c * n_columns + j]
    if clock % period == 0 or lists[0].tally[0] < 0:
        _pass_over_all(target, lists, works, count, places, tables, scores, stride, period, clock)
    else:
        for k in range(count):
            _look_again(target, lists[k], stride, clock)
    for k in range(count):
        work, data = works[k], lists[k].data.reshape(n_classes * n_columns)
        prior_gradient(target.prior, work.weights, work.prior)
        for j in range(data.shape[0]):
            work.data[j] = data[j]
            work.weights[j] = data[j] + work.prior[j]
        pull_back(target.coordinates, work.weights, work.gradient)


@jit
def record_with_lists(  # type: ignore[no-untyped-def]
    dynamics,
    target,
    states,
    works,
    sources,
    count,
    thin,
    draws,
    trace,
    places,
    lists,
    stride,
    period,
):
    """:func:`.classes_side_by_side.record_classes_together` with what chains know of their rows."""
    n_classes, n_columns = lists[0].table.shape
    kind = target.rows.values.dtype
    tables = np.zeros((places[count - 1] // 2 + 1, 2 * n_classes, n_columns), kind)
    scores = np.zeros((min(LARGEST, max(SMALLEST, BLOCK // n_columns)), 2 * n_classes), kind)
    for n in range(draws.shape[1]):
        for _ in range(thin):
            led(dynamics, states, count)
            _gradients(target, states, works, count, lists, places, stride, period, tables, scores)
            if not moved(dynamics, target, states, works, sources, count, thin, n, trace):
                return n
        put(states, count, n, draws)
    return draws.shape[1]
