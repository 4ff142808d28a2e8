"""What passes over all rows do with a block, dense or sparse, single-threaded and in one reading.

A block from :meth:`RowSource.blocks` is small, and a multi-threaded matrix-vector product spends
longer waking its threads than multiplying; sparse blocks need their own loops anyway.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from bayesmargin.compiling import jit
from bayesmargin.types import FloatArray

THREADS_PAY = 256  # columns from which a block's matrix products gain from several threads


def narrow_blas(n_columns: int) -> AbstractContextManager[Any]:
    """One BLAS thread while blocks are narrow; on a busy machine waiting for more costs tenfold."""
    return threadpool_limits(1, "blas") if n_columns < THREADS_PAY else nullcontext()


def block_scores(block: Any, weights: FloatArray, scale: FloatArray) -> tuple[Any, Any]:
    """Inner products of the rows with ``weights``, and norms of the rows times ``scale``."""
    size = block.shape[0]
    scores, norms = np.empty(size), np.empty(size)
    if sparse.issparse(block):
        scores[:] = block @ weights
        squares = block.copy()
        squares.data = np.square(block.data, dtype=float)
        norms[:] = np.sqrt(squares @ (scale * scale))
    else:
        _dense_scores(block, weights, scale * scale, scores, norms)
    return scores, norms


def block_sum(block: Any, factors: FloatArray) -> FloatArray:
    """Sum of the rows, each times its factor."""
    if sparse.issparse(block):
        return np.asarray(block.T @ factors)
    total = np.zeros(block.shape[1])
    _dense_sum(block, factors, total)
    return total


@jit
def _dense_scores(values, weights, squares, scores, norms):  # type: ignore[no-untyped-def]
    for i in range(values.shape[0]):
        score, norm = 0.0, 0.0
        for j in range(values.shape[1]):
            score += values[i, j] * weights[j]
            norm += values[i, j] * values[i, j] * squares[j]
        scores[i] = score
        norms[i] = np.sqrt(norm)


@jit
def _dense_sum(values, factors, total):  # type: ignore[no-untyped-def]
    for i in range(values.shape[0]):
        if factors[i] != 0.0:
            for j in range(values.shape[1]):
                total[j] += factors[i] * values[i, j]
