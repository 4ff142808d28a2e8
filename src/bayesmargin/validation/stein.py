r"""Kernel Stein discrepancy: finished draws against the gradient of the posterior.

With the score :math:`s = -\nabla U` and the inverse multiquadric kernel
:math:`k(x, y) = (1 + |x - y|^2/2n)^{-1/2}` in coordinates scaled to unit covariance,

.. math:: k_0(x, y) = s(x) \cdot s(y)\,k + s(x) \cdot \nabla_y k + s(y) \cdot \nabla_x k
          + \nabla_x \cdot \nabla_y k

has expectation zero under the posterior in each argument. As :math:`U` is Lipschitz this holds with
kinks as well. The mean of :math:`k_0` over pairs is zero in expectation for draws of the posterior
and positive for anything else; its law under the posterior comes from a wild bootstrap.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.approximation.exact import complete_target
from bayesmargin.diagnostics.stein import full_gradients
from bayesmargin.foundation.types import FloatArray
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import workspace


class SteinDiscrepancy(NamedTuple):
    """Squared discrepancy (an unbiased estimate, which may be negative) and its p-value."""

    squared: float
    p_value: float


def posterior_gradients(problem: Problem, weights: FloatArray) -> FloatArray:
    """Gradient of the energy over all rows at each of some weights (rows)."""
    target = complete_target(problem).target
    chosen, work = np.ascontiguousarray(weights, dtype=float), workspace(target, np.float64)
    return full_gradients(target, chosen, work, np.random.default_rng(0))


def _stein_matrix(positions: FloatArray, scores: FloatArray) -> FloatArray:
    size = positions.shape[1]
    width = 2.0 * size
    norms = np.einsum("ij,ij->i", positions, positions)
    square = np.maximum(norms[:, None] + norms[None] - 2.0 * positions @ positions.T, 0.0)
    base = 1.0 + square / width
    value = base**-0.5
    slope = -(base**-1.5) / width  # times (x - y): the gradient of the kernel in x
    own = np.einsum("ij,ij->i", scores, positions)
    cross = scores @ positions.T
    toward = own[:, None] - cross  # s(x) . (x - y)
    back = cross.T - own[None]  # s(y) . (x - y)
    trace = -size * slope - 3.0 * square * base**-2.5 / width**2
    return scores @ scores.T * value + slope * (back - toward) + trace


def _checked(problem: Problem, weights: FloatArray) -> FloatArray:
    """The draws, if their covariance can be scaled away."""
    weights = np.asarray(weights, dtype=float)
    if weights.ndim != 2 or weights.shape[1] != problem.n_weights:
        raise ValueError(
            f"weights of shape {weights.shape} are not allowed: the axes are (draw, weight), and "
            f"this problem has {problem.n_weights} weights"
        )
    if not np.isfinite(weights).all():
        raise ValueError("the draws are not all finite: the sampler has diverged")
    centred = weights - weights.mean(axis=0)
    scale = centred.std(axis=0)
    rank = np.linalg.matrix_rank(centred / np.where(scale > 0.0, scale, 1.0))
    if rank < problem.n_weights:
        raise ValueError(
            f"the {len(weights)} draws span {rank} of {problem.n_weights} dimensions: there are "
            "too few, or the sampler does not move in all of them"
        )
    return weights


def kernel_stein_discrepancy(
    problem: Problem, weights: FloatArray, n_bootstrap: int = 500, seed: int = 0
) -> SteinDiscrepancy:
    """Kernel Stein discrepancy of draws from the posterior of a problem.

    Parameters
    ----------
    problem : Problem
        The posterior.
    weights : array of shape (n_draws, n_weights)
        Nearly independent draws; a few hundred to a few thousand.
    n_bootstrap : int
        Resamplings for the p-value.
    seed : int
        Seed of the resampling.
    """
    weights = _checked(problem, weights)
    lower = np.linalg.cholesky(np.atleast_2d(np.cov(weights.T)))
    positions = np.linalg.solve(lower, (weights - weights.mean(axis=0)).T).T
    scores = -posterior_gradients(problem, weights) @ lower
    matrix = _stein_matrix(positions, scores)
    np.fill_diagonal(matrix, 0.0)
    count = len(weights)
    squared = float(matrix.sum() / (count * (count - 1)))
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(n_bootstrap, count))
    resampled = np.einsum("bi,bi->b", signs @ matrix, signs) / (count * (count - 1))
    return SteinDiscrepancy(squared, float((1 + (resampled >= squared).sum()) / (1 + n_bootstrap)))
