"""Streams that come class by class, of which the classes of long ago are forgotten."""

import warnings

import numpy as np

from bayesmargin.errors import ConvergenceWarning
from bayesmargin.foundation.types import FloatArray, IntArray

# A part of so many documents of one class is long enough to forget others, and what chance it may
# have, were the stream mixed, for nobody to be told.
_MANY, _CHANCE = 200, 1e-6


def is_sorted(signs: IntArray, n_labelled: FloatArray, n_seen: float) -> bool:
    """Whether a part of a stream has one class only, although others came before it.

    ``signs`` are its labels, one a document, ``n_labelled`` the documents of each classifier and
    ``n_seen`` all of them so far, those of the part included.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.medlda.sorted_streams import is_sorted
    >>> part = np.tile([[1, -1]], (300, 1))
    >>> is_sorted(part, np.array([300.0, 0.0]), 300.0)
    False
    >>> is_sorted(part, np.array([300.0, 90.0]), 390.0)
    True
    """
    if len(signs) < _MANY or (signs != signs[0]).any():
        return False
    first = n_labelled[signs[0] > 0]
    of_class = float(first[0]) if len(first) else n_seen - float(n_labelled[0])
    return bool(len(signs) * np.log(max(of_class, 1.0) / max(n_seen, 1.0)) < np.log(_CHANCE))


def warn_if_sorted(signs: IntArray, n_labelled: FloatArray, n_seen: float) -> None:
    """Say that classes of long ago are forgotten, where a part of a stream has only one class."""
    if is_sorted(signs, n_labelled, n_seen):
        warnings.warn(
            f"all {len(signs)} documents of this part are of one class, and earlier ones were of "
            "others: a stream forgets the classes that it has not met for long. Mix the documents "
            "before, or pass parts of several classes",
            ConvergenceWarning,
            stacklevel=4,
        )
