"""A largest of scores: the hinge of Crammer and Singer, by class or with classes interleaved."""

from typing import NamedTuple

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.base import add_rows, row_log_psi
from bayesmargin.likelihoods.hinge import multiclass_log_psi, still_wins, winner
from bayesmargin.rows.layout import four_class_scores, row_add, row_class_scores, row_scores


class MulticlassHinge(NamedTuple):
    """Multi-class rows: ``reference`` is the winning option of each row at the reference."""

    label: IntArray
    margin: float
    n_classes: int
    cost: FloatArray
    reference: IntArray


class InterleavedHinge(NamedTuple):
    """Multi-class rows over interleaved weights: the classes of one feature side by side."""

    label: IntArray
    margin: float
    n_classes: int
    cost: FloatArray
    reference: IntArray


@inner_borrowing_jit
def _add_multiclass_row(hinge, rows, d, scores, scale, data):  # type: ignore[no-untyped-def]
    """Add one row whose scores are known; return its energy. Nothing unless its state changed."""
    label, before = hinge.label[d], hinge.reference[d]
    if still_wins(hinge.margin, scores, label, before):
        return 0.0
    now = winner(hinge.margin, scores, label)
    if now == before:
        return 0.0
    length = data.shape[0] // hinge.n_classes
    push = scale * hinge.cost[d]
    margins = (1.0 if now != label else 0.0) - (1.0 if before != label else 0.0)
    row_add(rows, d, push, data[now * length : (now + 1) * length])
    row_add(rows, d, -push, data[before * length : (before + 1) * length])
    return push * (scores[now] - scores[before] + hinge.margin * margins)


@implements(add_rows, MulticlassHinge, borrows=True)
def _add_multiclass(hinge, rows, block, scale, work):  # type: ignore[no-untyped-def]
    first, size, index, count = block
    weights, data, scores, four = work.working, work.data, work.scores, work.four_scores
    table = weights.reshape(hinge.n_classes, weights.shape[0] // hinge.n_classes)
    energy = 0.0
    for _ in range(count // 4):
        places = (
            first + index,
            first + (index + 1) % size,
            first + (index + 2) % size,
            first + (index + 3) % size,
        )
        four_class_scores(rows, places, table, four)
        for i in range(4):
            energy += _add_multiclass_row(hinge, rows, places[i], four[i], scale, data)
        index = (index + 4) % size
    for _ in range(count % 4):
        d = first + index
        row_class_scores(rows, d, table, scores)
        energy += _add_multiclass_row(hinge, rows, d, scores, scale, data)
        index += 1
        if index == size:
            index = 0
    return energy


@implements(row_log_psi, MulticlassHinge, borrows=True)
def _multiclass_row_log_psi(hinge, rows, index, weights, work):  # type: ignore[no-untyped-def]
    table = weights.reshape(hinge.n_classes, weights.shape[0] // hinge.n_classes)
    row_class_scores(rows, index, table, work.scores)
    label = hinge.label[index]
    return multiclass_log_psi(hinge.cost[index], hinge.margin, work.scores, label)


@implements(add_rows, InterleavedHinge)
def _add_interleaved(hinge, rows, block, scale, work):  # type: ignore[no-untyped-def]
    first, size, index, count = block
    data, scores, n_classes = work.data, work.scores, hinge.n_classes
    table = work.working.reshape(work.working.shape[0] // n_classes, n_classes)
    energy = 0.0
    for _ in range(count):
        d = first + index
        row_scores(rows, d, table, scores)
        label, before = hinge.label[d], hinge.reference[d]
        now = winner(hinge.margin, scores, label)
        if now != before:
            push = scale * hinge.cost[d]
            margins = (1.0 if now != label else 0.0) - (1.0 if before != label else 0.0)
            energy += push * (scores[now] - scores[before] + hinge.margin * margins)
            row_add(rows, d, push, data[now::n_classes])
            row_add(rows, d, -push, data[before::n_classes])
        index += 1
        if index == size:
            index = 0
    return energy
