r"""Online Bayesian passive-aggressive MedLDA: the streaming baseline.

Topics are held as :math:`\mathrm{Dir}(\beta + \Delta_k)`, the weights of class i as a Gaussian with
precision :math:`\Lambda_i` and :math:`h_i = \Lambda_i \mu_i`. A minibatch is sampled under both and
then absorbed: counts into :math:`\Delta`, augmented hinges into :math:`\Lambda` and :math:`h`.
"""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import digamma

from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.conditionals import padded
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.hinges import MultiTaskHinge
from bayesmargin.models.medlda.quadratic import (
    QuadraticWorkspace,
    enter_document,
    leave_document,
    make_quadratic_workspace,
    move_word,
)


@jit
def sweep_batch(
    rng: np.random.Generator,
    words: IntArray,
    offsets: IntArray,
    signs: IntArray,
    chosen: IntArray,
    cost: float,
    margin: float,
    alpha: float,
    mean: FloatArray,
    covariance: FloatArray,
    topics: FloatArray,
    scale: FloatArray,
    assigned: IntArray,
    precisions: FloatArray,
    shares: FloatArray,
    work: QuadraticWorkspace,
) -> None:
    """Words and augmentation variables of the chosen documents under the Gaussian weights.

    ``assigned`` holds the words of the chosen documents one after another; ``precisions`` and
    ``shares`` have one row each.
    """
    n_topics = mean.shape[1]
    start = 0
    for position in range(chosen.shape[0]):
        d = chosen[position]
        document = words[offsets[d] : offsets[d + 1]]
        length = document.shape[0]
        if length == 0:
            continue
        place = assigned[start : start + length]
        start += length
        rate = enter_document(
            signs[d], place, cost, margin, mean, covariance, precisions[position], work
        )
        for n in range(length):
            for k in range(n_topics):
                work.row[k] = topics[document[n], k]
            place[n] = move_word(rng, place[n], scale, alpha, rate, work)
        leave_document(
            rng,
            signs[d],
            cost,
            margin,
            rate,
            mean,
            covariance,
            precisions[position],
            shares[position],
            work,
        )


class PassiveAggressive:
    """State of the online learner; memory does not grow with the documents seen.

    Parameters
    ----------
    n_rounds, n_sweeps : int
        Rounds over one minibatch (the contribution of the last one counts) and sweeps a round,
        whose statistics are averaged.
    """

    def __init__(
        self,
        hinge: MultiTaskHinge,
        n_topics: int,
        n_words: int,
        n_classes: int,
        alpha: float,
        beta: float,
        prior_variance: float,
        rng: np.random.Generator,
        n_rounds: int = 1,
        n_sweeps: int = 3,
    ) -> None:
        self.hinge, self.alpha, self.beta, self.rng = hinge, alpha, beta, rng
        self.n_rounds, self.n_sweeps = n_rounds, n_sweeps
        width = padded(n_topics)
        self.delta: FloatArray = np.zeros((n_words, width), dtype=np.float32)
        self.precision = np.tile(np.eye(n_topics) / prior_variance, (n_classes, 1, 1))
        self.linear = np.zeros((n_classes, n_topics))
        self.mean = np.zeros((n_classes, n_topics))
        self.covariance = np.tile(np.eye(n_topics) * prior_variance, (n_classes, 1, 1))
        self.work = make_quadratic_workspace(width)
        self._topics = np.zeros((n_words, width), dtype=np.float32)
        self.minibatch: Any = None

    def absorb(self) -> None:
        """Sample the minibatch under the present posterior and take it in."""
        assert self.minibatch is not None
        documents, signs, chosen = self.minibatch[:3]
        n_topics = self.mean.shape[1]
        chosen = chosen[documents.lengths[chosen] > 0]
        words = np.concatenate(
            [documents.words[documents.offsets[d] : documents.offsets[d + 1]] for d in chosen]
            or [documents.words[:0]]
        )
        assigned: IntArray = self.rng.integers(n_topics, size=words.shape, dtype=np.int32)
        precisions = np.ones((chosen.shape[0], signs.shape[1]))
        before = (self.delta, self.precision, self.linear)
        for _ in range(self.n_rounds):
            statistics = self._sample(documents, signs, chosen, words, assigned, precisions)
            self.delta = before[0] + statistics[0]
            self.precision = before[1] + statistics[1]
            self.linear = before[2] + statistics[2]
            self._refresh_weights()

    def _sample(
        self,
        documents: Documents,
        signs: IntArray,
        chosen: IntArray,
        words: IntArray,
        assigned: IntArray,
        precisions: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Statistics of one round: counts, precision and linear term, averaged over sweeps."""
        n_topics, hinge = self.mean.shape[1], self.hinge
        topics, scale = self._expected_topics(np.unique(words))
        shares = np.zeros((chosen.shape[0], n_topics))
        counts = np.zeros_like(self.delta)
        precision, linear = np.zeros_like(self.precision), np.zeros_like(self.linear)
        quarter, part = 0.25 * hinge.cost**2, 1.0 / self.n_sweeps
        for _ in range(self.n_sweeps):
            sweep_batch(
                self.rng,
                documents.words,
                documents.offsets,
                signs,
                chosen,
                hinge.cost,
                hinge.margin,
                self.alpha,
                self.mean,
                self.covariance,
                topics,
                scale,
                assigned,
                precisions,
                shares,
                self.work,
            )
            np.add.at(counts, (words, assigned), np.float32(part))
            for i in range(signs.shape[1]):
                weight = precisions[:, i]
                precision[i] += part * quarter * ((shares * weight[:, None]).T @ shares)
                slope = signs[chosen, i] * (0.5 * hinge.cost + quarter * hinge.margin * weight)
                linear[i] += part * (shares.T @ slope)
        return counts, precision, linear

    def _expected_topics(self, words: IntArray) -> tuple[FloatArray, FloatArray]:
        r"""Optimal word weights :math:`\exp E\log\Phi_{kw}`, filled for the given words only."""
        n_topics = self.mean.shape[1]
        sums = self.delta[:, :n_topics].sum(axis=0, dtype=np.float64)
        logs = digamma(self.beta + self.delta[words, :n_topics].astype(np.float64))
        logs -= digamma(self.beta * self.delta.shape[0] + sums)
        # A factor common to all topics of a word cancels; a small beta would be out of range.
        logs -= logs.max(axis=1, keepdims=True)
        self._topics[words, :n_topics] = np.exp(logs)
        scale = np.zeros(self.delta.shape[1])
        scale[:n_topics] = 1.0
        return self._topics, scale

    def _refresh_weights(self) -> None:
        identity = np.eye(self.mean.shape[1])
        for i in range(self.mean.shape[0]):
            factor = cho_factor(self.precision[i], lower=True)
            self.covariance[i] = cho_solve(factor, identity)
            self.mean[i] = cho_solve(factor, self.linear[i])

    def topics(self) -> FloatArray:
        r"""Posterior mean of the topics up to scale, :math:`\beta + \Delta` (V, P)."""
        topics = np.zeros_like(self.delta)
        n_topics = self.mean.shape[1]
        topics[:, :n_topics] = self.delta[:, :n_topics] + np.float32(self.beta)
        return topics
