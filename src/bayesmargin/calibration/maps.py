r"""Probabilities: a link from scores to class probabilities, fitted on the training rows.

The share of posterior draws that vote for a class says how sure the *classifier* is, not how likely
the *label* is. The normalised pseudo-likelihood :math:`\psi(y)/\sum_{y'}\psi(y')` is close to a
probability but lacks a temperature. The link here has the shape of the pseudo-likelihood with free
slopes. They are fitted to leave-one-out scores, which the draws give without a refit
(:mod:`bayesmargin.calibration.leave_one_out`).

Two classes: the log odds at a known score :math:`f` are a piecewise linear function :math:`g(f)`
through zero, with slopes of their own within and beyond the margin on either side. More classes:
logits :math:`a \log\psi_y + b\,s_y`; there :math:`f` and :math:`g` are the differences of score
and logit to the class with the largest mean score.

A score is not known but has a posterior with mean :math:`f` and variance :math:`v`. The mean of the
logistic function of a normal variable (MacKay's approximation), along the chord :math:`g(f)/f`, is
the logistic function of

.. math:: z = g(f) \Big/ \sqrt{1 + \tfrac{\pi}{8} \kappa\, (g(f)/f)^2 v}

with :math:`\kappa = 1`. The pseudo-likelihood being none, its posterior may be too wide or too
narrow for frequencies, so this caution :math:`\kappa` is fitted with the slopes. A row whose score
is known less well than those of the training rows gets a more cautious probability, and far out it
stays away from one. :math:`z` has the sign of :math:`f`, so the most probable class is the
predicted one on every row.

Caution is learned from usual rows alone. A row with a rare feature looks unknown without its label
only if those that share the feature agree with it, so such rows, left out, are nearly always right,
and say that doubt counts for nothing. Of :math:`v` what lies beyond a reach :math:`v_0`, ten times
the median of the rows (three times their sd), counts in full at least: for :math:`\kappa v` there
is :math:`\kappa \min(v, v_0) + \max(\kappa, 1) (v - v_0)_+`.

A large cost says that margins must be kept, not that labels are certain: slopes that steep leave
nothing but zeros and ones, and no gradient that leads away from them. So the slopes are sought
around those of a cost of at most one over the margin.

Rows that come in parts teach one link. The logs of slopes and caution have a prior, and after each
part a normal law about what was found, whose precision is that of the prior plus the Fisher
information of the part; it is the prior of the next. A link that saw the last part alone would take
ten rows of one class for proof that there is no other.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax, softmax

from bayesmargin.foundation.types import FloatArray, IntArray

MAX_ROWS = 20_000
PRIOR_SD = 1.0  # of the logs of slopes and caution, around those of the pseudo-likelihood
REACH = 10.0  # medians of the variance of scores, to which caution is learned
STEEPEST = 1.0  # cost of a whole margin up to which the pseudo-likelihood knows its own temperature


def tempered(
    log_odds: FloatArray, score: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Log odds of the mean probability, and the square of what divides those at the mean score."""
    chord = np.divide(log_odds, score, out=np.zeros_like(log_odds), where=score != 0.0)
    doubt = 1.0 + np.pi / 8.0 * np.square(chord) * variance
    return log_odds / np.sqrt(doubt), doubt


class Cautious:
    """How much of the variance of a score counts."""

    caution: float
    reach: float

    def counted(self, variance: FloatArray) -> FloatArray:
        """What counts of variances: by the caution up to the reach, in full at least beyond."""
        usual = np.minimum(variance, self.reach)
        return np.asarray(self.caution * usual + max(self.caution, 1.0) * (variance - usual))


@dataclass(frozen=True)
class BinaryLink(Cautious):
    """Log odds of the second class: slopes beyond and within the margin, for either sign."""

    margin: float
    slopes: FloatArray
    caution: float = 0.0  # none: scores are taken for known
    precision: FloatArray | None = field(default=None, repr=False)
    """Of the logs of slopes and caution, where it is known."""
    reach: float = np.inf

    @staticmethod
    def distance(score: FloatArray) -> FloatArray:
        """Scores, counted from where the classes are equally likely."""
        return score

    def parts(self, score: FloatArray) -> FloatArray:
        """What the slopes multiply, (slope, row)."""
        inner = np.clip(score, -self.margin, self.margin)
        outer = score - inner
        below, above = (outer, inner), (inner, outer)
        parts = [np.minimum(part, 0.0) for part in below] + [np.maximum(p, 0.0) for p in above]
        return np.stack(parts)

    def probabilities(self, score: FloatArray, variance: FloatArray) -> FloatArray:
        """Probabilities of the two classes, (row, 2), from mean and variance of the score."""
        upper = expit(self.log_odds(score, variance))
        return np.stack([1.0 - upper, upper], axis=1)

    def log_odds(self, score: FloatArray, variance: FloatArray) -> FloatArray:
        """Log odds of the second class, from mean and variance of the score."""
        certain = _combined(self.slopes, self.parts(score))
        return tempered(certain, score, self.counted(variance))[0]

    def known_score(self, log_odds: FloatArray) -> FloatArray:
        """The score that has these log odds where it is known.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesmargin.calibration.maps import BinaryLink
        >>> link = BinaryLink(1.0, np.array([1.0, 2.0, 2.0, 1.0]), 1.0)
        >>> link.known_score(link.log_odds(np.array([-1.5, 0.2, 3.0]), np.zeros(3)))
        array([-1.5,  0.2,  3. ])
        """
        upper = log_odds > 0.0
        inner = np.where(upper, self.slopes[2], self.slopes[1])
        outer = np.where(upper, self.slopes[3], self.slopes[0])
        reach = inner * self.margin  # log odds at the margin
        within = np.clip(log_odds, -reach, reach)
        return np.asarray(within / inner + (log_odds - within) / outer)

    @staticmethod
    def judge(log_odds: FloatArray, label: IntArray) -> tuple[FloatArray, FloatArray]:
        """Log probability of every label, and its slope along the log odds."""
        upper = label == 1
        return log_expit(np.where(upper, log_odds, -log_odds)), upper - expit(log_odds)

    @staticmethod
    def sensitivity(log_odds: FloatArray, moves: FloatArray) -> FloatArray:
        """Moves (parameter, row) of the log odds, scaled so that their products are information."""
        return moves * np.sqrt(expit(log_odds) * expit(-log_odds))


@dataclass(frozen=True)
class MulticlassLink(Cautious):
    """Logits ``slopes[0] * log psi_y / c + slopes[1] * s_y``, less that of the largest score."""

    margin: float
    slopes: FloatArray
    caution: float = 0.0  # none: scores are taken for known
    precision: FloatArray | None = field(default=None, repr=False)
    """Of the logs of slopes and caution, where it is known."""
    reach: float = np.inf

    @staticmethod
    def distance(scores: FloatArray) -> FloatArray:
        """Scores less the largest of their row."""
        return scores - scores.max(axis=1, keepdims=True)

    def parts(self, scores: FloatArray) -> FloatArray:
        """What the slopes multiply, (slope, row, class): zero for the largest score of a row."""
        gap = self.distance(scores)
        lead = -np.partition(gap, -2, axis=1)[:, -2:-1]
        unlikely = np.maximum(self.margin - lead, 0.0) - (self.margin - gap)
        return np.stack([np.where(gap < 0.0, unlikely, 0.0), gap])

    def probabilities(self, scores: FloatArray, variance: FloatArray) -> FloatArray:
        """Probabilities of the classes, (row, class).

        Parameters
        ----------
        scores : array of shape (row, class)
            Mean scores.
        variance : array of shape (row, class)
            Variances of the differences between the class of the largest mean score and each.
        """
        certain = _combined(self.slopes, self.parts(scores))
        logits, _ = tempered(certain, self.distance(scores), self.counted(variance))
        return softmax(logits, axis=1)

    @staticmethod
    def judge(logits: FloatArray, label: IntArray) -> tuple[FloatArray, FloatArray]:
        """Log probability of every label, and its slopes along the logits."""
        logs = log_softmax(logits, axis=1)
        own = np.arange(logits.shape[1]) == label[:, None]
        return logs[own], own - np.exp(logs)

    @staticmethod
    def sensitivity(logits: FloatArray, moves: FloatArray) -> FloatArray:
        """Moves (parameter, row, class) of the logits, so that their products are information."""
        chance = softmax(logits, axis=1)
        return (moves - (chance * moves).sum(axis=2, keepdims=True)) * np.sqrt(chance)


Link = BinaryLink | MulticlassLink


def _combined(slopes: FloatArray, parts: FloatArray) -> FloatArray:
    """Sum of the parts times their slopes, each rounded alike: larger scores stay larger."""
    total = slopes[0] * parts[0]
    for slope, part in zip(slopes[1:], parts[1:], strict=True):
        total += slope * part
    return np.asarray(total)


def fit_link(
    scores: FloatArray,
    variance: FloatArray,
    label: IntArray,
    weight: FloatArray,
    cost: float,
    margin: float,
    before: Link | None = None,
) -> Link:
    """Slopes and caution that make the labels most likely, near those of the pseudo-likelihood.

    Parameters
    ----------
    scores, variance : arrays of shape (row,) or (row, class)
        Leave-one-out means and variances, see :func:`~.leave_one_out.leave_one_out`.
    label : array of shape (row,)
        Class indices.
    weight : array of shape (row,)
        Weight of each row in the fit.
    before : BinaryLink or MulticlassLink, optional
        What earlier rows of the same model taught.
    """
    binary = scores.ndim == 1
    cost = min(cost, STEEPEST / margin)
    slopes = [cost, 2.0 * cost, 2.0 * cost, cost] if binary else [cost, 0.1 * cost]
    start = np.log([*slopes, 1.0])
    prior: FloatArray = start
    precision: FloatArray = np.eye(len(start)) / PRIOR_SD**2
    if before is not None and before.precision is not None:
        prior, precision = np.log([*before.slopes, before.caution]), before.precision
    kind = BinaryLink if binary else MulticlassLink
    parts, distance = kind(margin, np.array(slopes)).parts(scores), kind.distance(scores)
    reach = REACH * float(np.median(variance if binary else variance.max(axis=1)))
    usual = np.minimum(variance, reach)

    def moved(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Log odds of the rows, and how they move with the logs of slopes and caution."""
        slopes, caution = np.exp(logs[:-1]), np.exp(logs[-1])
        certain = _combined(slopes, parts)
        learned, far = caution * usual, variance - usual
        counted = learned + max(caution, 1.0) * far
        learned = learned if caution < 1.0 else counted
        log_odds, doubt = tempered(certain, distance, counted)
        share = np.divide(learned, counted, out=np.ones_like(counted), where=counted > 0.0)
        moves = [slope * part for slope, part in zip(slopes, parts, strict=True)]
        moves.append(-0.5 * certain * (doubt - 1.0) * share)
        return log_odds, np.stack(moves) * doubt**-1.5

    def loss(logs: FloatArray) -> tuple[float, FloatArray]:
        log_odds, moves = moved(logs)
        likely, surprise = kind.judge(log_odds, label)
        surprise = surprise.T * weight
        away = precision @ (logs - prior)
        value = 0.5 * np.dot(logs - prior, away) - np.dot(weight, likely)
        return float(value), away - [np.vdot(move.T, surprise) for move in moves]

    bounds = [(centre - 12.0, centre + 6.0) for centre in start]
    found = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds).x
    sensitivity = kind.sensitivity(*moved(found))
    axes = tuple(range(1, sensitivity.ndim))
    share = weight.reshape(-1, *[1] * (sensitivity.ndim - 2))
    learned = np.tensordot(share * sensitivity, sensitivity, (axes, axes))
    caution = float(np.exp(found[-1]))
    return kind(margin, np.exp(found[:-1]), caution, precision + learned, reach)
