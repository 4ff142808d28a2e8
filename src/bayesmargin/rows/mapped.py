"""Rows of a file that are turned into others, some columns of each, whenever they are read."""

from collections.abc import Callable, Iterator
from typing import Any

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.rows.files import FileRows, with_constant


class MappedRows(FileRows):
    """What a function makes of the rows of a file; nothing of it is kept.

    Parameters
    ----------
    rows : FileRows
    turn : callable
        From a matrix of rows, dense or CSR, to a dense matrix of as many rows.
    width : int
        Columns of what it returns.
    """

    def __init__(self, rows: FileRows, turn: Callable[[Any], FloatArray], width: int) -> None:
        self.rows, self.turn = rows, turn
        self.path, self.shape = rows.path, (rows.shape[0], width)
        self.memory, self.ahead = rows.memory, rows.ahead
        self.labels, self.feature_names = rows.labels, None

    def pieces(self, constant: bool = False) -> Iterator[tuple[int, Any]]:
        """Yield ``(first row, matrix)`` from beginning to end."""
        size = max(
            1, self.memory // (32 * (self.shape[1] + 1))
        )  # a quarter of it, eight bytes each
        for start, part in self.rows.pieces():
            for first in range(0, part.shape[0], size):
                values = self.turn(part[first : first + size])
                yield start + first, with_constant(values) if constant else values

    def take(self, index: IntArray) -> Any:
        """Matrix of the rows with these numbers, in the order given."""
        return self.turn(self.rows.take(index))
