r"""Gibbs sweeps under the augmented hinge, whose logarithm is quadratic in the topic counts.

With one augmentation variable :math:`\lambda_i` a class, both baselines give a word the exponent

.. math:: \tfrac1N \sum_i b_i m_{ik} - \tfrac1{2N^2}\big(M_{kk} + 2 \textstyle\sum_{k'} M_{kk'}
          C_{k'}^{-n}\big), \qquad b_i = \sigma_i\big(\tfrac c2 + \tfrac{c^2 \ell}{4\lambda_i}\big),
          \quad M = \sum_i \tfrac{c^2}{4\lambda_i} S_i

where :math:`m_i` and :math:`S_i` are mean and second moment of the weights: a draw and its outer
product in collapsed Gibbs sampling, those of a Gaussian in the passive-aggressive method. The
exponents of all topics are kept up to date while words move.

A sweep over a document is :func:`enter_document`, :func:`move_word` for every word and
:func:`leave_document`. Where the weights are known, ``covariance`` (L, K, K) is empty.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import inner_jit
from bayesmargin.foundation.random import augmentation_precision
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.conditionals import draw_from_logs, draw_topic
from bayesmargin.models.medlda.exponential import exponential


class QuadraticWorkspace(NamedTuple):
    """Arrays that one document needs at a time (``held``: words in each topic)."""

    held: FloatArray
    exponent: FloatArray
    matrix: FloatArray
    weight: FloatArray
    row: FloatArray
    product: FloatArray
    logs: FloatArray


def make_quadratic_workspace(n_padded: int) -> QuadraticWorkspace:
    """Work space for ``n_padded`` topics."""
    return QuadraticWorkspace(
        held=np.zeros(n_padded),
        exponent=np.zeros(n_padded),
        matrix=np.zeros((n_padded, n_padded)),
        weight=np.zeros(n_padded, dtype=np.float32),
        row=np.zeros(n_padded, dtype=np.float32),
        product=np.zeros(n_padded, dtype=np.float32),
        logs=np.zeros(n_padded),
    )


@inner_jit
def fill_second_moment(
    cost: float,
    precisions: FloatArray,
    mean: FloatArray,
    covariance: FloatArray,
    matrix: FloatArray,
) -> None:
    r"""Fill ``matrix`` with :math:`\sum_i \tfrac{c^2}{4\lambda_i}(\mu_i \mu_i^\top + \Sigma_i)`."""
    n_topics = mean.shape[1]
    for k in range(n_topics):
        for j in range(n_topics):
            matrix[k, j] = 0.0
    for i in range(mean.shape[0]):
        quarter = 0.25 * cost * cost * precisions[i]
        for k in range(n_topics):
            factor = quarter * mean[i, k]
            for j in range(n_topics):
                matrix[k, j] += factor * mean[i, j]
            if covariance.shape[0] > 0:
                for j in range(n_topics):
                    matrix[k, j] += quarter * covariance[i, k, j]


@inner_jit
def fill_exponents(
    signs: IntArray,
    precisions: FloatArray,
    cost: float,
    margin: float,
    rate: float,
    mean: FloatArray,
    work: QuadraticWorkspace,
) -> None:
    """Exponents of a candidate word on top of the present counts (``matrix`` is filled)."""
    n_topics = mean.shape[1]
    exponent, matrix = work.exponent, work.matrix
    exponent[:] = 0.0
    for i in range(signs.shape[0]):
        slope = signs[i] * (0.5 * cost + 0.25 * cost * cost * margin * precisions[i])
        for k in range(n_topics):
            exponent[k] += rate * slope * mean[i, k]
    for k in range(n_topics):
        crossed = 0.5 * matrix[k, k]
        for j in range(n_topics):
            crossed += matrix[k, j] * work.held[j]
        exponent[k] -= rate * rate * crossed


@inner_jit
def log_quadratic_conditional(
    old: int, row: FloatArray, scale: FloatArray, alpha: float, rate: float, work: Any
) -> None:
    """Fill ``logs`` with the log conditional of a word that was just taken out of ``held``.

    ``exponent`` still belongs to the counts with the word in topic ``old``.
    """
    for k in range(work.logs.shape[0]):
        prior = np.log(alpha + work.held[k]) + np.log(row[k]) + np.log(scale[k])
        work.logs[k] = prior + work.exponent[k] + rate * rate * work.matrix[old, k]


@inner_jit
def draw_word(
    rng: np.random.Generator, old: int, scale: FloatArray, alpha: float, rate: float, work: Any
) -> int:
    """New topic for a word taken out of ``held``; ``row`` holds its weight in every topic."""
    top = -np.inf
    squared = rate * rate
    for k in range(work.logs.shape[0]):
        work.logs[k] = work.exponent[k] + squared * work.matrix[old, k]
        if scale[k] > 0.0:
            top = max(top, work.logs[k])
    for k in range(work.logs.shape[0]):
        factor = exponential(np.float32(min(0.0, work.logs[k] - top)))
        work.weight[k] = factor * np.float32((alpha + work.held[k]) * scale[k])
    new = draw_topic(rng, work.weight, work.row, work.product)
    if new < 0:
        log_quadratic_conditional(old, work.row, scale, alpha, rate, work)
        new = draw_from_logs(rng, work.logs)
    return new


@inner_jit
def shift_exponents(old: int, new: int, rate: float, work: QuadraticWorkspace) -> None:
    """Account for a word that moved from topic ``old`` to ``new``."""
    squared = rate * rate
    for k in range(work.exponent.shape[0]):
        work.exponent[k] += squared * (work.matrix[old, k] - work.matrix[new, k])


@inner_jit
def move_word(
    rng: np.random.Generator, old: int, scale: FloatArray, alpha: float, rate: float, work: Any
) -> int:
    """Move a word of topic ``old``, whose weights are in ``row``; return its new topic."""
    work.held[old] -= 1.0
    new = draw_word(rng, old, scale, alpha, rate, work)
    work.held[new] += 1.0
    if new != old:
        shift_exponents(old, new, rate, work)
    return new


@inner_jit
def count_topics(assigned: IntArray, count: FloatArray) -> None:
    """Number of words of a document in every topic."""
    count[:] = 0.0
    for n in range(assigned.shape[0]):
        count[assigned[n]] += 1.0


@inner_jit
def draw_precisions(
    rng: np.random.Generator,
    signs: IntArray,
    cost: float,
    margin: float,
    rate: float,
    mean: FloatArray,
    covariance: FloatArray,
    count: FloatArray,
    precisions: FloatArray,
) -> None:
    r"""Draw :math:`1/\lambda_i \sim IG(2 / (c \sqrt{E\zeta_i^2}), 1)` for every class.

    Weights that are known have :math:`E\zeta^2 = \zeta^2`.
    """
    n_topics = mean.shape[1]
    for i in range(signs.shape[0]):
        score = 0.0
        for k in range(n_topics):
            score += rate * count[k] * mean[i, k]
        squared = (margin - signs[i] * score) ** 2
        if covariance.shape[0] > 0:
            for k in range(n_topics):
                if count[k] > 0.0:
                    for j in range(n_topics):
                        squared += rate * rate * count[k] * covariance[i, k, j] * count[j]
        precisions[i] = augmentation_precision(rng, cost, np.sqrt(squared))


@inner_jit
def enter_document(
    signs: IntArray,
    assigned: IntArray,
    cost: float,
    margin: float,
    mean: FloatArray,
    covariance: FloatArray,
    precisions: FloatArray,
    work: QuadraticWorkspace,
) -> float:
    """Fill ``held``, ``matrix`` and ``exponent`` for a document; return one over its length."""
    rate = 1.0 / assigned.shape[0]
    count_topics(assigned, work.held)
    fill_second_moment(cost, precisions, mean, covariance, work.matrix)
    fill_exponents(signs, precisions, cost, margin, rate, mean, work)
    return rate


@inner_jit
def leave_document(
    rng: np.random.Generator,
    signs: IntArray,
    cost: float,
    margin: float,
    rate: float,
    mean: FloatArray,
    covariance: FloatArray,
    precisions: FloatArray,
    shares: FloatArray,
    work: QuadraticWorkspace,
) -> None:
    """Draw the augmentation variables given the words, and note the shares of the topics."""
    draw_precisions(rng, signs, cost, margin, rate, mean, covariance, work.held, precisions)
    for k in range(shares.shape[0]):
        shares[k] = rate * work.held[k]
