r"""Passes of the wide one-vs-rest anchor: smoothed binary hinges of all classes in one reading.

For row :math:`d` and class :math:`k`, with slack :math:`\mu_{dk} = \ell - y_{dk}\,x_d \cdot m_k`,
the expected hinge under the anchor is
:math:`\mu\,\Phi(\mu/\sigma) + \sigma\,\varphi(\mu/\sigma)`, as for two classes. Weights are
interleaved.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.rows.blocks import as_rows
from bayesmargin.rows.layout import row_scores, row_spread, row_square_scores
from bayesmargin.targets.problem import Problem

LARGEST_TABLE = 1 << 28  # bytes of a deviation a row and class; beyond, one a row serves all
ROOT_HALF = math.sqrt(0.5)
DENSITY = 1.0 / math.sqrt(2.0 * math.pi)


class SeparateStates(NamedTuple):
    """States at the anchor of all rows (``reference`` of all classes) and what follows from them.

    ``distance`` is that of the class whose kink is nearest, ``reach`` that of the widest class, and
    ``roughness`` (:func:`.screening.roughness`) that of the class that has most of it.
    """

    reference: IntArray
    distance: FloatArray
    reach: FloatArray
    roughness: float


def separate_deviations(problem: Problem, scale: FloatArray) -> FloatArray:
    """Standard deviations of the scores, (row, class); (row, 1) where the table would be large."""
    n_rows, count = problem.source.n_rows, problem.n_classes
    squares = scale.reshape(-1, count) ** 2
    if 8 * n_rows * count > LARGEST_TABLE:
        squares = squares.mean(axis=1, keepdims=True)
    result = np.empty((n_rows, squares.shape[1]))
    for span, block in problem.source.blocks():
        _deviations(as_rows(block), squares, result[span])
    return np.maximum(result, 1e-300)


@jit
def _deviations(rows, squares, result):  # type: ignore[no-untyped-def]
    for i in range(result.shape[0]):
        row_square_scores(rows, i, squares, result[i])
        for k in range(result.shape[1]):
            result[i, k] = math.sqrt(result[i, k])


@jit
def separate_block(rows, facts, margin, mean, gradient, curvature, scores):  # type: ignore[no-untyped-def]
    """Smoothed binary hinges of all classes for a block of rows."""
    label, cost, deviation = facts
    count, total = scores.shape[0], 0.0
    apart = 1 if deviation.shape[1] > 1 else 0
    bends = np.empty_like(scores)
    table = mean.reshape(mean.shape[0] // count, count)
    for i in range(label.shape[0]):
        row_scores(rows, i, table, scores)
        scores[label[i]] = -scores[label[i]]
        for k in range(count):
            slack, width = margin + scores[k], deviation[i, apart * k]
            ratio = slack / width
            share = 0.5 * math.erfc(-ROOT_HALF * ratio)
            density = DENSITY * math.exp(-0.5 * ratio * ratio)
            total += cost[i] * (slack * share + width * density)
            scores[k] = cost[i] * share
            bends[k] = cost[i] * density / width
        scores[label[i]] = -scores[label[i]]
        row_spread(rows, i, scores, 1, gradient)
        if curvature.shape[0] > 0:
            row_spread(rows, i, bends, 2, curvature)
    return total


def separate_states(
    problem: Problem, mean: FloatArray, deviation: FloatArray, drift: FloatArray
) -> SeparateStates:
    """States of all rows at ``mean``; the gradient there is added to ``drift``."""
    n_rows, count = problem.source.n_rows, problem.n_classes
    reference = np.empty((n_rows, count), dtype=np.int8)
    distance, reach = np.empty(n_rows), np.empty(n_rows)
    scores, shares = np.empty(count), np.zeros((2, count))
    for span, block in problem.source.blocks():
        facts = (problem.label[span], problem.cost[span], deviation[span])
        out = (reference[span], distance[span], reach[span])
        _states(as_rows(block), facts, problem.margin, mean, drift, scores, shares, out)
    rough = shares[1] / np.maximum(shares[0], 1e-300)
    return SeparateStates(reference, distance, reach, float(np.sqrt(rough.max())))


@jit
def _states(rows, facts, margin, mean, drift, scores, shares, out):  # type: ignore[no-untyped-def]
    label, cost, deviation = facts
    reference, distance, reach = out
    count = scores.shape[0]
    apart = 1 if deviation.shape[1] > 1 else 0
    table = mean.reshape(mean.shape[0] // count, count)
    for i in range(label.shape[0]):
        row_scores(rows, i, table, scores)
        scores[label[i]] = -scores[label[i]]
        nearest, widest = np.inf, 0.0
        for k in range(count):
            slack, width = margin + scores[k], deviation[i, apart * k]
            ratio, own = slack / width, cost[i] * width
            nearest, widest = min(nearest, abs(ratio)), max(widest, width)
            share = math.exp(-0.5 * ratio * ratio) * own
            shares[0, k] += share
            shares[1, k] += share * own * own
            active = slack > 0.0
            reference[i, k] = 1 if active else 0
            scores[k] = cost[i] if active else 0.0
        scores[label[i]] = -scores[label[i]]
        row_spread(rows, i, scores, 1, drift)
        distance[i] = nearest
        reach[i] = cost[i] * widest
