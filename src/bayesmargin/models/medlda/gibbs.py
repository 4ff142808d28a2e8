r"""Collapsed and augmented Gibbs sampling for MedLDA: the exact baseline.

Topics and proportions are integrated out; the hinges of the multi-task model (one class: the
binary model) are made Gaussian by augmentation. One sweep draws the weights of every class, then
for every document its words and its augmentation variables.
"""

from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from bayesmargin.augmentation.law import gaussian_terms
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
from bayesmargin.models.medlda.weights import starting_weights

_KNOWN = np.zeros((0, 0, 0))
_MOVING = (
    *("assigned", "counts", "totals", "scale", "precisions", "coef", "shares", "work", "rng"),
)


@jit
def sweep_corpus(
    rng: np.random.Generator,
    words: IntArray,
    offsets: IntArray,
    signs: IntArray,
    cost: float,
    margin: float,
    alpha: float,
    beta: float,
    coef: FloatArray,
    assigned: IntArray,
    precisions: FloatArray,
    counts: IntArray,
    totals: FloatArray,
    scale: FloatArray,
    shares: FloatArray,
    covariance: FloatArray,
    work: QuadraticWorkspace,
) -> None:
    """Words and augmentation variables of every document; ``counts`` (V, P) follow each move."""
    n_topics, n_words = coef.shape[1], counts.shape[0]
    for d in range(offsets.shape[0] - 1):
        first, last = offsets[d], offsets[d + 1]
        if last == first:
            continue
        rate = enter_document(
            signs[d], assigned[first:last], cost, margin, coef, covariance, precisions[d], work
        )
        for n in range(first, last):
            word, old = words[n], assigned[n]
            counts[word, old] -= 1
            totals[old] -= 1.0
            scale[old] = 1.0 / (totals[old] + n_words * beta)
            for k in range(n_topics):
                work.row[k] = np.float32(counts[word, k]) + np.float32(beta)
            new = move_word(rng, old, scale, alpha, rate, work)
            assigned[n] = new
            counts[word, new] += 1
            totals[new] += 1.0
            scale[new] = 1.0 / (totals[new] + n_words * beta)
        leave_document(
            rng, signs[d], cost, margin, rate, coef, covariance, precisions[d], shares[d], work
        )


def draw_weights(
    rng: np.random.Generator,
    shares: FloatArray,
    signs: IntArray,
    precisions: FloatArray,
    hinge: MultiTaskHinge,
    prior_variance: float,
) -> FloatArray:
    r"""Weights of every class from their Gaussian conditional given the augmentation.

    .. math:: \Sigma^{-1} = I/s^2 + \tfrac{c^2}4 \sum_d \bar z_d \bar z_d^\top / \lambda_d,
              \qquad \mu = \Sigma \sum_d \sigma_d
              \big(\tfrac c2 + \tfrac{c^2 \ell}{4\lambda_d}\big) \bar z_d
    """
    n_classes, n_topics = signs.shape[1], shares.shape[1]
    coef = np.empty((n_classes, n_topics))
    half = 0.5 * hinge.cost
    omega, slopes = gaussian_terms(half, signs, hinge.margin * signs, precisions)
    for i in range(n_classes):
        precision = (shares * omega[:, i : i + 1]).T @ shares
        precision[np.diag_indices(n_topics)] += 1.0 / prior_variance
        root = cholesky(precision, lower=True)
        half = solve_triangular(root, shares.T @ slopes[:, i], lower=True)
        noise = rng.standard_normal(n_topics)
        coef[i] = solve_triangular(root.T, half + noise, lower=False)
    return coef


class CollapsedChain:
    """State of the collapsed Gibbs sampler: assignments, weights, augmentation variables."""

    def __init__(
        self,
        documents: Documents,
        signs: IntArray,
        hinge: MultiTaskHinge,
        n_topics: int,
        n_words: int,
        alpha: float,
        beta: float,
        prior_variance: float,
        rng: np.random.Generator,
    ) -> None:
        # A document without words has no representation and says nothing about the weights.
        self._present = documents.lengths > 0
        self.documents, self.signs, self.hinge, self.rng = documents, signs, hinge, rng
        self.alpha, self.beta, self.prior_variance = alpha, beta, prior_variance
        width = padded(n_topics)
        shape = (documents.words.shape[0],)
        self.assigned: IntArray = rng.integers(n_topics, size=shape, dtype=np.int32)
        self.counts = np.zeros((n_words, width), dtype=np.int32)
        np.add.at(self.counts, (documents.words, self.assigned), 1)
        self.totals = self.counts.sum(axis=0, dtype=np.float64)
        self.scale = np.zeros(width)
        self.scale[:n_topics] = 1.0 / (self.totals[:n_topics] + n_words * beta)
        self.precisions = np.ones(signs.shape)
        self.coef: FloatArray = np.zeros((signs.shape[1], n_topics))
        self.shares = np.zeros((documents.n_documents, n_topics))
        rows = np.repeat(np.arange(documents.n_documents), documents.lengths)
        np.add.at(self.shares, (rows, self.assigned), 1.0)
        self.shares /= np.maximum(documents.lengths, 1)[:, None]
        self.work = make_quadratic_workspace(width)

    def begin(self) -> None:
        """Draw the words once under weights that give every class topics of its own.

        From topics at random, where the published sampler starts, classes that come to share a
        topic part late, or never.
        """
        n_classes, n_topics = self.coef.shape
        self.coef = starting_weights(self.hinge, n_classes, n_topics, self.rng)
        self.draw_words()

    def draw_weights(self) -> None:
        """The weights of all classes, given words and augmentation variables."""
        seen = self._present
        self.coef = draw_weights(
            self.rng,
            self.shares[seen],
            self.signs[seen],
            self.precisions[seen],
            self.hinge,
            self.prior_variance,
        )

    def draw_words(self) -> None:
        """Words and augmentation variables of all documents, given the weights."""
        sweep_corpus(
            self.rng,
            self.documents.words,
            self.documents.offsets,
            self.signs,
            self.hinge.cost,
            self.hinge.margin,
            self.alpha,
            self.beta,
            self.coef,
            self.assigned,
            self.precisions,
            self.counts,
            self.totals,
            self.scale,
            self.shares,
            _KNOWN,
            self.work,
        )

    def moving(self) -> dict[str, Any]:
        """What sweeps change."""
        return {name: getattr(self, name) for name in _MOVING}

    def topics(self) -> FloatArray:
        r"""Topic weights :math:`C_{kw} + \beta` (V, P), zero in the padding."""
        topics = np.zeros(self.counts.shape, dtype=np.float32)
        n_topics = self.coef.shape[1]
        topics[:, :n_topics] = self.counts[:, :n_topics] + np.float32(self.beta)
        return topics
