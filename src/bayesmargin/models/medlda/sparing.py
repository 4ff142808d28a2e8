"""Documents that are not held out although chance says so: the last ones of their class."""

import numpy as np

from bayesmargin.foundation.types import IntArray


def spare_last(kept: IntArray, held: IntArray, signs: IntArray) -> tuple[IntArray, IntArray]:
    """Documents to learn from and held out, such that every class has one to learn from.

    A class whose documents are all held out would never be learned. ``signs`` are the labels of all
    documents; both signs of a column count, as the two classes of one classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.medlda.sparing import spare_last
    >>> signs = np.array([[1, -1], [-1, 1], [1, -1], [1, -1]])
    >>> spare_last(np.array([0, 2]), np.array([1, 3]), signs)
    (array([0, 1, 2]), array([3]))
    """
    for sign in (1, -1):
        own = signs[held] == sign
        everywhere = np.count_nonzero(signs == sign, axis=0)
        for column in np.flatnonzero((everywhere > 0) & (own.sum(axis=0) == everywhere)):
            if not (signs[kept, column] == sign).any():
                spared = held[signs[held, column] == sign][0]
                kept, held = np.sort(np.append(kept, spared)), held[held != spared]
    return kept, held
