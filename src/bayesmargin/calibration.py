r"""Probabilities: a link from scores to class probabilities, fitted on the training rows.

The share of posterior draws that vote for a class says how sure the *classifier* is, not how likely
the *label* is. The normalised pseudo-likelihood :math:`\psi(y)/\sum_{y'}\psi(y')` is close to a
probability but lacks a temperature. The link here has the shape of the pseudo-likelihood with free
slopes. They are fitted to leave-one-out scores, which the draws give without a refit: leaving row
:math:`d` out multiplies the posterior by :math:`1/\psi_d`, so draws are reweighted by it.

Two classes: the log odds are a piecewise linear function of the mean score :math:`f` through zero,
with slopes of their own within and beyond the margin on either side. More classes: logits
:math:`a \log\psi_y + b\,s_y`. Both grow with the score alone, so the most probable class is the
predicted one on every row.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, log_softmax, softmax

from bayesmargin.types import FloatArray, IntArray

MAX_ROWS = 20_000
MAX_DRAWS = 400
PRIOR_SD = 1.0  # of the log slopes, around those of the pseudo-likelihood


def leave_one_out(scores: FloatArray, hinge: FloatArray, cost: FloatArray) -> FloatArray:
    """Mean of each row's scores under the posterior without that row.

    Parameters
    ----------
    scores : array of shape (draw, row) or (draw, row, class)
    hinge : array of shape (draw, row)
        Positive part of the slack.
    cost : array of shape (row,)

    Weights are cut at the square root of the number of draws times their mean, which bounds the
    influence of a single draw.
    """
    log_weight = cost * hinge
    weight = np.exp(log_weight - log_weight.max(axis=0))
    weight = np.minimum(weight, np.sqrt(len(weight)) * weight.mean(axis=0))
    return np.einsum("ij,ij...->j...", weight / weight.sum(axis=0), scores)


@dataclass(frozen=True)
class BinaryLink:
    """Log odds of the second class: slopes beyond and within the margin, for either sign."""

    margin: float
    slopes: FloatArray

    def parts(self, score: FloatArray) -> FloatArray:
        """What the slopes multiply, (slope, row)."""
        inner = np.clip(score, -self.margin, self.margin)
        outer = score - inner
        below, above = (outer, inner), (inner, outer)
        parts = [np.minimum(part, 0.0) for part in below] + [np.maximum(p, 0.0) for p in above]
        return np.stack(parts)

    def log_odds(self, score: FloatArray) -> FloatArray:
        """Log odds from mean scores."""
        return _combined(self.slopes, self.parts(score))

    def probabilities(self, score: FloatArray) -> FloatArray:
        """Probabilities of the two classes, (row, 2)."""
        upper = expit(self.log_odds(score))
        return np.stack([1.0 - upper, upper], axis=1)

    @staticmethod
    def judge(log_odds: FloatArray, label: IntArray) -> tuple[FloatArray, FloatArray]:
        """Log probability of every label, and its slope along the log odds."""
        upper = label == 1
        return log_expit(np.where(upper, log_odds, -log_odds)), upper - expit(log_odds)


@dataclass(frozen=True)
class MulticlassLink:
    """Logits ``slopes[0] * log psi_y / c + slopes[1] * s_y``."""

    margin: float
    slopes: FloatArray

    def parts(self, scores: FloatArray) -> FloatArray:
        """What the slopes multiply, (slope, row, class)."""
        order = np.sort(scores, axis=1)
        top, second = order[:, -1:], order[:, -2:-1]
        rival = np.where(scores == top, second, top)
        return np.stack([-np.maximum(self.margin + rival - scores, 0.0), scores])

    def logits(self, scores: FloatArray) -> FloatArray:
        """Logits from mean scores (row, class)."""
        return _combined(self.slopes, self.parts(scores))

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Probabilities of the classes, (row, class)."""
        return softmax(self.logits(scores), axis=1)

    @staticmethod
    def judge(logits: FloatArray, label: IntArray) -> tuple[FloatArray, FloatArray]:
        """Log probability of every label, and its slopes along the logits."""
        logs = log_softmax(logits, axis=1)
        own = np.arange(logits.shape[1]) == label[:, None]
        return logs[own], own - np.exp(logs)


Link = BinaryLink | MulticlassLink


def _combined(slopes: FloatArray, parts: FloatArray) -> FloatArray:
    """Sum of the parts times their slopes, each rounded alike: larger scores stay larger."""
    total = slopes[0] * parts[0]
    for slope, part in zip(slopes[1:], parts[1:], strict=True):
        total += slope * part
    return np.asarray(total)


def fit_link(
    scores: FloatArray,
    label: IntArray,
    weight: FloatArray,
    cost: float,
    margin: float,
) -> Link:
    """Slopes that make leave-one-out probabilities most likely, near the pseudo-likelihood's own.

    Parameters
    ----------
    scores : array of shape (row,) or (row, class)
        Leave-one-out scores.
    label : array of shape (row,)
        Class indices.
    weight : array of shape (row,)
        Weight of each row in the fit.
    """
    binary = scores.ndim == 1
    prior = np.log([cost, 2.0 * cost, 2.0 * cost, cost] if binary else [cost, 0.1 * cost])
    kind = BinaryLink if binary else MulticlassLink
    parts = kind(margin, np.exp(prior)).parts(scores)

    def loss(log_slopes: FloatArray) -> tuple[float, FloatArray]:
        slopes, away = np.exp(log_slopes), (log_slopes - prior) / PRIOR_SD**2
        logs, surprise = kind.judge(_combined(slopes, parts), label)
        along = [np.vdot(part.T * weight, surprise.T) for part in parts]
        value = 0.5 * np.dot(log_slopes - prior, away) - np.dot(weight, logs)
        return float(value), away - slopes * along

    bounds = [(centre - 12.0, centre + 6.0) for centre in prior]
    found = minimize(loss, prior, jac=True, method="L-BFGS-B", bounds=bounds)
    return kind(margin, np.exp(found.x))
