r"""From scores to probabilities and label sets: two numbers learned on documents held out.

Probabilities are :math:`\mathrm{softmax}(a s)` for one label of many, :math:`\sigma(a (s - \tau))`
for two classes or label sets: increasing in the score, so that the most probable class is the
predicted one. The slope :math:`a` maximises the likelihood of documents that took no part in
training, the threshold :math:`\tau` of label sets their micro-averaged F1.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, log_softmax, softmax

from bayesmargin.types import FloatArray, IntArray

_LARGEST_SLOPE = 1e3


@dataclass(frozen=True)
class ScoreLink:
    """Slope of the probabilities and threshold of label sets."""

    slope: float
    threshold: float = 0.0

    def probabilities(self, scores: FloatArray, several: bool) -> FloatArray:
        """Class probabilities (n, classes); rows sum to one unless ``several`` labels may hold."""
        if several:
            return expit(self.slope * (scores - self.threshold))
        if scores.shape[1] == 1:
            second = expit(self.slope * scores[:, 0])
            return np.column_stack([1.0 - second, second])
        return softmax(self.slope * scores, axis=1)


def fit_link(scores: FloatArray, signs: IntArray, several: bool, margin: float) -> ScoreLink:
    """Learn the link from held-out scores.

    The threshold of label sets is learned even where the hinge has a natural one at zero: words are
    assigned without the pull of labels in prediction, so that scores lie closer together there.
    """
    threshold = best_threshold(scores, signs) if several else 0.0
    centred = scores - threshold

    def loss(log_slope: float) -> float:
        slope = np.exp(log_slope)
        if several or scores.shape[1] == 1:
            likelihood = log_expit(slope * signs * centred).sum()
        else:
            likelihood = log_softmax(slope * scores, axis=1)[signs > 0].sum()
        # A weak prior at one unit of odds a margin keeps the slope finite when all is separable.
        return float(-likelihood + 0.5 * (log_slope + np.log(margin)) ** 2)

    found = minimize_scalar(loss, bounds=(-25.0, np.log(_LARGEST_SLOPE)), method="bounded")
    return ScoreLink(float(np.exp(found.x)), threshold)


def best_threshold(scores: FloatArray, signs: IntArray) -> float:
    """Threshold with the largest micro-averaged F1, every document having one label at least.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.medlda.link import best_threshold
    >>> best_threshold(np.array([[3.0, 1.0], [2.0, 0.0]]), np.array([[1, 1], [1, -1]]))
    0.5
    """
    top = scores == scores.max(axis=1, keepdims=True)
    relevant = signs > 0
    order = np.argsort(-scores, axis=None)
    values = scores.ravel()[order]
    free = ~top.ravel()[order]
    hits = (top & relevant).sum() + np.cumsum(free & relevant.ravel()[order])
    chosen = top.sum() + np.cumsum(free)
    f1 = 2.0 * hits / (chosen + relevant.sum())
    best = int(np.argmax(f1))
    if best + 1 == len(values):
        return float(values[best] - 1.0)
    return float(0.5 * (values[best] + values[best + 1]))
