r"""Scores of documents with few words: between what the words say and the shares of the classes.

Topics of a document without words are in equal parts, and so are the weights that its scores
average over: they say nothing about how common the classes are. The first words have topics at
random, and scores that are bolder than they should be. So a document of N words that training has
met has the scores

.. math:: s_0 + e^{-N/m} (s_\pi - s_0) + (1 - e^{-N/k}) (s - s_0),

:math:`s` being those of its words, :math:`s_0` those without words, and :math:`s_\pi` the scores
whose probabilities are the shares of the classes in training. A document without words has these,
a long one its own. The lengths m and k maximise the likelihood of the held-out documents, as they
are and cut to a random number of their words (label sets: the centre of their prior).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from bayesmargin.foundation.types import FloatArray, IntArray

# Prior of the logarithms of m and k, for the few documents that small corpora hold out: three words
# and a third of a word, give or take a factor of four and a half.
_CENTRE, _SPREAD = np.array([1.0, -1.0]), 1.5


@dataclass(frozen=True)
class Brevity:
    """Scores without words, those of the classes' shares, and the lengths m and k in words.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.short_documents import Brevity
    >>> brevity = Brevity(np.array([0.0]), np.array([-3.0]), 4.0, 0.5)
    >>> brevity.settle(np.array([[0.0], [5.0], [5.0]]), np.array([0, 2, 1000])).round(2)
    array([[-3.  ],
           [ 3.09],
           [ 5.  ]])
    """

    wordless: FloatArray
    shares: FloatArray
    share_words: float
    doubt_words: float

    def settle(self, scores: FloatArray, lengths: IntArray) -> FloatArray:
        """Scores (n, L) of documents with so many words each."""
        share = np.exp(-lengths / self.share_words)[:, None]
        doubt = np.exp(-lengths / self.doubt_words)[:, None]
        start = self.wordless + share * (self.shares - self.wordless)
        return start + (1.0 - doubt) * (scores - self.wordless)


def usual_brevity(wordless: FloatArray, shares: FloatArray) -> Brevity:
    """Lengths m and k at the centre of their prior."""
    return Brevity(wordless, shares, *(float(v) for v in np.exp(_CENTRE)))


def fit_brevity(
    scores: FloatArray,
    lengths: IntArray,
    wordless: FloatArray,
    shares: FloatArray,
    likelihood: Callable[[FloatArray], float],
) -> Brevity:
    """Learn m and k; ``likelihood`` is the logarithm of that of the labels given scores."""

    def made(logs: FloatArray) -> Brevity:
        return Brevity(wordless, shares, *(float(v) for v in np.exp(np.clip(logs, -9.0, 9.0))))

    def loss(logs: FloatArray) -> float:
        doubt = 0.5 * float(np.sum(((logs - _CENTRE) / _SPREAD) ** 2))
        return doubt - likelihood(made(logs).settle(scores, lengths))

    return made(minimize(loss, _CENTRE, method="Nelder-Mead").x)
