r"""Topics with the noise of a draw integrated out, for documents that were not learned from.

Given the topics of all training words, :math:`\Phi_k` is Dirichlet and need not be drawn to judge
new words: that a new document has distinct words w in topics z has the probability of

.. math:: \mathrm{E}[\Phi_{kw} \mid Z] = \frac{\beta + n_{kw}}{V \beta + n_{k\cdot}}

in the place of :math:`\Phi_{kw}`, but for terms of order :math:`1 / n_{k\cdot}`. Collapsed Gibbs
sampling has the counts. A chain of minibatches has estimates, which are averaged along it with the
share h of the topics that each minibatch renews,

.. math:: \bar n_{kw} \leftarrow (1 - h)\,\bar n_{kw} + h \tfrac DB n_{kw},

so that :math:`\beta + \bar n` is the mean of the flow (:mod:`.flow`) given the counts that drove
it. A minibatch has no less weight than its share of the documents so far: the first ones are the
smallest, and know least of the topics.

Most words of a vocabulary occur a few times: a draw of their weights says more about its noise than
about the word, and neighbouring draws share that noise, so that their average keeps it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.foundation.compiling import borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray

_SMALLEST = 1e-9


@dataclass
class ExpectedTopics:
    """Running average of the counts, ``scale * counts`` (V, P), and the prior weight of a word.

    The scale falls with every minibatch, so that words which a minibatch lacks are not touched.
    ``n_seen`` documents were averaged, counted as often as they came. ``short`` is how many
    minibatches more there would have been, had each been whole (:mod:`.pace`).
    """

    counts: FloatArray
    n_topics: int
    beta: float
    scale: float = 1.0
    n_seen: int = 0
    short: float = 0.0

    @classmethod
    def nothing(cls, n_words: int, width: int, n_topics: int, beta: float) -> "ExpectedTopics":
        """Before the first minibatch."""
        return cls(np.zeros((n_words, width), dtype=np.float32), n_topics, beta)

    def fade(self, share: float, n_documents: int) -> float:
        """Let a share of the average go; returns the factor with which new counts take its place.

        ``share`` is the least, for counts that come from ``n_documents`` documents.

        Examples
        --------
        >>> from bayesmargin.models.medlda.expected import ExpectedTopics
        >>> average = ExpectedTopics.nothing(1, 1, 1, 0.5)
        >>> for count, share in ((8.0, 1.0), (4.0, 0.25)):
        ...     average.counts += average.fade(share, 10) * count
        >>> average.topics()
        array([[6.5]], dtype=float32)
        """
        self.n_seen += n_documents
        share = max(share, n_documents / self.n_seen)
        left = (1.0 - share) * self.scale
        if left < _SMALLEST:
            self.counts *= np.float32(left)
            left = 1.0
        self.scale = left
        return share / left

    def topics(self) -> FloatArray:
        """Expected topics (V, P) times a constant each, zero in the padding."""
        topics = self.counts * np.float32(self.scale)
        topics[:, : self.n_topics] += np.float32(self.beta)
        return topics


@borrowing_jit
def add_counts(target: FloatArray, counts: IntArray, words: IntArray, factor: Any) -> None:
    """Add the counts of these words, times ``factor``."""
    real = target.dtype.type
    weight = real(factor)
    for i in range(words.shape[0]):
        word = words[i]
        for k in range(target.shape[1]):
            target[word, k] += weight * real(counts[word, k])
