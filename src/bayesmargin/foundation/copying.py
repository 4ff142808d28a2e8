"""Copies entry by entry, for compiled code.

Assigning one array to another there (``target[:] = source``) compiles a report of unequal shapes,
too, with all of Numba's strings: two seconds of a first fit, in every kernel that does it.
"""

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray


@inner_borrowing_jit
def copy_vector(source: FloatArray, target: FloatArray) -> None:
    """Copy the entries of a vector.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.foundation.compiling import from_python
    >>> from bayesmargin.foundation.copying import copy_vector
    >>> target = np.zeros(2)
    >>> from_python(copy_vector)(np.array([1.0, 2.0]), target)
    >>> target
    array([1., 2.])
    """
    for i in range(source.shape[0]):
        target[i] = source[i]


@inner_borrowing_jit
def copy_matrix(source: FloatArray, target: FloatArray) -> None:
    """Copy the entries of a matrix."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]
