r"""Rows of users and of items, each drawn given all else by augmentation.

A rating :math:`y_{ij}` of the levels :math:`0..R-1` is on the right side of every threshold
:math:`\theta_{ir}` if :math:`b_{ijr}(m_{ij} - \theta_{ir})` is positive, with :math:`b = 1` where
:math:`y > r` and :math:`-1` elsewhere, and should be so by a margin:

.. math:: m_{ij} = a_i + d_j + U_i \cdot V_j, \qquad
          \psi_{ij} = \prod_r \exp\!\big(-c\,(\ell - b_{ijr}(m_{ij} - \theta_{ir}))_+\big) .

So each threshold is a binary hinge of the score :math:`m - \theta`, and given its mixing variable
(:mod:`bayesmargin.augmentation.law`) a Gaussian in it. A row of a user holds the bias, the factors
and the thresholds, which are drawn together; a row of an item the bias and the factors. Mixing
variables are drawn anew for every row that is drawn.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.augmentation.law import gaussian_term
from bayesmargin.foundation.compiling import inner_borrowing_jit, inner_jit, jit
from bayesmargin.foundation.linear_algebra import cholesky, solve_lower, solve_lower_transposed
from bayesmargin.foundation.random import augmentation_precision
from bayesmargin.foundation.types import FloatArray, IntArray


class Ratings(NamedTuple):
    """Ratings one after another by row of one side: of users, or of items."""

    start: IntArray  #: (n_rows + 1,)
    other: IntArray  #: (n_ratings,) row of the other side
    level: IntArray  #: (n_ratings,) from 0 on


@inner_borrowing_jit
def side_of(level, threshold):  # type: ignore[no-untyped-def]
    """Side of a threshold on which a rating wants its score."""
    return 1.0 if level > threshold else -1.0


@inner_borrowing_jit
def score_of(own, i, far, j):  # type: ignore[no-untyped-def]
    """Score of a pair: first columns are biases, the others factors."""
    total = own[i, 0] + far[j, 0]
    for k in range(1, own.shape[1]):
        total += own[i, k] * far[j, k]
    return total


@inner_borrowing_jit
def hinge_of(level, score, thresholds, i, margin):  # type: ignore[no-untyped-def]
    """By how much a rating of user i fails to be on its sides, over all thresholds."""
    total = 0.0
    for r in range(thresholds.shape[1]):
        total += max(0.0, margin - side_of(level, r) * (score - thresholds[i, r]))
    return total


@inner_jit
def _draw_gaussian(rng, precision, linear):  # type: ignore[no-untyped-def]
    """Overwrite the linear term of a Gaussian by a draw."""
    cholesky(precision)
    solve_lower(precision, linear)
    for k in range(linear.shape[0]):
        linear[k] += rng.standard_normal()
    solve_lower_transposed(precision, linear)


@jit
def draw_rows(
    rng: np.random.Generator,
    start: IntArray,
    other: IntArray,
    level: IntArray,
    own: FloatArray,
    far: FloatArray,
    thresholds: FloatArray,
    of_users: bool,
    drawn: int,
    mean: FloatArray,
    precision: FloatArray,
    cost: float,
    margin: float,
) -> None:
    """Draw the first columns of all rows of one side, of users with thresholds, given all else.

    ``mean`` and ``precision`` are the prior of what is drawn of a row: bias, factors, thresholds.
    """
    cuts = thresholds.shape[1]
    size = drawn + cuts if of_users else drawn
    half = 0.5 * cost
    matrix, linear, line = np.empty((size, size)), np.empty(size), np.empty(drawn)
    for i in range(own.shape[0]):
        for k in range(size):
            for q in range(k):
                matrix[k, q] = 0.0
            matrix[k, k] = precision[k]
            linear[k] = precision[k] * mean[k]
        for d in range(start[i], start[i + 1]):
            j = other[d]
            user = i if of_users else j
            score = score_of(own, i, far, j)
            rest, line[0] = far[j, 0], 1.0
            for k in range(1, drawn):
                line[k] = far[j, k]
            for k in range(drawn, own.shape[1]):
                rest += own[i, k] * far[j, k]
            total, pulled = 0.0, 0.0
            for r in range(cuts):
                side = side_of(level[d], r)
                gap = score - thresholds[user, r]
                mixing = augmentation_precision(rng, cost, margin - side * gap)
                omega, pull = gaussian_term(half, side, side * margin, mixing)
                pull -= omega * (rest if of_users else rest - thresholds[user, r])
                total += omega
                pulled += pull
                if of_users:
                    matrix[drawn + r, drawn + r] += omega
                    linear[drawn + r] -= pull
                    for k in range(drawn):
                        matrix[drawn + r, k] -= omega * line[k]
            for k in range(drawn):
                linear[k] += pulled * line[k]
                for q in range(k + 1):
                    matrix[k, q] += total * line[k] * line[q]
        _draw_gaussian(rng, matrix, linear)
        for k in range(drawn):
            own[i, k] = linear[k]
        if of_users:
            for r in range(cuts):
                thresholds[i, r] = linear[drawn + r]


@jit
def measure(
    start: IntArray,
    other: IntArray,
    level: IntArray,
    user: FloatArray,
    item: FloatArray,
    thresholds: FloatArray,
    margin: float,
) -> tuple[float, float]:
    """Sums over ratings, by user: of the hinges, and of the squared parts of factors in scores."""
    hinges, squares = 0.0, 0.0
    for i in range(user.shape[0]):
        for d in range(start[i], start[i + 1]):
            score = score_of(user, i, item, other[d])
            part = score - user[i, 0] - item[other[d], 0]
            hinges += hinge_of(level[d], score, thresholds, i, margin)
            squares += part * part
    return hinges, squares


@jit
def forecast(
    user: FloatArray,
    threshold: FloatArray,
    item: FloatArray,
    i: IntArray,
    j: IntArray,
    sharpness: float,
    margin: float,
    chance: FloatArray,
) -> None:
    r"""Add the probabilities of all levels for pairs (i, j), :math:`P(y) \propto \psi_y^{1/c'}`.

    ``sharpness`` takes the place of the cost in :math:`\psi`; ``chance`` is (pairs, levels).
    """
    n_levels = chance.shape[1]
    logs = np.empty(n_levels)
    for d in range(i.shape[0]):
        score, top = score_of(user, i[d], item, j[d]), -np.inf
        for y in range(n_levels):
            logs[y] = -sharpness * hinge_of(y, score, threshold, i[d], margin)
            top = max(top, logs[y])
        total = 0.0
        for y in range(n_levels):
            logs[y] = math.exp(logs[y] - top)
            total += logs[y]
        for y in range(n_levels):
            chance[d, y] += logs[y] / total
