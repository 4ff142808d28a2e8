"""Rows that stand for several terms each, without a copy."""

from collections.abc import Iterator
from typing import Any

from bayesmargin.foundation.types import IntArray
from bayesmargin.rows.source import RowSource


class RepeatedSource:
    """The rows of a source several times over: all of them, then all of them again.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.rows import DenseSource
    >>> from bayesmargin.rows.repeated import RepeatedSource
    >>> source = RepeatedSource(DenseSource(np.array([[1.0], [2.0]]), intercept=False), 2)
    >>> source.n_rows, source.take(np.array([1, 3]))
    (4, array([[2.],
           [2.]]))
    """

    def __init__(self, source: RowSource, times: int) -> None:
        self.source = source
        self.times = times
        self.intercept = source.intercept
        self.n_rows = times * source.n_rows
        self.n_columns = source.n_columns

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Yield ``(range of rows, their values)``: each block as often as its rows, read once."""
        size = self.source.n_rows
        for span, block in self.source.blocks():
            for k in range(self.times):
                yield slice(k * size + span.start, k * size + span.stop), block

    def take(self, index: IntArray) -> Any:
        """Values of the rows ``index``, in that order."""
        return self.source.take(index % self.source.n_rows)


def repeated(source: RowSource, times: int) -> RowSource:
    """A source whose rows are read several times; itself where once is enough."""
    return source if times == 1 else RepeatedSource(source, times)
