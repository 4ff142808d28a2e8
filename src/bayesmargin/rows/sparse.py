"""Rows of a compressed sparse matrix."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.rows.layout import SparseRows
from bayesmargin.rows.source import BLOCK_BYTES

DENSE_COLUMNS = 800  # up to here a full covariance is affordable, and whitened rows are dense


def canonical(matrix: Any) -> Any:
    """CSR matrix with sorted, unique, 32-bit (where they fit) indices and no explicit zeros.

    The argument is left as it is; a matrix already in this form is returned without a copy.

    Raises
    ------
    ValueError
        If an index lies outside the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from bayesmargin.rows.sparse import canonical
    >>> messy = sparse.csr_array((np.array([2.0, 0.0, 1.0]), [2, 1, 0], [0, 3]), shape=(1, 3))
    >>> canonical(messy).indices
    array([0, 2], dtype=int32)
    """
    matrix = sparse.csr_array(matrix)
    check_indices(matrix)
    small = max(matrix.shape[1], matrix.nnz) < np.iinfo(np.int32).max
    if small and matrix.indices.dtype != np.int32:
        parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
        matrix = sparse.csr_array(parts, shape=matrix.shape)
    if not (matrix.has_canonical_format and np.all(matrix.data)):
        matrix = matrix.copy()
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    return matrix


def check_indices(matrix: Any) -> None:
    """Raise a clear error for a CSR matrix whose indices point outside it."""
    bounds, indices = matrix.indptr, matrix.indices
    if bounds[0] != 0 or np.any(np.diff(bounds) < 0) or bounds[-1] > len(indices):
        raise ValueError("the row pointers (indptr) of the sparse matrix do not increase from 0")
    if len(indices) and (indices.min() < 0 or indices.max() >= matrix.shape[1]):
        wrong = int(np.flatnonzero((indices < 0) | (indices >= matrix.shape[1]))[0])
        row = int(np.searchsorted(bounds, wrong, side="right")) - 1
        raise ValueError(
            f"row {row} of the sparse matrix has the column index {int(indices[wrong])}, which is "
            f"not allowed: indices lie between 0 and {matrix.shape[1] - 1}"
        )


class SparseSource:
    """Rows of a CSR matrix in canonical form, with a constant column when ``intercept`` is true.

    Matrices of more than :data:`DENSE_COLUMNS` columns are never made dense; narrow ones are, one
    block at a time, because their rows are whitened.
    """

    def __init__(self, matrix: Any, intercept: bool) -> None:
        self.matrix = matrix
        self.intercept = intercept
        self.n_rows = matrix.shape[0]
        self.n_columns = matrix.shape[1] + int(intercept)
        self.is_narrow = self.n_columns <= DENSE_COLUMNS

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield ``(range of rows, their values)`` in order, each row once."""
        size = max(1, BLOCK_BYTES // (8 * self.n_columns)) if self.is_narrow else self.n_rows
        for start in range(0, self.n_rows, size):
            span = slice(start, min(start + size, self.n_rows))
            yield span, self._dense(self.matrix[span]) if self.is_narrow else self._view(span)

    def take(self, index: IntArray) -> Any:
        """Values of the rows ``index``, in that order."""
        return self._dense(self.matrix[index]) if self.is_narrow else self._view(index)

    def _view(self, which: slice | IntArray) -> SparseRows:
        bounds, matrix = self.matrix.indptr, self.matrix
        return SparseRows(
            bounds[:-1][which],
            bounds[1:][which],
            matrix.indices,
            matrix.data,
            int(self.intercept),
            self.n_columns - 1,
        )

    def _dense(self, part: Any) -> FloatArray:
        if not self.intercept:
            return part.toarray()
        design = np.ones((part.shape[0], self.n_columns), dtype=part.dtype)
        design[:, :-1] = part.toarray()
        return design
