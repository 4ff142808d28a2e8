r"""The mean of a Gaussian with a given covariance that diverges least, of several classes.

The expectation of their hinge has no closed form. It is the average over a few draws
:math:`\pm u_i` of :math:`N(0, I)`, the same at every mean :math:`m`, so that

.. math:: m \mapsto \frac1{2M} \sum_i \big[U(m + F u_i) + U(m - F u_i)\big]

is convex and can be minimised as it stands. What is odd in the draws cancels. Along the draws the
gradient also says how sharply the energy bends under the Gaussian, :math:`E[u \cdot F^T \nabla U]`,
which is one a coordinate where the covariance is right: a class is scaled to that.
"""

import numpy as np
from scipy import optimize

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.foundation.types import FloatArray
from bayesmargin.targets.problem import Problem

PRODUCTS = 1 << 27  # of all rows with all draws that one pass may take,
FEWEST, MOST = 2, 16  # pairs of draws that it is worth
STEPS, FEWER = 10, 6  # of the minimisation; where no more draws than the fewest are affordable


def times_factor(factor: FloatArray, vector: FloatArray, transpose: bool = False) -> FloatArray:
    """Product of a factor of any structure, or its transpose, with a vector."""
    if factor.ndim == 1:
        return factor * vector
    if factor.ndim == 2:
        return (factor.T if transpose else factor) @ vector
    parts = vector.reshape(factor.shape[0], -1, 1)
    return np.matmul(factor.transpose(0, 2, 1) if transpose else factor, parts).ravel()


def hinges(problem: Problem, weights: FloatArray) -> tuple[float, FloatArray]:
    """Energy of the hinges at some weights and its gradient, from one pass over the rows."""
    table = weights.reshape(problem.n_classes, -1)
    value, gradient = 0.0, np.zeros_like(table)
    for span, values in problem.source.blocks():
        cost, label = problem.cost[span], problem.label[span]
        rows = np.arange(len(values))
        scores = values @ table.T.astype(values.dtype)
        own = scores[rows, label]
        scores[rows, label] -= problem.margin
        best = scores.argmax(axis=1)
        slack = scores[rows, best] + problem.margin - own
        changed = np.flatnonzero((best != label) & (slack > 0.0))
        value += float(cost[changed] @ slack[changed])
        push = np.zeros((len(values), len(table)), values.dtype)
        push[changed, best[changed]] = cost[changed]
        push[changed, label[changed]] = -cost[changed]
        gradient += push.T @ values
    return value, gradient.ravel()


def centred(problem: Problem, anchor: GaussianAnchor, rng: np.random.Generator) -> GaussianAnchor:
    """The anchor with the mean of least divergence, about, and its classes scaled."""
    size = anchor.factor.shape[-1] * (anchor.factor.shape[0] if anchor.factor.ndim == 3 else 1)
    products = problem.source.n_rows * problem.n_weights
    pairs = int(np.clip(PRODUCTS / (2 * products), FEWEST, MOST))
    draws = rng.standard_normal((pairs, size))
    moves = [times_factor(anchor.factor, draw) for draw in draws]
    passes = 0

    def objective(position: FloatArray) -> tuple[float, FloatArray]:
        nonlocal passes
        passes += 2 * pairs
        mean = anchor.mean + times_factor(anchor.factor, position)
        value, gradient, _ = problem.prior.expectation(mean, anchor.variances())
        gradient = np.array(gradient, dtype=float)
        for move in moves:
            for side in (mean + move, mean - move):
                more, slope = hinges(problem, side)
                value += more / (2 * pairs)
                gradient += slope / (2 * pairs)
        return value, times_factor(anchor.factor, gradient, transpose=True)

    most = {"maxiter": STEPS if pairs > FEWEST else FEWER}
    found = optimize.minimize(objective, np.zeros(size), jac=True, method="L-BFGS-B", options=most)
    mean = anchor.mean + times_factor(anchor.factor, found.x)
    bend = np.zeros(size)
    for draw, move in zip(draws, moves, strict=True):
        push = hinges(problem, mean + move)[1] - hinges(problem, mean - move)[1]
        bend += draw * times_factor(anchor.factor, push, transpose=True) / (2 * pairs)
    precision = problem.prior.expectation(mean, anchor.variances())[2]
    own = np.diag(precision) if precision.ndim == 2 else precision
    own = own * anchor.variances()
    factor = anchor.factor
    if factor.ndim == 3:  # every class by itself
        bend = (bend + own).reshape(len(factor), -1).mean(axis=1)
        factor = factor / np.sqrt(bend)[:, None, None]
    else:
        factor = factor / np.sqrt((bend.sum() + own.sum()) / size)
    return GaussianAnchor(mean, factor, anchor.iterations + passes + 2 * pairs)
