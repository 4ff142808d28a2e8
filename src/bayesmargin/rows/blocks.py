"""What passes over all rows do with a block, dense or sparse, single-threaded and in one reading.

A block from :meth:`RowSource.blocks` is small, and a multi-threaded matrix-vector product spends
longer waking its threads than multiplying; sparse blocks need their own loops anyway.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.rows.layout import (
    DenseRows,
    SparseRows,
    row_add,
    row_dot,
    row_square_add,
    row_square_dot,
)

THREADS_PAY = 1024  # columns from which a block's matrix products gain from several threads
GATHERED_BYTES = 1 << 27  # up to here rows are copied into the order in which they are read

Block = FloatArray | SparseRows


@cache
def _thread_pools() -> ThreadpoolController:
    """Looking for the libraries takes as long as a pass over some thousand rows: once is enough."""
    return ThreadpoolController()


def one_blas_thread() -> AbstractContextManager[Any]:
    """One BLAS thread in this context."""
    limited: AbstractContextManager[Any] = _thread_pools().limit(limits=1, user_api="blas")
    return limited


def narrow_blas(n_columns: int) -> AbstractContextManager[Any]:
    """One BLAS thread while blocks are narrow; on a busy machine waiting for more costs tenfold."""
    return one_blas_thread() if n_columns < THREADS_PAY else nullcontext()


def by_column(block: Any) -> bool:
    """Whether a block is dense and lies column by column, as those of Parquet files do."""
    return not isinstance(block, SparseRows) and not block.flags.c_contiguous


def as_rows(block: Block) -> DenseRows | SparseRows:
    """Block in the form that compiled code reads."""
    if isinstance(block, SparseRows):
        return block
    return DenseRows(np.ascontiguousarray(block))


def gathered(rows: DenseRows | SparseRows) -> DenseRows | SparseRows:
    """Sparse rows one after another in memory, in single precision, unless they are too many.

    Rows that lie scattered take twice as long to read.
    """
    if not isinstance(rows, SparseRows):
        return rows
    if 8 * int((rows.end - rows.begin).sum()) > GATHERED_BYTES:
        return rows
    place, length = _entries(rows)
    end = np.cumsum(length)
    values = rows.values[place].astype(np.float32)
    columns = rows.indices[place].astype(np.uint32)
    return rows._replace(begin=end - length, end=end, indices=columns, values=values)


def _entries(rows: SparseRows) -> tuple[IntArray, IntArray]:
    """Places of the entries of all rows, one row after another, and how many each row has."""
    length = (rows.end - rows.begin).astype(np.int64)
    end = np.cumsum(length)
    return np.repeat(rows.begin - (end - length), length) + np.arange(int(length.sum())), length


def as_dense(block: Block, n_columns: int) -> FloatArray:
    """Block as a matrix."""
    if not isinstance(block, SparseRows):
        return np.asarray(block)
    place, length = _entries(block)
    result = np.zeros((len(length), n_columns))
    result[np.repeat(np.arange(len(length)), length), block.indices[place]] = block.values[place]
    if block.constant:
        result[:, block.last] = 1.0
    return result


def block_length(block: Block) -> int:
    """Number of rows of a block."""
    return len(block.begin) if isinstance(block, SparseRows) else block.shape[0]


def block_scores(block: Any, weights: FloatArray, scale: FloatArray) -> tuple[Any, Any]:
    """Inner products of the rows with ``weights``, and norms of the rows times ``scale``."""
    size = block_length(block)
    scores, norms = np.empty(size), np.empty(size)
    if by_column(block):
        _column_scores(np.ascontiguousarray(block.T), weights, scale * scale, scores, norms)
    else:
        _scores(as_rows(block), weights, scale * scale, scores, norms)
    return scores, norms


def block_products(block: Block, weights: FloatArray) -> FloatArray:
    """Inner products of the rows with ``weights``."""
    scores = np.empty(block_length(block))
    _products(as_rows(block), weights, scores)
    return scores


def block_sum(block: Any, factors: FloatArray, total: FloatArray) -> None:
    """Add the rows, each times its factor, to ``total``."""
    if by_column(block):
        _column_sum(np.ascontiguousarray(block.T), factors, total)
    else:
        _sum(as_rows(block), factors, total)


def block_square_sum(block: Block, factors: FloatArray, total: FloatArray) -> None:
    """Add the squares of the rows, each times its factor, to ``total``."""
    _square_sum(as_rows(block), factors, total)


@jit
def _scores(rows, weights, squares, scores, norms):  # type: ignore[no-untyped-def]
    for i in range(scores.shape[0]):
        scores[i] = row_dot(rows, i, weights)
        norms[i] = np.sqrt(row_square_dot(rows, i, squares))


@jit
def _products(rows, weights, scores):  # type: ignore[no-untyped-def]
    for i in range(scores.shape[0]):
        scores[i] = row_dot(rows, i, weights)


@jit
def _sum(rows, factors, total):  # type: ignore[no-untyped-def]
    for i in range(factors.shape[0]):
        if factors[i] != 0.0:
            row_add(rows, i, factors[i], total)


@jit
def _square_sum(rows, factors, total):  # type: ignore[no-untyped-def]
    for i in range(factors.shape[0]):
        if factors[i] != 0.0:
            row_square_add(rows, i, factors[i], total)


@jit
def _column_scores(columns, weights, squares, scores, norms):  # type: ignore[no-untyped-def]
    """The same for columns, two at a time: sums over the rows of a block stay in the cache."""
    scores[:] = 0.0
    norms[:] = 0.0
    count = columns.shape[0]
    for j in range(0, count, 2):
        k = min(j + 1, count - 1)
        first, second = columns[j], columns[k]
        one, other = weights[j], weights[k] if k > j else 0.0
        spread, rest = squares[j], squares[k] if k > j else 0.0
        for i in range(scores.shape[0]):
            x, y = np.float64(first[i]), np.float64(second[i])
            scores[i] += one * x + other * y
            norms[i] += spread * x * x + rest * y * y
    for i in range(norms.shape[0]):
        norms[i] = np.sqrt(norms[i])


@jit
def _column_sum(columns, factors, total):  # type: ignore[no-untyped-def]
    for j in range(columns.shape[0]):
        column = columns[j]
        part = 0.0
        for i in range(factors.shape[0]):
            part += factors[i] * column[i]
        total[j] += part
