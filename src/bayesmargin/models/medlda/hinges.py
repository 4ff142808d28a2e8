r"""The max-margin side of the topic conditional: hinges, their linear pieces, and the excess.

A document with :math:`N` words has class scores :math:`s_y = \sum_k \eta_{yk} C_k / N`. Two rules
give its pseudo-likelihood, both for one label or for a set of labels :math:`Y` (signs +1 and -1):

* :class:`LabelSetHinge`, :math:`\log\psi = -c\,(\ell + \max_{y \notin Y} s_y -
  \min_{y \in Y} s_y)_+` (Crammer and Singer's hinge when there is one label),
* :class:`MultiTaskHinge`, :math:`\log\psi = -c \sum_y (\ell - \sigma_y s_y)_+` with signs
  :math:`\sigma_y` (the binary model when there is one class).

Both are convex and piecewise linear, so *every* linear piece of :math:`-\log\psi` is a lower bound
of it:

.. math:: \psi(s) \le e^{-c\,(b + \sum_y a_y s_y)}.

The bound is linear in the topic counts: over the candidates :math:`k` of a word it is one vector
:math:`e^{-(c/N) \sum_y a_y \eta_{yk}}` that serves all words of the document. A topic is proposed
from it and kept with probability ``exp(-excess)``, where the *excess* :math:`-\log\psi -
c\,(b + \sum_y a_y s_y) \ge 0` needs the scores of the proposed topic only. What comes out has
exactly the conditional law, at nearly the price of a model without labels. The piece chosen decides
the speed alone; the one that is active at the current scores makes the excess zero there.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.hinge import binary_slack


class LabelSetHinge(NamedTuple):
    """Crammer-Singer hinge over label sets: cost ``c`` and margin ``l``."""

    cost: float
    margin: float


class MultiTaskHinge(NamedTuple):
    """Sum of one binary hinge a class on shared topics: cost ``c`` and margin ``l``."""

    cost: float
    margin: float


def hinge_value(hinge: Any, signs: IntArray, scores: FloatArray) -> float:
    r"""Value :math:`-\log\psi(s) / c`."""
    raise TypeError("compiled code only: one body a hinge")


def active_piece(hinge: Any, signs: IntArray, scores: FloatArray, slopes: FloatArray) -> float:
    r"""Write the slopes :math:`a_y` of the piece active at ``scores``; return its constant b.

    The slopes are minus the subgradient of :math:`\log\psi` with respect to the scores, over c.
    """
    raise TypeError("compiled code only: one body a hinge")


@inner_borrowing_jit
def best_rival(scores: FloatArray, signs: IntArray) -> int:
    """Class outside the label set with the largest score (lowest index on ties), or -1."""
    best = -1
    top = -np.inf
    for y in range(scores.shape[0]):
        if signs[y] < 0 and scores[y] > top:
            best = y
            top = scores[y]
    return best


@inner_borrowing_jit
def weakest_member(scores: FloatArray, signs: IntArray) -> int:
    """Class of the label set with the smallest score (lowest index on ties), or -1."""
    worst = -1
    low = np.inf
    for y in range(scores.shape[0]):
        if signs[y] > 0 and scores[y] < low:
            worst = y
            low = scores[y]
    return worst


@implements(hinge_value, LabelSetHinge, borrows=True)
def _label_set_value(hinge: LabelSetHinge, signs: IntArray, scores: FloatArray) -> float:
    # Without a rival or without a member the difference is -inf: no pair, no hinge.
    top, low = -np.inf, np.inf
    for y in range(scores.shape[0]):
        if signs[y] > 0:
            low = min(low, scores[y])
        else:
            top = max(top, scores[y])
    return max(0.0, hinge.margin + top - low)


@implements(active_piece, LabelSetHinge, borrows=True)
def _label_set_piece(
    hinge: LabelSetHinge, signs: IntArray, scores: FloatArray, slopes: FloatArray
) -> float:
    slopes[:] = 0.0
    rival, member = best_rival(scores, signs), weakest_member(scores, signs)
    if rival < 0 or member < 0 or hinge.margin + scores[rival] - scores[member] <= 0.0:
        return 0.0
    slopes[rival] = 1.0
    slopes[member] = -1.0
    return hinge.margin


@implements(hinge_value, MultiTaskHinge, borrows=True)
def _multi_task_value(hinge: MultiTaskHinge, signs: IntArray, scores: FloatArray) -> float:
    total = 0.0
    for y in range(scores.shape[0]):
        total += max(0.0, binary_slack(hinge.margin, signs[y], scores[y]))
    return total


@implements(active_piece, MultiTaskHinge, borrows=True)
def _multi_task_piece(
    hinge: MultiTaskHinge, signs: IntArray, scores: FloatArray, slopes: FloatArray
) -> float:
    constant = 0.0
    for y in range(scores.shape[0]):
        active = binary_slack(hinge.margin, signs[y], scores[y]) > 0.0
        slopes[y] = -1.0 * signs[y] if active else 0.0
    for y in range(scores.shape[0]):
        constant += hinge.margin if slopes[y] != 0.0 else 0.0
    return constant


@inner_borrowing_jit
def excess(
    hinge: Any, signs: IntArray, scores: FloatArray, slopes: FloatArray, constant: float
) -> float:
    """How far ``-log psi`` lies above the chosen piece at ``scores`` (not negative)."""
    piece = constant
    for y in range(scores.shape[0]):
        piece += slopes[y] * scores[y]
    return hinge.cost * max(0.0, hinge_value(hinge, signs, scores) - piece)


@inner_borrowing_jit
def add_subgradient(
    hinge: Any,
    signs: IntArray,
    scores: FloatArray,
    features: FloatArray,
    slopes: FloatArray,
    gradient: FloatArray,
) -> None:
    """Add the subgradient of ``log psi`` with respect to the weights (L, K) at these features."""
    active_piece(hinge, signs, scores, slopes)
    for y in range(scores.shape[0]):
        if slopes[y] != 0.0:
            factor = -hinge.cost * slopes[y]
            for k in range(features.shape[0]):
                gradient[y, k] += factor * features[k]
