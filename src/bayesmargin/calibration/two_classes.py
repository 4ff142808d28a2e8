r"""Probabilities of two classes, from documents held out and from the shares of both in training.

The probability of the second class is :math:`\sigma(a (s - \tau))`. Of a class that two in a
hundred documents have, a hundred documents held out show two, and by these alone the slope
:math:`a` is anything: where words say little, probabilities were worse than the shares of the
classes. So documents that were learned from count, too, by the shares of their labels
(:class:`.chances.Evidence`). The threshold is near 0, where the hinge has it, though not at it:
words of new documents are assigned without the pull of labels, and most labels are of one kind,

.. math:: \tau \sim N(0, (r \ell)^2), \qquad \log a\ell \sim N(0, 1).
"""

import numpy as np
from scipy.optimize import minimize

from bayesmargin.calibration.label_chances import Evidence
from bayesmargin.foundation.types import FloatArray

# Spread r of the threshold, in margins. Chosen with the worth of shares by log loss on documents of
# 20 Newsgroups and on drawn corpora, a class having 2% to 30% of them, such that accuracy, too, is
# no worse than with a threshold of 0.
_SPREAD = 0.07
# The logarithm of the slope, in one over the margin, and the threshold, in margins.
_BOUNDS = ((-20.0, 12.0), (-10.0, 10.0))


def fit_two_classes(scores: FloatArray, evidence: Evidence, margin: float) -> tuple[float, float]:
    """Slope and threshold from scores (n, 1) of the documents held out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.label_chances import Evidence
    >>> from bayesmargin.calibration.two_classes import fit_two_classes
    >>> scores, signs = np.array([[-2.0], [-1.0], [1.0]]), np.array([[-1], [-1], [1]])
    >>> slope, threshold = fit_two_classes(scores, Evidence(signs, np.array([0.3]), 12.0), 1.0)
    >>> (1.0 / (1.0 + np.exp(-slope * (scores.ravel() - threshold)))).round(2)
    array([0.02, 0.13, 0.87])
    """

    def loss(found: FloatArray) -> tuple[float, FloatArray]:
        slope, away = np.exp(found[0]) / margin, scores - found[1] * margin
        odds = slope * away
        better = evidence.slope(odds)
        rise = [float((better * odds).sum()), -slope * margin * float(better.sum())]
        doubt = 0.5 * found[0] ** 2 + 0.5 * (found[1] / _SPREAD) ** 2
        pull = np.array([found[0], found[1] / _SPREAD**2])
        return doubt - evidence.likelihood(odds), pull - np.array(rise)

    # The shares reward a slope of zero as well as a steep one: there may be two valleys.
    starts = ([0.0, 0.0], [2.0, 0.0])
    runs = [minimize(loss, s, jac=True, method="L-BFGS-B", bounds=_BOUNDS) for s in starts]
    found = min(runs, key=lambda run: run.fun).x
    return float(np.exp(found[0]) / margin), float(found[1] * margin)
