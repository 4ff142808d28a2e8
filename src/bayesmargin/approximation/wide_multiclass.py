"""Passes of the wide multi-class anchor: softmax-smoothed energy and the states of the rows.

The smoothing is that of :mod:`bayesmargin.approximation.multiclass`; weights are interleaved.
"""

from collections.abc import Callable

import numpy as np

from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.hinge import winner
from bayesmargin.rows.blocks import as_rows
from bayesmargin.rows.layout import row_add, row_scores, row_spread
from bayesmargin.targets.problem import Problem

TEMPERATURE = np.sqrt(np.pi) / 2.0  # sqrt(2 pi)/4 times the sqrt(2) of a difference of scores


def smoothed_energy(
    kernel: Callable[..., float],
    problem: Problem,
    mean: FloatArray,
    width: FloatArray,
    gradient: FloatArray,
    diagonal: FloatArray | None,
) -> float:
    """Smoothed hinge energy of all rows; gradient and curvature are added to the arrays given.

    ``kernel`` does it for a block of rows, and ``width`` says how far each row is smoothed.
    """
    value = 0.0
    curvature = np.zeros(0) if diagonal is None else diagonal
    scores = np.empty(problem.n_classes)
    for span, block in problem.source.blocks():
        facts = (problem.label[span], problem.cost[span], width[span])
        value += kernel(as_rows(block), facts, problem.margin, mean, gradient, curvature, scores)
    return value


@jit
def softmax_block(rows, facts, margin, mean, gradient, curvature, scores):  # type: ignore[no-untyped-def]
    """Softmax-smoothed hinges of a block of rows; the widths are temperatures."""
    label, cost, tau = facts
    count, total = scores.shape[0], 0.0
    bends = np.empty_like(scores)
    table = mean.reshape(mean.shape[0] // count, count)
    for i in range(label.shape[0]):
        row_scores(rows, i, table, scores)
        total -= cost[i] * scores[label[i]]
        for k in range(count):
            scores[k] += margin if k != label[i] else 0.0
        top, mass = scores.max(), 0.0
        for k in range(count):
            scores[k] = np.exp((scores[k] - top) / tau[i])
            mass += scores[k]
        total += cost[i] * (top + tau[i] * np.log(mass))
        for k in range(count):
            share = scores[k] / mass
            scores[k] = cost[i] * (share - 1.0 if k == label[i] else share)
            bends[k] = cost[i] * share * (1.0 - share) / tau[i]
        row_spread(rows, i, scores, 1, gradient)
        if curvature.shape[0] > 0:
            row_spread(rows, i, bends, 2, curvature)
    return total


def winning_options(
    problem: Problem, mean: FloatArray, drift: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Winning option of every row at ``mean`` and its lead; the gradient is added to ``drift``."""
    n_rows = problem.source.n_rows
    reference, lead = np.empty(n_rows, dtype=np.int64), np.empty(n_rows)
    scores = np.empty(problem.n_classes)
    for span, block in problem.source.blocks():
        facts = (problem.label[span], problem.cost[span])
        out = (reference[span], lead[span])
        _winners(as_rows(block), facts, problem.margin, mean, drift, scores, out)
    return reference, lead


@jit
def _winners(rows, facts, margin, mean, drift, scores, out):  # type: ignore[no-untyped-def]
    label, cost = facts
    count = scores.shape[0]
    table = mean.reshape(mean.shape[0] // count, count)
    for i in range(label.shape[0]):
        row_scores(rows, i, table, scores)
        best = winner(margin, scores, label[i])
        if best != label[i]:
            row_add(rows, i, cost[i], drift[best::count])
            row_add(rows, i, -cost[i], drift[label[i] :: count])
        for k in range(count):
            scores[k] += margin if k != label[i] else 0.0
        second = -np.inf
        for k in range(count):
            if k != best and scores[k] > second:
                second = scores[k]
        out[0][i] = best
        out[1][i] = scores[best] - second
