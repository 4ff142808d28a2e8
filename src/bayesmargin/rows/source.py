"""Streaming access to rows: blocks for the passes over all data, and a gather for those kept."""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray

BLOCK_BYTES = 1 << 21  # about the size of a core's cache: a block is read from memory once


class RowSource(Protocol):
    """Rows of a design matrix, the constant column of the intercept included.

    Values are a matrix, or :class:`~bayesmargin.rows.layout.SparseRows` for sparse rows of many
    columns.
    """

    n_rows: int
    n_columns: int
    intercept: bool
    """Whether the last column is the constant one."""

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield ``(range of rows, their values)`` in order, each row once."""

    def take(self, index: IntArray) -> Any:
        """Values of the rows ``index``, in that order."""


class DenseSource:
    """Rows of a NumPy array, with a constant last column when ``intercept`` is true.

    The array is neither copied nor changed: the constant column is added to one block at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.rows import DenseSource
    >>> source = DenseSource(np.array([[1.0, 2.0], [3.0, 4.0]]), intercept=True)
    >>> source.take(np.array([1]))
    array([[3., 4., 1.]])
    """

    def __init__(self, values: FloatArray, intercept: bool) -> None:
        self.values = values
        self.intercept = intercept
        self.n_rows = values.shape[0]
        self.n_columns = values.shape[1] + int(intercept)

    def blocks(self) -> Iterator[tuple[slice, FloatArray]]:
        """Yield ``(range of rows, their values)`` in order, each row once."""
        size = max(1, BLOCK_BYTES // (8 * max(1, self.n_columns)))
        for start in range(0, self.n_rows, size):
            span = slice(start, min(start + size, self.n_rows))
            yield span, self._design(self.values[span])

    def take(self, index: IntArray) -> FloatArray:
        """Values of the rows ``index``, in that order."""
        return self._design(self.values[index])

    def _design(self, values: FloatArray) -> FloatArray:
        if not self.intercept:
            return values
        design = np.empty((values.shape[0], self.n_columns), dtype=values.dtype)
        design[:, :-1] = values
        design[:, -1] = 1.0
        return design
