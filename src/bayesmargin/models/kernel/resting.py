r"""Scores of rows that are like no training row: those at which probabilities are class shares.

Far from all landmarks the kernel says nothing, and a score is what the intercept makes of it. The
share of a class among the training rows is the better forecast there. So to the score of a row is
added :math:`u(x)\,\delta`, where :math:`u` tells how new a row is, from 0 to 1, and :math:`\delta`
leads from the mean intercept to the score at which the link gives the shares of the classes, with
as much doubt as there is about such a row. Predicted class, probability and score go there
together.
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from bayesmargin.calibration.maps import BinaryLink, Link
from bayesmargin.foundation.types import FloatArray

LEAST = 1e-300  # probability, where its logarithm is taken
FARTHEST = 60  # doublings of a margin within which a score is sought


def resting_scores(link: Link, shares: FloatArray, variance: FloatArray) -> FloatArray:
    """Scores, one of two classes, at which a link gives these shares.

    Parameters
    ----------
    link : BinaryLink or MulticlassLink
    shares : array of shape (n_classes,)
        Positive, of sum one.
    variance : array of shape (1,) or (n_classes,)
        Of the score, or of the difference between each class and that of the largest share.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.maps import BinaryLink
    >>> from bayesmargin.models.kernel.resting import resting_scores
    >>> link = BinaryLink(1.0, np.array([1.0, 2.0, 2.0, 1.0]), 1.0)
    >>> score = resting_scores(link, np.array([0.8, 0.2]), np.array([1.0]))
    >>> link.probabilities(score, np.array([1.0])).round(3)
    array([[0.8, 0.2]])
    """
    wanted = np.log(shares)
    if isinstance(link, BinaryLink):

        def surplus(score: float) -> float:
            chance = link.probabilities(np.array([score]), variance)[0]
            return _log_ratio(chance[1], chance[0]) - float(wanted[1] - wanted[0])

        return np.array([_root(surplus, link.margin * float(np.sign(wanted[1] - wanted[0])))])
    first, second, *others = np.argsort(-shares, kind="stable")
    scores = np.zeros(len(shares))
    scores[second] = _below(link, [0.0], [0.0, variance[second]], wanted[second] - wanted[first])
    for k in others:
        doubts = [0.0, variance[second], variance[k]]
        found = _below(link, [0.0, scores[second]], doubts, wanted[k] - wanted[first])
        scores[k] = min(found, scores[second])
    return scores


def _below(link: Link, above: list[float], variance: list[float], wanted: float) -> float:
    """Score of one more class, of which the leading class is ahead by so much in log odds."""

    def surplus(score: float) -> float:
        chance = link.probabilities(np.array([[*above, score]]), np.array([variance]))[0]
        return _log_ratio(chance[-1], chance[0]) - wanted

    return _root(surplus, -link.margin) if wanted < 0.0 else 0.0


def _log_ratio(first: float, second: float) -> float:
    return float(np.log(max(first, LEAST)) - np.log(max(second, LEAST)))


def _root(surplus: Callable[[float], float], direction: float) -> float:
    """Where a function is zero, between zero and wherever a step in a direction leads past it."""
    start = surplus(0.0)
    if start == 0.0 or direction == 0.0:
        return 0.0
    end = direction
    for _ in range(FARTHEST):
        if surplus(end) * start <= 0.0:
            return float(brentq(surplus, min(0.0, end), max(0.0, end)))
        end *= 2.0
    return end
