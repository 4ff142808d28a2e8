r"""References by integration, in one to three dimensions.

The density is tabulated by the midpoint rule on a box around the posterior. It is continuous with
kinks, so the error falls like the square of the spacing; in one dimension the cells are split at
the kinks and Gauss-Legendre points make it vanish.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.targets.problem import Problem, slacks

POINTS = {1: 4000, 2: 1200, 3: 160}
CHUNK = 1_000_000


def energies(problem: Problem, weights: FloatArray) -> FloatArray:
    """Energy of a posterior at each of some weights (rows), up to a constant."""
    prior = problem.prior
    if isinstance(prior, GaussianBelief):
        shift = weights - prior.mean
        scaled = shift * prior.precision if prior.precision.ndim == 1 else shift @ prior.precision
        result = 0.5 * np.einsum("ij,ij->i", scaled, shift)
    else:
        result = np.abs(weights) @ (1.0 / np.broadcast_to(prior.scale, (problem.n_weights,)))
    result += weights @ problem.tilt
    if problem.is_binary:
        result += problem.cost @ problem.hinges.offset
    size = max(1, CHUNK // (problem.source.n_rows * problem.n_blocks))
    for start in range(0, len(weights), size):
        span = slice(start, start + size)
        result[span] += np.maximum(slacks(problem, weights[span]), 0.0) @ problem.cost
    return result


@dataclass(frozen=True)
class Reference:
    """A posterior as points and probabilities.

    Attributes
    ----------
    points : array of shape (n_points, n_weights)
    probability : array of shape (n_points,)
    log_integral : float
        Log of the integral of ``exp(-U)``, with the prior's energy zero at its mode.
    shape : tuple of int
        Shape of the grid, for pictures.
    """

    points: FloatArray
    probability: FloatArray
    log_integral: float
    shape: tuple[int, ...]

    @property
    def mean(self) -> FloatArray:
        """Posterior mean."""
        return self.probability @ self.points

    @property
    def second(self) -> FloatArray:
        """Matrix of second moments."""
        return (self.points * self.probability[:, None]).T @ self.points

    @property
    def covariance(self) -> FloatArray:
        """Posterior covariance."""
        return self.second - np.outer(self.mean, self.mean)

    def expectation(self, values: FloatArray) -> FloatArray:
        """Expectation of a function, given its values at the points."""
        return self.probability @ values


def _bounds(problem: Problem) -> tuple[Any, Any]:
    """A box that holds all but a negligible part of the posterior, found by a coarse grid."""
    size = problem.n_weights
    prior = problem.prior
    low: Any
    high: Any
    spread: Any
    if isinstance(prior, GaussianBelief):
        if prior.precision.ndim == 1:
            spread = 9.0 / np.sqrt(prior.precision)
        else:
            spread = 9.0 * np.sqrt(np.diag(np.linalg.inv(prior.precision)))
        low, high = prior.mean - spread, prior.mean + spread
    else:
        spread = 40.0 * np.broadcast_to(prior.scale, (size,))
        low, high = np.negative(spread), spread.copy()
    for _ in range(6):
        points, _ = _grid(low, high, {1: 400, 2: 60, 3: 24}[size])
        energy = energies(problem, points)
        kept = points[energy < energy.min() + 28.0]
        cell = (high - low) / {1: 400, 2: 60, 3: 24}[size]
        low, high = kept.min(axis=0) - 1.5 * cell, kept.max(axis=0) + 1.5 * cell
    return low, high


def _grid(low: FloatArray, high: FloatArray, count: int) -> tuple[FloatArray, float]:
    axes = [a + (np.arange(count) + 0.5) * (b - a) / count for a, b in zip(low, high, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    return points, float(np.prod((high - low) / count))


def _line(problem: Problem, low: float, high: float) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre points and weights on the pieces between the kinks of a scalar problem."""
    values = problem.source.take(np.arange(problem.source.n_rows))[:, 0]
    with np.errstate(divide="ignore"):
        kinks = problem.hinges.level * problem.sign / values
    inner = np.unique(np.append(kinks[(kinks > low) & (kinks < high)], 0.0))
    edges = np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]])
    edges = np.unique(np.concatenate([np.linspace(a, b, 9) for a, b in pairwise(edges)]))
    nodes, weights = np.polynomial.legendre.leggauss(16)
    half = 0.5 * np.diff(edges)[:, None]
    points = edges[:-1, None] + half * (nodes + 1.0)
    return points.reshape(-1, 1), (half * weights).ravel()


def quadrature(problem: Problem, n_points: int | None = None) -> Reference:
    """Posterior of a problem with one to three weights, by integration.

    Parameters
    ----------
    problem : Problem
        The posterior.
    n_points : int, optional
        Points an axis.

    Examples
    --------
    >>> from bayesmargin.validation import quadrature
    >>> from bayesmargin.validation.problems import one_kink
    >>> reference = quadrature(one_kink())
    >>> round(float(reference.mean[0]), 7), round(reference.log_integral, 7)
    (1.1736773, -0.4257753)
    """
    size = problem.n_weights
    if size not in POINTS:
        raise ValueError(f"quadrature serves 1 to 3 weights, and this problem has {size}")
    low, high = _bounds(problem)
    if size == 1 and problem.is_binary:
        points, cell = _line(problem, float(low[0]), float(high[0]))
        shape: tuple[int, ...] = (len(points),)
    else:
        count = n_points or POINTS[size]
        points, volume = _grid(low, high, count)
        cell, shape = np.full(len(points), volume), (count,) * size
    energy = energies(problem, points)
    least = float(energy.min())
    mass = np.exp(least - energy) * cell
    total = float(mass.sum())
    return Reference(points, mass / total, float(np.log(total)) - least, shape)
