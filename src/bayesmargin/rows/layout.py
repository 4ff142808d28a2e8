"""Compiled access to rows: the few operations that every pass and every subgradient is made of.

Weights of several classes come *interleaved* here, unless said otherwise: those of one feature side
by side, so that a row reads each of its features' weights for all classes at once.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.rows.products import eight_products, four_products


def row_dot(rows: Any, index: int, weights: FloatArray) -> float:
    """Inner product of row ``index`` with ``weights`` (generic; runs in compiled code only)."""
    raise TypeError(f"row_dot is compiled for row layouts only, not for {type(rows).__name__}")


def row_add(rows: Any, index: int, scale: float, out: FloatArray) -> None:
    """Add ``scale`` times row ``index`` to ``out`` (generic; runs in compiled code only)."""
    raise TypeError(f"row_add is compiled for row layouts only, not for {type(rows).__name__}")


def row_square_dot(rows: Any, index: int, weights: FloatArray) -> float:
    """Inner product of the squares of row ``index`` with ``weights`` (generic)."""
    raise TypeError(f"{type(rows).__name__} is not a row layout")


def row_square_add(rows: Any, index: int, scale: float, out: FloatArray) -> None:
    """Add ``scale`` times the squares of row ``index`` to ``out`` (generic)."""
    raise TypeError(f"{type(rows).__name__} is not a row layout")


def row_scores(rows: Any, index: int, table: FloatArray, scores: FloatArray) -> None:
    """Inner products of a row with every column of ``table`` (generic, compiled only)."""
    raise TypeError(f"{type(rows).__name__} is not a row layout")


def row_class_scores(rows: Any, index: int, table: FloatArray, scores: FloatArray) -> None:
    """Inner products of a row with every row of ``table``: weights class after class (generic)."""
    raise TypeError(f"{type(rows).__name__} is not a row layout")


def four_class_scores(
    rows: Any, places: tuple[int, int, int, int], table: FloatArray, scores: FloatArray
) -> None:
    """:func:`row_class_scores` of four rows at a time, (4, class): weights are read once for them.

    Generic; runs in compiled code only.
    """
    raise TypeError(f"{type(rows).__name__} is not a row layout")


def row_square_scores(rows: Any, index: int, table: FloatArray, scores: FloatArray) -> None:
    """Inner products of the squares of a row with every column of ``table`` (generic)."""
    raise TypeError(f"{type(rows).__name__} is not a row layout")


def row_spread(rows: Any, index: int, factors: FloatArray, power: int, out: FloatArray) -> None:
    """Add row ``index`` (``power`` 2: its squares) times each class's factor, interleaved."""
    raise TypeError(f"{type(rows).__name__} is not a row layout")


class DenseRows(NamedTuple):
    """Rows of a C-contiguous matrix, float32 or float64."""

    values: FloatArray


@implements(row_dot, DenseRows, borrows=True)
def dense_dot(rows, index, weights):  # type: ignore[no-untyped-def] # noqa: D103
    values = rows.values
    total = values.dtype.type(0.0)
    for j in range(values.shape[1]):
        total += values[index, j] * weights[j]
    return total


@implements(row_add, DenseRows, borrows=True)
def dense_add(rows, index, scale, out):  # type: ignore[no-untyped-def] # noqa: D103
    values = rows.values
    for j in range(values.shape[1]):
        out[j] += scale * values[index, j]


@implements(row_square_dot, DenseRows, borrows=True)
def dense_square_dot(rows, index, weights):  # type: ignore[no-untyped-def] # noqa: D103
    values = rows.values
    total = 0.0
    for j in range(values.shape[1]):
        total += values[index, j] * values[index, j] * weights[j]
    return total


@implements(row_square_add, DenseRows, borrows=True)
def dense_square_add(rows, index, scale, out):  # type: ignore[no-untyped-def] # noqa: D103
    values = rows.values
    for j in range(values.shape[1]):
        out[j] += scale * values[index, j] * values[index, j]


@implements(row_scores, DenseRows, borrows=True)
def dense_scores(rows, index, table, scores):  # type: ignore[no-untyped-def] # noqa: D103
    values = rows.values
    n_classes = table.shape[1]
    for k in range(n_classes):
        scores[k] = 0.0
    for j in range(values.shape[1]):
        value = values[index, j]
        for k in range(n_classes):
            scores[k] += value * table[j, k]


@implements(row_class_scores, DenseRows, borrows=True)
def dense_class_scores(rows, index, table, scores):  # type: ignore[no-untyped-def] # noqa: D103
    row, zero, count = rows.values[index], rows.values.dtype.type(0.0), scores.shape[0]
    for k in range(0, count - 3, 4):
        scores[k], scores[k + 1], scores[k + 2], scores[k + 3] = four_products(
            table[k], table[k + 1], table[k + 2], table[k + 3], row, zero
        )
    for k in range(count - count % 4, count):
        scores[k] = row_dot(rows, index, table[k])


@implements(four_class_scores, DenseRows, borrows=True)
def dense_four_scores(rows, places, table, scores):  # type: ignore[no-untyped-def] # noqa: D103
    values, zero, count = rows.values, rows.values.dtype.type(0.0), table.shape[0]
    a, b, c, d = values[places[0]], values[places[1]], values[places[2]], values[places[3]]
    for k in range(0, count - 1, 2):
        found = eight_products(a, b, c, d, table[k], table[k + 1], zero)
        for i in range(4):
            scores[i, k], scores[i, k + 1] = found[i], found[i + 4]
    if count % 2 == 1:
        k = count - 1
        scores[0, k], scores[1, k], scores[2, k], scores[3, k] = four_products(
            a, b, c, d, table[k], zero
        )


@implements(row_square_scores, DenseRows, borrows=True)
def dense_square_scores(rows, index, table, scores):  # type: ignore[no-untyped-def] # noqa: D103
    values, count = rows.values, scores.shape[0]
    for c in range(count):
        scores[c] = 0.0
    for j in range(values.shape[1]):
        square = values[index, j] * values[index, j]
        for c in range(count):
            scores[c] += square * table[j, c]


@implements(row_spread, DenseRows, borrows=True)
def dense_spread(rows, index, factors, power, out):  # type: ignore[no-untyped-def] # noqa: D103
    values, count = rows.values, factors.shape[0]
    for j in range(values.shape[1]):
        value = values[index, j] if power == 1 else values[index, j] * values[index, j]
        for c in range(count):
            out[j * count + c] += value * factors[c]


class SparseRows(NamedTuple):
    """Rows of a compressed sparse matrix, in any order and without a copy of its entries.

    Row ``i`` holds ``values[k]`` in column ``indices[k]`` for ``k`` from ``begin[i]`` to
    ``end[i]``; with ``constant`` equal to 1 it also holds a one in column ``last``, the intercept.
    """

    begin: IntArray
    end: IntArray
    indices: IntArray
    values: FloatArray
    constant: int
    last: int


# Numba lets an index count from the end, and asks of every signed one whether it does; unsigned
# ones are not asked, which takes a third off an inner product.
WORD = np.uint64
ONE, TWO, THREE, FOUR = WORD(1), WORD(2), WORD(3), WORD(4)


@implements(row_dot, SparseRows, borrows=True)
def sparse_dot(rows, index, weights):  # type: ignore[no-untyped-def] # noqa: D103
    values, columns = rows.values, rows.indices
    k, end = WORD(rows.begin[index]), WORD(rows.end[index])
    # Four sums, since each addition to a single one would wait for the last.
    first = second = third = fourth = weights.dtype.type(0)
    while k + FOUR <= end:
        first += values[k] * weights[WORD(columns[k])]
        second += values[k + ONE] * weights[WORD(columns[k + ONE])]
        third += values[k + TWO] * weights[WORD(columns[k + TWO])]
        fourth += values[k + THREE] * weights[WORD(columns[k + THREE])]
        k += FOUR
    while k < end:
        first += values[k] * weights[WORD(columns[k])]
        k += ONE
    total = (first + second) + (third + fourth)
    return total + weights[rows.last] if rows.constant else total


@implements(row_add, SparseRows, borrows=True)
def sparse_add(rows, index, scale, out):  # type: ignore[no-untyped-def] # noqa: D103
    values, columns = rows.values, rows.indices
    for k in range(WORD(rows.begin[index]), WORD(rows.end[index])):
        out[WORD(columns[k])] += scale * values[k]
    if rows.constant:
        out[rows.last] += scale


@implements(row_square_dot, SparseRows, borrows=True)
def sparse_square_dot(rows, index, weights):  # type: ignore[no-untyped-def] # noqa: D103
    values, columns = rows.values, rows.indices
    total = 0.0
    for k in range(WORD(rows.begin[index]), WORD(rows.end[index])):
        total += values[k] * values[k] * weights[WORD(columns[k])]
    return total + weights[rows.last] if rows.constant else total


@implements(row_square_add, SparseRows, borrows=True)
def sparse_square_add(rows, index, scale, out):  # type: ignore[no-untyped-def] # noqa: D103
    values, columns = rows.values, rows.indices
    for k in range(WORD(rows.begin[index]), WORD(rows.end[index])):
        out[WORD(columns[k])] += scale * values[k] * values[k]
    if rows.constant:
        out[rows.last] += scale


@implements(row_scores, SparseRows, borrows=True)
def sparse_scores(rows, index, table, scores):  # type: ignore[no-untyped-def] # noqa: D103
    count = scores.shape[0]
    values, columns = rows.values, rows.indices
    for c in range(count):
        scores[c] = table[rows.last, c] if rows.constant else 0.0
    k, end = WORD(rows.begin[index]), WORD(rows.end[index])
    # Four entries at a time, since reading and writing the scores takes longer than adding to them.
    while k + FOUR <= end:
        one, two, three, four = values[k], values[k + ONE], values[k + TWO], values[k + THREE]
        first, second = table[WORD(columns[k])], table[WORD(columns[k + ONE])]
        third, fourth = table[WORD(columns[k + TWO])], table[WORD(columns[k + THREE])]
        for c in range(count):
            scores[c] += (one * first[c] + two * second[c]) + (three * third[c] + four * fourth[c])
        k += FOUR
    while k < end:
        value, column = values[k], WORD(columns[k])
        for c in range(count):
            scores[c] += value * table[column, c]
        k += ONE


@implements(row_class_scores, SparseRows, borrows=True)
def sparse_class_scores(rows, index, table, scores):  # type: ignore[no-untyped-def] # noqa: D103
    for k in range(scores.shape[0]):
        scores[k] = row_dot(rows, index, table[k])


@implements(four_class_scores, SparseRows, borrows=True)
def sparse_four_scores(rows, places, table, scores):  # type: ignore[no-untyped-def] # noqa: D103
    for i in range(4):
        row_class_scores(rows, places[i], table, scores[i])


@implements(row_square_scores, SparseRows, borrows=True)
def sparse_square_scores(rows, index, table, scores):  # type: ignore[no-untyped-def] # noqa: D103
    count = scores.shape[0]
    for c in range(count):
        scores[c] = table[rows.last, c] if rows.constant else 0.0
    for k in range(rows.begin[index], rows.end[index]):
        square, column = rows.values[k] * rows.values[k], rows.indices[k]
        for c in range(count):
            scores[c] += square * table[column, c]


@implements(row_spread, SparseRows, borrows=True)
def sparse_spread(rows, index, factors, power, out):  # type: ignore[no-untyped-def] # noqa: D103
    count = factors.shape[0]
    for k in range(rows.begin[index], rows.end[index]):
        value = rows.values[k] if power == 1 else rows.values[k] * rows.values[k]
        first = rows.indices[k] * count
        for c in range(count):
            out[first + c] += value * factors[c]
    if rows.constant:
        for c in range(count):
            out[rows.last * count + c] += factors[c]
