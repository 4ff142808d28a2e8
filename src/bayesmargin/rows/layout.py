"""Compiled access to rows: the two operations every subgradient is made of."""

from typing import Any, NamedTuple

from bayesmargin.compiling import implements
from bayesmargin.types import FloatArray


def row_dot(rows: Any, index: int, weights: FloatArray) -> float:
    """Inner product of row ``index`` with ``weights`` (generic; runs in compiled code only)."""
    raise TypeError(f"row_dot is compiled for row layouts only, not for {type(rows).__name__}")


def row_add(rows: Any, index: int, scale: float, out: FloatArray) -> None:
    """Add ``scale`` times row ``index`` to ``out`` (generic; runs in compiled code only)."""
    raise TypeError(f"row_add is compiled for row layouts only, not for {type(rows).__name__}")


def row_scores(rows: Any, index: int, table: FloatArray, scores: FloatArray) -> None:
    """Inner products of a row with every column of ``table`` (generic, compiled only)."""
    raise TypeError(f"row_scores is compiled for row layouts only, not for {type(rows).__name__}")


class DenseRows(NamedTuple):
    """Rows of a C-contiguous matrix, float32 or float64."""

    values: FloatArray


@implements(row_dot, DenseRows)
def dense_dot(rows, index, weights):  # type: ignore[no-untyped-def] # noqa: D103
    values = rows.values
    total = values.dtype.type(0.0)
    for j in range(values.shape[1]):
        total += values[index, j] * weights[j]
    return total


@implements(row_add, DenseRows)
def dense_add(rows, index, scale, out):  # type: ignore[no-untyped-def] # noqa: D103
    values = rows.values
    for j in range(values.shape[1]):
        out[j] += scale * values[index, j]


@implements(row_scores, DenseRows)
def dense_scores(rows, index, table, scores):  # type: ignore[no-untyped-def] # noqa: D103
    values = rows.values
    n_classes = table.shape[1]
    for k in range(n_classes):
        scores[k] = 0.0
    for j in range(values.shape[1]):
        value = values[index, j]
        for k in range(n_classes):
            scores[k] += value * table[j, k]
