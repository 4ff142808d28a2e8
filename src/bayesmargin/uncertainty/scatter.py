r"""The covariance of the summed subgradients, under a Gaussian about the weights.

The subgradient of a row is that of one of several options, each with a chance :math:`\pi` under
the Gaussian, so the row adds its expected square. For two classes

.. math:: J = \sum_d \frac{c_d^2}{n_d}\,\Phi(t_d)\, x_d x_d^T - \frac{1}{n} g g^T,
          \qquad g = \sum_d c_d\, \Phi(t_d)\, y_d x_d,

where the cost :math:`c_d` stands for :math:`n_d` rows that are alike, and :math:`n` for all. More
than two classes add :math:`(e_k - e_y)(e_k - e_y)^T \otimes x x^T` with the chance of each rival
:math:`k`.

A row has pulled the weights to its own side; without it they would be off by
:math:`H^{-1} g_d`, which its slacks contain: in few rows the subgradients at the minimiser look
smaller than those of further rows are.

Rows that belong together add the square of their sum, are left out together, and each adds the
variance of its option beside.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import softmax

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.multiclass import smoothed_curvature, smoothed_energy
from bayesmargin.approximation.options import option_moments, temperature_of
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.targets.problem import Problem

ACTIVE = 1e-3  # chance of a rival, below which a row of several classes has not pulled anything


@dataclass(frozen=True)
class Sample:
    """What scatter is asked of: a problem and how its rows came about."""

    problem: Problem
    number: FloatArray
    """Rows that each row stands for."""
    groups: IntArray | None = None
    """Numbers of the groups of rows that belong together."""

    def summed(self, span: slice, rows: FloatArray, to: FloatArray) -> None:
        """Add rows of a block to those of their groups."""
        assert self.groups is not None
        np.add.at(to, self.groups[span], rows)

    def empty_sums(self, size: int) -> FloatArray | None:
        """A row of zeros for every group, if there are any."""
        return None if self.groups is None else np.zeros((int(self.groups.max()) + 1, size))


@dataclass(frozen=True)
class Several:
    """Rows of several classes under one hinge: what the sandwich asks of them."""

    sample: Sample

    def under(self, anchor: GaussianAnchor) -> "SeveralSeen":
        """The rows as a Gaussian sees them."""
        return SeveralSeen(self.sample, anchor)


@dataclass(frozen=True)
class SeveralSeen:
    """The same under a Gaussian."""

    sample: Sample
    anchor: GaussianAnchor

    def slope(self, narrow: float) -> FloatArray:
        """Gradient of the expected hinges, for a factor so many times as large."""
        anchor = replace(self.anchor, factor=narrow * self.anchor.factor)
        return smoothed_energy(self.sample.problem, anchor, anchor.mean)[1]

    def hessian(self, wide: float = 1.0) -> FloatArray:
        """Hessian of the expected hinges, likewise."""
        anchor = replace(self.anchor, factor=wide * self.anchor.factor)
        index = np.arange(self.sample.problem.source.n_rows)
        return smoothed_curvature(self.sample.problem, anchor, anchor.mean, index)

    def scatter(self, inverse: FloatArray) -> tuple[FloatArray, float]:
        """Covariance of the summed subgradients, and rows whose hinge is active."""
        return scatter(self.sample, self.anchor, inverse)


def scatter(
    sample: Sample, anchor: GaussianAnchor, inverse: FloatArray | None = None
) -> tuple[FloatArray, float]:
    """Covariance of the summed subgradients of several classes, and rows whose hinge is active.

    Parameters
    ----------
    inverse : array, optional
        Inverse of the Hessian, which says how far rows have pulled the weights.
    """
    moved = None
    if sample.groups is not None and inverse is not None:
        moved = _summed(sample, anchor, None, None)[2] @ inverse
    return _summed(sample, anchor, inverse, moved)[:2]


def _summed(
    sample: Sample, anchor: GaussianAnchor, inverse: FloatArray | None, moved: FloatArray | None
) -> tuple[FloatArray, float, FloatArray]:
    problem, number = sample.problem, sample.number
    count, width = problem.n_classes, problem.source.n_columns
    total, mean, active = np.zeros((count, width, count, width)), np.zeros((count, width)), 0.0
    sums = sample.empty_sums(count * width)
    for span, values in problem.source.blocks():
        values = values.astype(float, copy=False)
        options, deviations = option_moments(problem, span, values, anchor)
        temperature = temperature_of(options, deviations)[:, None]
        own = np.arange(count) == problem.label[span][:, None]
        cost, alike = problem.cost[span], number[span]
        share = softmax(options / temperature, axis=1)
        if moved is not None and sample.groups is not None:
            away = moved[sample.groups[span]].reshape(len(values), count, width)
            share = softmax((options + np.einsum("ij,ikj->ik", values, away)) / temperature, axis=1)
        elif inverse is not None:
            push = (share - own) * (cost / alike)[:, None]
            share = softmax((options + _pulled(values, push, inverse)) / temperature, axis=1)
        rival = np.where(own, 0.0, share)
        doubt = rival.sum(axis=1)
        active += float(alike @ doubt)
        push = np.where(own, -doubt[:, None], rival) * cost[:, None]
        mean += push.T @ values
        if sums is not None:
            rows = push[:, :, None] * values[:, None, :]
            sample.summed(span, rows.reshape(len(values), -1), sums)
        for k in range(count):
            for j in range(k + 1):
                both = rival[:, k] + np.where(own[:, k], doubt, 0.0)
                if j != k:  # a row adds to a pair of classes of which one is its own
                    both = -(rival[:, k] * own[:, j] + rival[:, j] * own[:, k])
                both = both * cost**2
                if sums is not None:
                    both = both - push[:, k] * push[:, j]
                part = (values * (both / alike)[:, None]).T @ values
                total[k, :, j] += part
                if j != k:
                    total[j, :, k] += part
    size = count * width
    flat = mean.ravel()
    square = total.reshape(size, size)
    return finished(square, flat, sums, number), active, flat if sums is None else sums


def _pulled(values: FloatArray, push: FloatArray, inverse: FloatArray) -> FloatArray:
    """What leaving a row out adds to its scores (row, class), from its push of each."""
    count, width = push.shape[1], values.shape[1]
    blocks = inverse.reshape(count, width, count, width)
    result = np.zeros_like(push)
    some = np.flatnonzero(np.abs(push).max(axis=1) > ACTIVE)
    rows = values[some]
    for k in range(count):
        for j in range(count):
            square = np.einsum("ij,ij->i", rows @ blocks[k, :, j], rows)
            result[some, k] += square * push[some, j]
    return result


def finished(
    total: FloatArray, mean: FloatArray, sums: FloatArray | None, number: FloatArray
) -> FloatArray:
    """Covariance of a sum of independent rows, or of groups beside what their rows add."""
    if sums is None:
        return total - np.outer(mean, mean) / number.sum()
    away = sums - sums.mean(axis=0)
    return total + (away.T @ away) * (len(sums) / max(len(sums) - 1, 1))
