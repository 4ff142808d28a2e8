"""Rows in blocks that fit the cache, column by column, and the two products taken of them.

A block holds :data:`ROWS` rows transposed, so that scores, weights and columns are vectors along
the rows and every loop over them is vectorised. A whole sweep reads the data once: scores,
augmentation and weighted Gram matrix of a block are made while it is in the cache.

Blocks are of double or of single precision (:mod:`bayesmargin.augmentation.single`). Sums
within a block have the precision of the block; sums over blocks are always double.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit, inner_jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.rows.blocks import as_dense
from bayesmargin.targets.problem import Problem

ROWS = 256
TILE = 4
DENSE_BYTES = 1 << 33
WIDE = 160  # columns from which the matrix product of the BLAS beats the tiles


class Blocks(NamedTuple):
    """Transposed blocks (block, column, row), with zeros beyond the last row.

    There is room for at least one column more than there are, rounded up to whole tiles.
    """

    values: FloatArray
    n_rows: int
    n_columns: int


def blocks_of(problem: Problem) -> Blocks:
    """Rows of a problem in blocks of double precision."""
    n_rows, n_columns = problem.source.n_rows, problem.source.n_columns
    if 8 * n_rows * n_columns > DENSE_BYTES:
        raise ValueError(
            f"AugmentationGibbs holds all rows densely, and {n_rows} rows of {n_columns} columns "
            f'take {8e-9 * n_rows * n_columns:.1f} GB: choose sampler="auto", or fewer rows or '
            "features"
        )
    size = min(ROWS, n_rows)
    padded = (n_columns // TILE + 1) * TILE
    values = np.zeros((-(-n_rows // size), padded, size))
    for block in range(len(values)):
        index = np.arange(block * size, min((block + 1) * size, n_rows))
        values[block, :n_columns, : index.size] = as_dense(problem.source.take(index), n_columns).T
    return Blocks(values, n_rows, n_columns)


def blocked(blocks: Blocks, per_row: Any) -> Any:
    """One number a row in the shape of the blocks: (block, row), zeros beyond the last row."""
    count, _, size = blocks.values.shape
    padded = np.zeros(count * size, dtype=per_row.dtype)
    padded[: blocks.n_rows] = per_row
    return padded.reshape(count, size)


@inner_borrowing_jit
def block_scores(block, weights, out):  # type: ignore[no-untyped-def]
    """Scores of the rows of a block: ``out[k] = sum_j weights[j] block[j, k]``."""
    real = block.dtype.type
    whole = weights.shape[0] // TILE * TILE
    out[:] = 0.0
    for j in range(0, whole, TILE):
        c0, c1, c2, c3 = block[j], block[j + 1], block[j + 2], block[j + 3]
        w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        r0, r1, r2, r3 = real(w0), real(w1), real(w2), real(w3)
        for k in range(out.shape[0]):
            out[k] += (r0 * c0[k] + r1 * c1[k]) + (r2 * c2[k] + r3 * c3[k])
    for j in range(whole, weights.shape[0]):
        column, weight = block[j], real(weights[j])
        for k in range(out.shape[0]):
            out[k] += weight * column[k]


@inner_borrowing_jit
def scale_columns(block, size, omega, pull, cost, heavy, root, scaled):  # type: ignore[no-untyped-def]
    r"""Write the columns :math:`\sqrt{\omega}\,x_j` and, after them, :math:`t/\sqrt{\omega}`.

    With :math:`t` the pull of a row, the products of that last column with the others are the
    linear term of the weights, at no further pass. Rows with ``1/lambda`` above ``heavy`` are left
    out, for :func:`add_heavy_rows`; their number is returned.
    """
    zero, one, tiny = root.dtype.type(0.0), root.dtype.type(1.0), root.dtype.type(1e-30)
    extra, limit, n_heavy = scaled[size], heavy * root.dtype.type(0.25), zero
    for k in range(root.shape[0]):
        light = omega[k] <= limit * cost[k] * cost[k]
        kept = omega[k] if light else zero
        n_heavy += zero if light else one
        weight = math.sqrt(kept)
        root[k] = weight
        extra[k] = (pull[k] if light else zero) / max(weight, tiny)
    for j in range(size):
        column, out = block[j], scaled[j]
        for k in range(root.shape[0]):
            out[k] = root[k] * column[k]
    return n_heavy


@inner_borrowing_jit
def add_heavy_rows(block, size, omega, pull, cost, heavy, gram):  # type: ignore[no-untyped-def]
    """Add the few rows that :func:`scale_columns` left out to ``gram``, in double precision."""
    limit = heavy * omega.dtype.type(0.25)
    for k in range(omega.shape[0]):
        if omega[k] > limit * cost[k] * cost[k]:
            for i in range(size):
                value = np.float64(block[i, k])
                gram[i, size] += pull[k] * value
                for j in range(i, size):
                    gram[i, j] += omega[k] * value * block[j, k]


@inner_borrowing_jit
def add_gram(scaled, product, gram):  # type: ignore[no-untyped-def]
    """Add ``scaled @ scaled.T`` to the upper triangle of ``gram``."""
    if scaled.shape[0] > WIDE:
        _add_product(scaled, product, gram)
        return
    for i in range(0, scaled.shape[0], TILE):
        for j in range(i, scaled.shape[0], TILE):
            _add_tile(scaled, i, j, gram)


@inner_jit
def _add_product(scaled, product, gram):  # type: ignore[no-untyped-def]
    """The same by the BLAS."""
    np.dot(scaled, scaled.T, product)
    for i in range(gram.shape[0]):
        for j in range(i, gram.shape[0]):
            gram[i, j] += product[i, j]


@inner_borrowing_jit
def _add_tile(scaled, i, j, gram):  # type: ignore[no-untyped-def]
    """Products of four columns with four others: sixteen sums that stay in registers."""
    zero = scaled.dtype.type(0.0)
    a0 = a1 = a2 = a3 = b0 = b1 = b2 = b3 = zero
    c0 = c1 = c2 = c3 = d0 = d1 = d2 = d3 = zero
    p0, p1, p2, p3 = scaled[i], scaled[i + 1], scaled[i + 2], scaled[i + 3]
    q0, q1, q2, q3 = scaled[j], scaled[j + 1], scaled[j + 2], scaled[j + 3]
    for k in range(scaled.shape[1]):
        x0, x1, x2, x3 = p0[k], p1[k], p2[k], p3[k]
        y0, y1, y2, y3 = q0[k], q1[k], q2[k], q3[k]
        a0 += x0 * y0
        a1 += x0 * y1
        a2 += x0 * y2
        a3 += x0 * y3
        b0 += x1 * y0
        b1 += x1 * y1
        b2 += x1 * y2
        b3 += x1 * y3
        c0 += x2 * y0
        c1 += x2 * y1
        c2 += x2 * y2
        c3 += x2 * y3
        d0 += x3 * y0
        d1 += x3 * y1
        d2 += x3 * y2
        d3 += x3 * y3
    for r, sums in enumerate(
        ((a0, a1, a2, a3), (b0, b1, b2, b3), (c0, c1, c2, c3), (d0, d1, d2, d3))
    ):
        for s, total in enumerate(sums):
            gram[i + r, j + s] += total
