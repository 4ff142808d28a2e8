"""The class that leads a row, and how far the others are from it.

Classes are the last axis and rows the one before, whatever comes before that; a row's ``leader`` is
a class index.
"""

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray


def leader_of(scores: FloatArray) -> IntArray:
    """Class of the largest score of every row, of which the first if they are equal."""
    return scores.argmax(axis=-1)


def runner_up_of(scores: FloatArray, leader: IntArray) -> IntArray:
    """Class of the largest score of every row but for the leader's.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.leading import leader_of, runner_up_of
    >>> scores = np.array([[1.0, 3.0, 2.0], [5.0, 0.0, 4.0]])
    >>> runner_up_of(scores, leader_of(scores))
    array([2, 2])
    """
    itself = np.arange(scores.shape[-1]) == leader[:, None]
    return np.where(itself, -np.inf, scores).argmax(axis=-1)


def at_leader(values: FloatArray, leader: IntArray) -> FloatArray:
    """Values of the leading class of every row, its axis kept.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.leading import at_leader, leader_of
    >>> scores = np.array([[1.0, 3.0, 2.0], [5.0, 0.0, 4.0]])
    >>> scores - at_leader(scores, leader_of(scores))
    array([[-2.,  0., -1.],
           [ 0., -5., -1.]])
    """
    places = leader.reshape((1,) * (values.ndim - 2) + (-1, 1))
    return np.take_along_axis(values, places, axis=-1)


def variance_to_leader(variance: FloatArray, leader: IntArray) -> FloatArray:
    """Variances of the differences to the leading class, where classes are independent."""
    itself = np.arange(variance.shape[-1]) == leader[:, None]
    return np.where(itself, 0.0, variance + at_leader(variance, leader))
