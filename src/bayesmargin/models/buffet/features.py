"""The matrix of binary features of a chain, with room for more columns than there are."""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray


class Features(NamedTuple):
    """Features are the first ``size[0]`` columns, each held by a row at least."""

    held: IntArray  #: (row, room) zeros and ones of one byte
    holders: IntArray  #: (room,) ones of every column
    size: IntArray  #: (1,) number of columns in use

    @property
    def matrix(self) -> IntArray:
        """A copy without the room."""
        return self.held[:, : self.size[0]].copy()


def features_of(matrix: IntArray, room: int) -> Features:
    """Features of a matrix, with some room.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.buffet.features import features_of
    >>> features_of(np.eye(2, dtype=int), 4).holders
    array([1, 1, 0, 0])
    """
    size = matrix.shape[1]
    held = np.zeros((len(matrix), max(room, size)), dtype=np.int8)
    held[:, :size] = matrix
    return Features(held, held.sum(axis=0, dtype=np.int64), np.array([size], dtype=np.int64))


def enlarged(array: FloatArray, room: int, axes: tuple[int, ...]) -> FloatArray:
    """An array with ``room`` places along some axes, zeros in the new ones.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.buffet.features import enlarged
    >>> enlarged(np.ones((1, 1)), 2, (0, 1))
    array([[1., 0.],
           [0., 0.]])
    """
    wanted = [(0, room - array.shape[a] if a in axes else 0) for a in range(array.ndim)]
    return np.pad(array, wanted)


def invariants(matrix: IntArray) -> dict[str, float]:
    """Figures that do not depend on the order of the columns.

    "features" is their number, "ones" that of the entries a row, "shared" that of the features that
    two rows or more hold, "alike" the mean square of how many features two rows share.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.buffet.features import invariants
    >>> invariants(np.array([[1, 0], [1, 1]]))
    {'features': 2.0, 'ones': 1.5, 'shared': 1.0, 'alike': 1.75}
    """
    held = matrix.astype(float)
    common = held.T @ held  # the squares of Z Z' add up to those of Z' Z, which is smaller
    return {
        "features": float(held.shape[1]),
        "ones": float(held.sum() / len(held)),
        "shared": float((held.sum(axis=0) > 1.0).sum()),
        "alike": float((common**2).sum() / len(held) ** 2),
    }
