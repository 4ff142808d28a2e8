"""Small dense linear algebra for compiled code: no library call, no exception, no allocation.

The matrices here have a few dozen rows. A factorisation never fails: a pivot that rounding has
made too small is lifted to a tiny share of its diagonal, which is what a jitter would do.
"""

import math

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray

_SMALLEST_PIVOT = 1e-13


@inner_borrowing_jit
def cholesky(matrix: FloatArray) -> float:
    """Overwrite the lower triangle of ``matrix`` by its Cholesky factor; return log det."""
    size = matrix.shape[0]
    log_determinant = 0.0
    for j in range(size):
        floor = _SMALLEST_PIVOT * abs(matrix[j, j])
        pivot = matrix[j, j]
        for k in range(j):
            pivot -= matrix[j, k] * matrix[j, k]
        pivot = max(pivot, floor, 1e-300)
        log_determinant += math.log(pivot)
        root = math.sqrt(pivot)
        matrix[j, j] = root
        for i in range(j + 1, size):
            entry = matrix[i, j]
            for k in range(j):
                entry -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = entry / root
    return log_determinant


@inner_borrowing_jit
def invert_lower(matrix: FloatArray) -> None:
    """Overwrite a lower triangular matrix by its inverse; what is above the diagonal stays."""
    size = matrix.shape[0]
    for i in range(size):
        for k in range(i):
            weight = matrix[i, k]
            matrix[i, k] = 0.0
            for j in range(k + 1):
                matrix[i, j] -= weight * matrix[k, j]
        scale = 1.0 / matrix[i, i]
        for j in range(i):
            matrix[i, j] *= scale
        matrix[i, i] = scale


@inner_borrowing_jit
def square_lower(matrix: FloatArray) -> None:
    """Overwrite a lower triangular matrix L by the symmetric matrix L' L."""
    size = matrix.shape[0]
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, size):
                total += matrix[k, i] * matrix[k, j]
            matrix[i, j] = total
            matrix[j, i] = total


@inner_borrowing_jit
def solve_lower(factor: FloatArray, vector: FloatArray) -> None:
    """Overwrite ``vector`` by the solution of ``factor @ solution = vector``."""
    for i in range(vector.shape[0]):
        entry = vector[i]
        for j in range(i):
            entry -= factor[i, j] * vector[j]
        vector[i] = entry / factor[i, i]


@inner_borrowing_jit
def solve_lower_transposed(factor: FloatArray, vector: FloatArray) -> None:
    """Overwrite ``vector`` by the solution of ``factor.T @ solution = vector``."""
    for i in range(vector.shape[0] - 1, -1, -1):
        entry = vector[i] / factor[i, i]
        vector[i] = entry
        for j in range(i):
            vector[j] -= factor[i, j] * entry


@inner_borrowing_jit
def dot(first: FloatArray, second: FloatArray) -> float:
    """Inner product of two short vectors."""
    total = 0.0
    for i in range(first.shape[0]):
        total += first[i] * second[i]
    return total


@inner_borrowing_jit
def dot_row(matrix: FloatArray, index: int, vector: FloatArray) -> float:
    """Inner product of one row of ``matrix`` with a vector; hot loops make no views."""
    total = 0.0
    for i in range(vector.shape[0]):
        total += matrix[index, i] * vector[i]
    return total


@inner_borrowing_jit
def accumulate_outer(total: FloatArray, block: FloatArray, weight: FloatArray) -> None:
    """Add ``block.T @ diag(weight) @ block`` to the lower triangle of ``total``.

    Four rows at a time share one pass over ``total``; a block has a multiple of four rows (unused
    ones carry weight zero).
    """
    size = total.shape[0]
    for r in range(0, block.shape[0], 4):
        first, second, third, fourth = block[r], block[r + 1], block[r + 2], block[r + 3]
        for i in range(size):
            a, b = weight[r] * first[i], weight[r + 1] * second[i]
            c, d = weight[r + 2] * third[i], weight[r + 3] * fourth[i]
            line = total[i]
            for j in range(i + 1):
                line[j] += a * first[j] + b * second[j] + c * third[j] + d * fourth[j]
