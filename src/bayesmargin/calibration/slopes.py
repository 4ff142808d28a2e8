r"""From scores to probabilities and label sets, learned on documents held out.

Probabilities are :math:`\mathrm{softmax}(a s)` for one label of many, and for two classes
:math:`\sigma(a (s - \tau))` (:mod:`.two_classes`): increasing in the score, so that the most
probable class is the predicted one. The slope :math:`a` maximises the likelihood of documents that
took no part in training.

Label sets have probabilities of their own (:mod:`.label_chances`), and to be chosen a threshold
:math:`\tau_y` a class. The hinges of a rare class are nearly all on
its negative side, so that its scores seldom reach those of a common one; its threshold is where as
large a share of the held-out documents lies above as has the label in training. The labels of the
held-out documents then choose between these thresholds, one for all classes, and mixtures, by the
sum of micro- and macro-averaged F1. That is another question than how likely a label is: the best
threshold for F1 is at half the F1 that can be reached, so that a predicted label may have a
probability far below one half.

Documents of few words have scores of their own (:mod:`.short_documents`).
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit, log_softmax, logit, softmax

from bayesmargin.calibration.label_chances import LabelChances
from bayesmargin.calibration.short_documents import Brevity, fit_brevity, usual_brevity
from bayesmargin.foundation.types import FloatArray, IntArray

_LARGEST_SLOPE = 1e3


@dataclass(frozen=True)
class ScoreLink:
    r"""Slope of the probabilities, and the threshold of two classes; label sets have one a class.

    ``brevity`` is what becomes of the scores of short documents, ``chances`` are the probabilities
    of label sets; None in models saved before there were any, whose labels have the probabilities
    :math:`\sigma(a (s - \tau_y))`.
    """

    slope: float
    threshold: float = 0.0
    thresholds: FloatArray | None = None
    brevity: Brevity | None = None
    chances: LabelChances | None = None

    @property
    def cut(self) -> Any:
        """What scores of label sets are compared with."""
        return self.threshold if self.thresholds is None else self.thresholds

    def answer(self, scores: FloatArray, lengths: IntArray, several: bool) -> FloatArray:
        """Class probabilities (n, classes) of documents with so many words that training has met.

        Rows sum to one unless ``several`` labels may hold.
        """
        if self.chances is not None:
            return self.chances.probabilities(scores, lengths)
        return self.probabilities(self.settle(scores, lengths), several)

    def probabilities(self, scores: FloatArray, several: bool) -> FloatArray:
        """Class probabilities (n, classes) by slope and thresholds, of scores that have settled."""
        if several:
            return expit(self.slope * (scores - self.cut))
        if scores.shape[1] == 1:
            second = expit(self.slope * (scores[:, 0] - self.threshold))
            return np.column_stack([1.0 - second, second])
        return softmax(self.slope * scores, axis=1)

    def log_likelihood(self, scores: FloatArray, signs: IntArray, several: bool) -> float:
        """Logarithm of the probability of labels given by their signs."""
        if several or scores.shape[1] == 1:
            return float(log_expit(self.slope * signs * (scores - self.cut)).sum())
        return float(log_softmax(self.slope * scores, axis=1)[signs > 0].sum())

    def rest(self, scores: FloatArray, lengths: IntArray, several: bool) -> FloatArray:
        """Scores that labels rest on: those of short documents settled, of two classes about 0."""
        settled = self.settle(scores, lengths)
        return settled if several else settled - self.threshold

    def settle(self, scores: FloatArray, lengths: IntArray) -> FloatArray:
        """Scores of documents with so many words that training has met."""
        return scores if self.brevity is None else self.brevity.settle(scores, lengths)


def fit_link(
    scores: FloatArray, signs: IntArray, prevalence: FloatArray, several: bool, margin: float
) -> ScoreLink:
    """Learn the link from held-out scores; ``prevalence`` is the share of each label in training.

    Thresholds are learned even where the hinge has a natural one at zero: words are assigned
    without the pull of labels in prediction, so that scores lie closer together there.
    """
    threshold = best_threshold(scores, signs) if several else 0.0
    thresholds = class_thresholds(scores, signs, prevalence, threshold) if several else None

    def loss(log_slope: float) -> float:
        link = ScoreLink(float(np.exp(log_slope)), threshold, thresholds)
        # A weak prior at one unit of odds a margin keeps the slope finite when all is separable.
        doubt = 0.5 * (log_slope + np.log(margin)) ** 2
        return float(doubt - link.log_likelihood(scores, signs, several))

    found = minimize_scalar(loss, bounds=(-25.0, np.log(_LARGEST_SLOPE)), method="bounded")
    return ScoreLink(float(np.exp(found.x)), threshold, thresholds)


def learn_brevity(
    link: ScoreLink,
    scores: FloatArray,
    lengths: IntArray,
    signs: IntArray,
    wordless: FloatArray,
    shares: FloatArray,
    several: bool,
) -> ScoreLink:
    """The link with what documents of many lengths teach about short ones.

    ``wordless`` are the scores without words, ``shares`` those of the labels in training. Label
    sets have the usual lengths: their thresholds serve F1, not the likelihood, which would draw
    documents of any length to the shares of the labels, and so below the thresholds.
    """
    if several or len(shares) == 1:
        # Labels of all documents, or of none, are chosen whatever their scores.
        rest = np.where(np.isfinite(link.cut), link.cut + logit(shares) / link.slope, wordless)
    else:  # probabilities of one label of many do not change with the level of the scores
        logs = np.log(shares)
        rest = wordless.mean() + (logs - logs.mean()) / link.slope
    if several:
        return replace(link, brevity=usual_brevity(wordless, rest))

    def likelihood(settled: FloatArray) -> float:
        return link.log_likelihood(settled, signs, several)

    return replace(link, brevity=fit_brevity(scores, lengths, wordless, rest, likelihood))


def choose(scores: FloatArray, cut: Any) -> IntArray:
    """Indicator of the classes above the cut; the one nearest to it where there is none."""
    above = scores - cut
    chosen = (above > 0.0).astype(np.int64)
    none = chosen.sum(axis=1) == 0
    chosen[none, above[none].argmax(axis=1)] = 1
    return chosen


def f1_sum(chosen: IntArray, relevant: IntArray) -> float:
    """Micro- plus macro-averaged F1; classes without a relevant document are left out."""
    hits = (chosen * relevant).sum(axis=0)
    sizes = chosen.sum(axis=0) + relevant.sum(axis=0)
    seen = relevant.sum(axis=0) > 0
    macro = np.mean(2.0 * hits[seen] / sizes[seen]) if seen.any() else 0.0
    return float(2.0 * hits.sum() / max(sizes.sum(), 1) + macro)


def class_thresholds(
    scores: FloatArray, signs: IntArray, prevalence: FloatArray, common: float
) -> FloatArray:
    """A threshold a class: by the share of its documents, the common one, or between.

    A label that no document has is above every score, and one that all have is below.
    """
    own = np.array([np.quantile(s, 1.0 - p) for s, p in zip(scores.T, prevalence, strict=True)])
    relevant = (signs > 0).astype(np.int64)
    sure = np.where((prevalence == 0.0) & (signs < 0).all(axis=0), np.inf, 0.0)
    sure[(prevalence == 1.0) & (signs > 0).all(axis=0)] = -np.inf
    candidates = [sure + common + share * (own - common) for share in (1.0, 0.75, 0.5, 0.25, 0.0)]
    return max(candidates, key=lambda cut: f1_sum(choose(scores, cut), relevant))


def best_threshold(scores: FloatArray, signs: IntArray) -> float:
    """Threshold with the largest micro-averaged F1, every document having one label at least.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.slopes import best_threshold
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
