r"""Exact Gibbs step for the weights by scale-mixture augmentation (Polson and Scott).

Seen as a function of one weight vector the hinge is
:math:`(b_d(\rho_d - \eta\cdot x_d))_+` plus a constant, for two classes with
:math:`\rho_d = b_d \ell`, for more with the largest rival inside :math:`\rho_d`. So

.. math::

   \lambda_d^{-1} \sim IG\big(2/(c|\zeta_d|), 1\big), \qquad
   \Sigma^{-1} = \tfrac1{s^2} I + \tfrac{c^2}{4}\sum_d \lambda_d^{-1} x_d x_d^\top, \qquad
   \mu = \Sigma \sum_d \big(\tfrac c2 b_d + \tfrac{c^2}{4}\rho_d/\lambda_d\big) x_d .

The mean of the L vectors does not enter the hinge; it is redrawn from its prior after each pass,
for row-by-row Gibbs hardly moves it.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.augmentation.law import gaussian_term, seen_by_class
from bayesmargin.foundation.compiling import implements, inner_borrowing_jit, inner_jit
from bayesmargin.foundation.copying import copy_vector
from bayesmargin.foundation.linear_algebra import (
    accumulate_outer,
    cholesky,
    dot,
    solve_lower,
    solve_lower_transposed,
)
from bayesmargin.foundation.random import augmentation_precision
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.experts import fill_scores
from bayesmargin.models.infinite_svc.state import Hinge, Mixture, Rows
from bayesmargin.models.infinite_svc.weights import ExpertScratch, update_expert
from bayesmargin.priors.shared import redraw_mean

_BLOCK = 32


class Augmentation(NamedTuple):
    """Exact block Gibbs; ``passes`` over the weight vectors in each sweep."""

    passes: int


@inner_borrowing_jit
def multiclass_view(scores: FloatArray, label: int, y: int, margin: float) -> tuple[float, float]:
    """Side b and threshold rho of the hinge as a function of weight vector ``y`` alone."""
    rival = -np.inf
    for other in range(scores.shape[0]):
        if other != y and other != label and scores[other] > rival:
            rival = scores[other]
    return seen_by_class(y == label, scores[label], rival, margin)


@inner_jit
def conditional(
    rng: np.random.Generator,
    y: int,
    members: IntArray,
    rows: Rows,
    scores: FloatArray,
    hinge: Hinge,
    scale: float,
    precision: FloatArray,
    linear: FloatArray,
) -> None:
    """Draw the augmentation of weight vector ``y`` and fill its Gaussian conditional.

    ``scores`` (members x R) holds the current scores. On return ``precision`` is the Cholesky
    factor of the inverse covariance and ``linear`` the product of inverse covariance and mean.
    """
    size = linear.shape[0]
    block, weight = np.zeros((_BLOCK, size)), np.zeros(_BLOCK)
    half = 0.5 * hinge.cost
    precision[:, :] = 0.0
    linear[:] = 0.0
    for i in range(size):
        precision[i, i] = 1.0 / (scale * scale)
    filled = 0
    for i in range(members.shape[0]):
        d = members[i]
        label = rows.labels[d]
        if scores.shape[1] == 1:
            side = 2.0 * label - 1.0
            threshold = side * hinge.margin
        else:
            side, threshold = multiclass_view(scores[i], label, y, hinge.margin)
        slack = side * (threshold - scores[i, y])
        mixing = augmentation_precision(rng, hinge.cost, slack)
        row = rows.design[d]
        weight[filled], pull = gaussian_term(half, side, threshold, mixing)
        for j in range(size):
            block[filled, j] = row[j]
            linear[j] += pull * row[j]
        filled += 1
        if filled == _BLOCK:
            accumulate_outer(precision, block, weight)
            filled = 0
    if filled > 0:
        weight[filled:] = 0.0
        accumulate_outer(precision, block[: (filled + 3) // 4 * 4], weight)
    cholesky(precision)


@inner_jit
def recentre(rng: np.random.Generator, weights: FloatArray, scale: float) -> None:
    """Redraw the mean of the L weight vectors, N(0, s^2/L), which the hinge cannot see."""
    if weights.shape[0] > 1:
        for j in range(weights.shape[1]):
            redraw_mean(rng, weights, j, scale)


@inner_jit
def gibbs_pass(
    rng: np.random.Generator,
    members: IntArray,
    rows: Rows,
    hinge: Hinge,
    scale: float,
    weights: FloatArray,
    scores: FloatArray,
) -> None:
    """One pass of exact block Gibbs over the weight vectors; ``scores`` is kept up to date."""
    size = weights.shape[1]
    precision, linear = np.empty((size, size)), np.empty(size)
    for y in range(weights.shape[0]):
        conditional(rng, y, members, rows, scores, hinge, scale, precision, linear)
        solve_lower(precision, linear)
        for j in range(size):
            linear[j] += rng.standard_normal()
        solve_lower_transposed(precision, linear)
        copy_vector(linear, weights[y])
        for i in range(members.shape[0]):
            scores[i, y] = dot(linear, rows.design[members[i]])


@inner_jit
def member_scores(members: IntArray, rows: Rows, weights: FloatArray) -> FloatArray:
    """Scores of the members under an expert, one line a member."""
    scores = np.empty((members.shape[0], weights.shape[0]))
    for i in range(members.shape[0]):
        fill_scores(weights, rows.design[members[i]], scores[i])
    return scores


@implements(update_expert, Augmentation)
def _update(
    method: Augmentation,
    source: np.random.Generator,
    slot: int,
    mixture: Mixture,
    scratch: ExpertScratch,
) -> None:
    rows, assignment, components, base, hinge = mixture
    members = assignment.members[assignment.start[slot] : assignment.start[slot + 1]]
    weights = components.weights[slot]
    scores = member_scores(members, rows, weights)
    for _ in range(method.passes):
        gibbs_pass(source, members, rows, hinge, base.weight_scale, weights, scores)
        recentre(source, weights, base.weight_scale)
