r"""Probabilities of the labels of a set, each learned by itself and with the help of the others.

The thresholds of label sets serve F1, and those of rare labels lie far below even odds: odds that
are counted from a threshold make every rare label too likely. So labels have log odds of their own,

.. math:: z_y = b_y + a_y s_y, \qquad a_y = a\, e^{\delta_y}, \quad \delta_y \sim N(0, \tau^2),

linear in the score :math:`s_y`. Few documents are held out, and many labels have none or one of
them. So slopes share :math:`a`, and the labels of the documents that were learned from count, too,
by their shares :math:`\pi_y`: they are :math:`M` further documents, which have the label with the
mean probability :math:`\bar p_y` of those held out. Slopes and offsets maximise

.. math:: \sum_{d,y} \log \sigma(\pm z_{dy}) + M \sum_y \left(\pi_y \log \bar p_y
          + (1 - \pi_y) \log(1 - \bar p_y)\right) - \sum_y \frac{\delta_y^2}{2\tau^2}
          - \tfrac12 (\log a\ell)^2.

:math:`M` is the number of documents learned from, though not above a few times that of those held
out, which is as well as :math:`\bar p_y` is known. The last term, one unit of odds for a margin
:math:`\ell`, keeps slopes finite where all is separable.

Documents of few words have the log odds of :mod:`.short_documents`, and none the shares
:math:`\pi_y`. The lengths are learned by the likelihood, as for one label a document, and not those
of the scores that sets are chosen by.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from bayesmargin.calibration.short_documents import Brevity, fit_brevity
from bayesmargin.foundation.types import FloatArray, IntArray

# Spread of the logarithms of slopes, and documents learned from that one held out stands for:
# chosen by log loss on training documents of Wikipedia and of 20 Newsgroups and on drawn corpora,
# with 15 to 300 documents held out.
_SPREAD, _WORTH = 0.35, 4.0
_LARGEST = 3.0  # of the logarithms of slopes, less the shared one


@dataclass(frozen=True)
class LabelChances:
    """Slopes and offsets of the log odds of every label, and those of short documents.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.short_documents import Brevity
    >>> from bayesmargin.calibration.label_chances import LabelChances
    >>> brevity = Brevity(np.array([-1.0]), np.array([-3.0]), 4.0, 0.5)
    >>> chances = LabelChances(np.array([2.0]), np.array([-1.0]), brevity)
    >>> chances.probabilities(np.array([[0.0], [1.0]]), np.array([0, 1000])).round(2)
    array([[0.05],
           [0.73]])
    """

    slopes: FloatArray
    offsets: FloatArray
    brevity: Brevity

    def probabilities(self, scores: FloatArray, lengths: IntArray) -> FloatArray:
        """Probabilities (n, L) of labels from the scores of documents with so many words each."""
        return expit(self.brevity.settle(self.offsets + self.slopes * scores, lengths))


@dataclass(frozen=True)
class Evidence:
    """What is known of labels: their signs in documents held out, and their shares in training.

    ``worth`` is the number M of documents that the shares stand for.
    """

    signs: IntArray
    shares: FloatArray
    worth: float

    def likelihood(self, odds: FloatArray) -> float:
        """Logarithm of that of log odds (n, L) of the documents held out."""
        mean = _inside(expit(odds).mean(axis=0))
        known = self.shares * np.log(mean) + (1.0 - self.shares) * np.log1p(-mean)
        return float(log_expit(self.signs * odds).sum() + self.worth * known.sum())

    def slope(self, odds: FloatArray) -> FloatArray:
        """Slopes of the likelihood along the log odds."""
        chance = expit(odds)
        mean = _inside(chance.mean(axis=0))
        pull = self.worth * (self.shares / mean - (1.0 - self.shares) / (1.0 - mean))
        return (self.signs > 0) - chance + pull / len(odds) * chance * (1.0 - chance)


def _inside(chance: FloatArray) -> FloatArray:
    """Probabilities that have a logarithm, and so have those of the contrary."""
    return np.clip(chance, 1e-12, 1.0 - 1e-12)


def fit_odds(
    scores: FloatArray, evidence: Evidence, margin: float
) -> tuple[FloatArray, FloatArray]:
    """Slopes and offsets of the log odds of every label, from scores of the documents held out.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.label_chances import Evidence, fit_odds
    >>> scores, signs = np.array([[-2.0], [0.0], [1.0]]), np.array([[-1], [-1], [1]])
    >>> slopes, offsets = fit_odds(scores, Evidence(signs, np.array([0.2]), 12.0), margin=1.0)
    >>> (1.0 / (1.0 + np.exp(-offsets - slopes * scores))).round(2).ravel()
    array([0.01, 0.16, 0.54])
    """
    n_labels, centre = scores.shape[1], scores.mean(axis=0)
    apart = scores - centre

    def loss(found: FloatArray) -> tuple[float, FloatArray]:
        shared, own, levels = found[0], found[1 : 1 + n_labels], found[1 + n_labels :]
        slopes = np.exp(shared + own)
        odds = levels + slopes * apart
        better = evidence.slope(odds)
        steep, away = slopes * (better * apart).sum(axis=0), shared + np.log(margin)
        doubt = 0.5 * away**2 + 0.5 * float(own @ own) / _SPREAD**2
        rise = [[steep.sum() - away], steep - own / _SPREAD**2, better.sum(axis=0)]
        return doubt - evidence.likelihood(odds), -np.concatenate(rise)

    start = np.concatenate([[-np.log(margin)], np.zeros(n_labels), logit(evidence.shares)])
    bounds = [(-25.0, 7.0)] + [(-_LARGEST, _LARGEST)] * n_labels + [(-40.0, 40.0)] * n_labels
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    slopes = np.exp(found[0] + found[1 : 1 + n_labels])
    return slopes, found[1 + n_labels :] - slopes * centre


def learn_chances(
    scores: FloatArray,
    lengths: IntArray,
    evidence: Evidence,
    wordless: FloatArray,
    margin: float,
) -> LabelChances:
    """Probabilities from the scores of documents held out, as they are and then cut short.

    All of them may be cut several times, one time after another. ``lengths`` are those of all these
    documents, ``wordless`` the scores without words.
    """
    n_held = len(evidence.signs)
    slopes, offsets = fit_odds(scores[:n_held], evidence, margin)

    def likelihood(odds: FloatArray) -> float:
        cuts = odds[n_held:].reshape(-1, *evidence.signs.shape)
        return evidence.likelihood(odds[:n_held]) + float(
            log_expit(evidence.signs * cuts).sum() / len(cuts)
        )

    brevity = fit_brevity(
        offsets + slopes * scores,
        lengths,
        offsets + slopes * wordless,
        logit(evidence.shares),
        likelihood,
    )
    return LabelChances(slopes, offsets, brevity)


def gather_evidence(signs: IntArray, shares: FloatArray, n_learned: float) -> Evidence:
    """Signs of documents held out, and shares of the labels in the ``n_learned`` learned from."""
    return Evidence(signs, shares, min(float(n_learned), _WORTH * len(signs)))
