r"""What a sampler samples from: the energy of the weights and an unbiased estimate of its gradient.

The gradient of :math:`U(w) = -\log p_0(w) - \sum_d \log\psi_d(w)` is estimated from a few rows by

.. math:: g = \nabla(-\log p_0) + G_0
          - \sum_s \frac{N_s}{B_s} \sum_{d \in \text{batch}_s}
            \left[\partial\log\psi_d(w) - \partial\log\psi_d(\text{reference})\right],

where :math:`G_0` is the full-data gradient at the reference and rows lie in strata :math:`s` of
:math:`N_s` rows. The hinge makes the control variate free: the state of a row at the reference is
one stored number, and the bracket vanishes unless that state has changed. A plain minibatch is the
same formula with one stratum, a reference at which every row is inactive, and :math:`G_0 = 0`.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit, inner_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.hinge import binary_log_psi, multiclass_log_psi, still_wins, winner
from bayesmargin.priors.densities import prior_energy, prior_gradient
from bayesmargin.rows.layout import (
    DenseRows,
    four_class_scores,
    row_add,
    row_class_scores,
    row_dot,
    row_scores,
)
from bayesmargin.targets.coordinates import n_positions, pull_back, to_weights


class BinaryHinge(NamedTuple):
    """Binary rows: slack at weights ``w`` is ``slack[d] - sign[d] * x_d.w``; cost is ``c``."""

    sign: FloatArray
    slack: FloatArray
    cost: FloatArray
    reference: IntArray


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


class Strata(NamedTuple):
    """Stratum ``s`` holds rows ``start[s]`` to ``start[s + 1]``; a batch takes ``take[s]``."""

    start: IntArray
    take: IntArray


class Target(NamedTuple):
    """Everything that one gradient estimate reads."""

    rows: Any
    hinge: Any
    prior: Any
    coordinates: Any
    strata: Strata
    drift: FloatArray


class Workspace(NamedTuple):
    """Scratch arrays of one chain, so that steps allocate nothing."""

    weights: FloatArray
    working: FloatArray
    data: FloatArray
    prior: FloatArray
    scores: FloatArray
    four_scores: FloatArray
    gradient: FloatArray


def working_type(target: Target) -> Any:
    """Precision in which rows are multiplied with weights: that of dense rows, single for sparse.

    Sparse rows keep the values they came with, so that they need no copy.
    """
    return target.rows.values.dtype if isinstance(target.rows, DenseRows) else np.float32


def workspace(target: Target, dtype: Any) -> Workspace:
    """Scratch arrays for one chain over ``target`` whose rows have type ``dtype``."""
    n_weights = target.drift.shape[0]
    n_classes = getattr(target.hinge, "n_classes", 1)
    return Workspace(
        weights=np.zeros(n_weights),
        working=np.zeros(n_weights, dtype=dtype),
        data=np.zeros(n_weights),
        prior=np.zeros(n_weights),
        scores=np.zeros(n_classes, dtype=dtype),
        four_scores=np.zeros((4, n_classes), dtype=dtype),
        gradient=np.zeros(n_positions(target.coordinates, n_weights)),
    )


def add_rows(
    hinge: Any, rows: Any, block: tuple[int, int, int, int], scale: float, work: Any
) -> float:
    """Add ``scale`` times the change of some rows' energy gradient to ``work.data`` (generic).

    Returns ``scale`` times the energy that belongs to it: the hinge minus the linear function that
    continues it from the reference, which is zero for every row whose state has not changed.

    ``block`` is ``(first, size, index, count)``: from the stratum of ``size`` rows that begins at
    ``first``, the ``count`` rows from ``index`` on, round the end. Whole blocks and not single rows
    cross this interface, since handing over arrays costs as much as a short inner product.
    """
    raise TypeError(f"{type(hinge).__name__} is not a hinge")


def row_log_psi(hinge: Any, rows: Any, index: int, weights: FloatArray, work: Any) -> float:
    """Log pseudo-likelihood of one row at weights in working precision (generic)."""
    raise TypeError(f"{type(hinge).__name__} is not a hinge")


@implements(add_rows, BinaryHinge, borrows=True)
def _add_binary(hinge, rows, block, scale, work):  # type: ignore[no-untyped-def]
    first, size, index, count = block
    signs, slacks, references = hinge.sign, hinge.slack, hinge.reference
    weights, data = work.working, work.data
    energy = 0.0
    for _ in range(count):
        d = first + index
        sign = signs[d]
        slack = slacks[d] - sign * row_dot(rows, d, weights)
        active = 1 if slack > 0.0 else 0
        change = active - references[d]
        if change != 0:
            push = scale * hinge.cost[d] * change
            row_add(rows, d, -push * sign, data)
            energy += push * slack
        index += 1
        if index == size:
            index = 0
    return energy


@implements(row_log_psi, BinaryHinge, borrows=True)
def _binary_row_log_psi(hinge, rows, index, weights, work):  # type: ignore[no-untyped-def]
    score = row_dot(rows, index, weights)
    return binary_log_psi(hinge.cost[index], hinge.slack[index], hinge.sign[index], score)


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


@inner_borrowing_jit
def set_working(weights, working):  # type: ignore[no-untyped-def]
    """Copy weights to the precision in which rows are multiplied with them."""
    # A loop and not a slice: assigning slices costs Numba a check of shapes every time.
    for j in range(weights.shape[0]):
        working[j] = weights[j]


@inner_borrowing_jit
def estimate_gradient(target, position, rng, work):  # type: ignore[no-untyped-def]
    """Unbiased estimate of the energy gradient at ``position``, written to ``work.gradient``.

    ``work.data`` and ``work.prior`` keep its two parts in weight coordinates. From each stratum a
    run of neighbouring rows is read, from a random start and round the end: rows were shuffled
    once, every row is equally likely, and memory is read in order.
    """
    weights, data, drift = work.weights, work.data, target.drift
    to_weights(target.coordinates, position, weights)
    set_working(weights, work.working)
    for j in range(drift.shape[0]):
        data[j] = drift[j]
    start, take = target.strata.start, target.strata.take
    for s in range(take.shape[0]):
        first, size, count = start[s], start[s + 1] - start[s], take[s]
        if count == 0:
            continue
        index = 0 if count == size else int(rng.random() * size)
        block = (first, size, index, count)
        add_rows(target.hinge, target.rows, block, size / count, work)
    prior = work.prior
    prior_gradient(target.prior, weights, prior)
    for j in range(weights.shape[0]):
        weights[j] = data[j] + prior[j]
    pull_back(target.coordinates, weights, work.gradient)


@inner_jit
def energy(target, position, work, n_strata=-1):  # type: ignore[no-untyped-def]
    r"""Energy :math:`U` at ``position`` up to a constant; its gradient goes to ``work.gradient``.

    Every row of the first ``n_strata`` strata is read (of all of them by default). Rows contribute
    their hinge minus its continuation from the reference, and ``drift`` the continuations.
    """
    weights, data, drift = work.weights, work.data, target.drift
    to_weights(target.coordinates, position, weights)
    set_working(weights, work.working)
    for j in range(drift.shape[0]):
        data[j] = drift[j]
    start = target.strata.start
    last = start.shape[0] - 1 if n_strata < 0 else n_strata
    total = prior_energy(target.prior, work.weights)
    for j in range(work.weights.shape[0]):
        total += target.drift[j] * work.weights[j]
    if start[last] > 0:
        block = (0, start[last], 0, start[last])
        total += add_rows(target.hinge, target.rows, block, 1.0, work)
    prior = work.prior
    prior_gradient(target.prior, weights, prior)
    for j in range(weights.shape[0]):
        weights[j] = data[j] + prior[j]
    pull_back(target.coordinates, weights, work.gradient)
    return total
