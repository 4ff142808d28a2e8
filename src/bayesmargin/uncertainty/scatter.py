r"""The covariance of the summed subgradients, under a Gaussian about the weights.

The subgradient of a row is that of one of several options, each with a chance :math:`\pi` under
the Gaussian, so the row adds its expected square. For two classes

.. math:: J = \sum_d \frac{c_d^2}{n_d}\,\Phi(t_d)\, x_d x_d^T - \frac{1}{n} g g^T,
          \qquad g = \sum_d c_d\, \Phi(t_d)\, y_d x_d,

where the cost :math:`c_d` stands for :math:`n_d` rows that are alike, and :math:`n` for all. A row
has pulled the weights to its own side; without it its slack would be larger by
:math:`c_d \Phi(t_d)\, x_d^T H^{-1} x_d`, which :math:`t_d` contains: in few rows the subgradients
at the minimiser look smaller than those of further rows are. More than two classes add
:math:`(e_k - e_y)(e_k - e_y)^T \otimes x x^T` with the chance of each rival :math:`k`.

Rows that belong together add the square of their sum.
"""

import numpy as np
from scipy.special import ndtr, softmax

from bayesmargin.approximation.binary import SlackMoments
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.multiclass import option_moments, temperature_of
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.targets.problem import Problem


def scatter(
    problem: Problem,
    anchor: GaussianAnchor,
    number: FloatArray,
    inverse: FloatArray | None = None,
    groups: IntArray | None = None,
) -> tuple[FloatArray, float]:
    """Covariance of the summed subgradients, and rows whose hinge is active.

    Parameters
    ----------
    number : array of shape (n_rows,)
        Rows that each row stands for.
    inverse : array, optional
        Inverse of the Hessian, which says how far rows have pulled the weights.
    groups : array of shape (n_rows,), optional
        Numbers of the groups of rows that belong together.
    """
    if problem.is_binary:
        return _of_two(problem, anchor, number, inverse, groups)
    return _of_several(problem, anchor, number, groups)


def _of_two(
    problem: Problem,
    anchor: GaussianAnchor,
    number: FloatArray,
    inverse: FloatArray | None,
    groups: IntArray | None,
) -> tuple[FloatArray, float]:
    size = len(anchor.mean)
    total, mean, active = np.zeros((size, size)), np.zeros(size), 0.0
    sums = None if groups is None else np.zeros((int(groups.max()) + 1, size))
    moments = SlackMoments(problem, anchor, None)
    for span, values in problem.source.blocks():
        centre, _, _, deviation = moments(span, values)
        values = values.astype(float, copy=False)
        cost, share = problem.cost[span], ndtr(centre / deviation)
        if inverse is not None:
            pull = cost / number[span] * np.einsum("ij,ij->i", values @ inverse, values)
            share = ndtr((centre + share * pull) / deviation)
        active += float(number[span] @ share)
        push = values * problem.forces(span, share)[:, None]
        mean += push.sum(axis=0)
        if sums is not None:
            assert groups is not None
            np.add.at(sums, groups[span], push)
        else:
            rooted = values * (cost * np.sqrt(share / number[span]))[:, None]
            total += rooted.T @ rooted
    if sums is not None:
        return _between(sums), active
    return total - np.outer(mean, mean) / number.sum(), active


def _of_several(
    problem: Problem, anchor: GaussianAnchor, number: FloatArray, groups: IntArray | None
) -> tuple[FloatArray, float]:
    count, width = problem.n_classes, problem.source.n_columns
    total, mean, active = np.zeros((count, width, count, width)), np.zeros((count, width)), 0.0
    sums = None if groups is None else np.zeros((int(groups.max()) + 1, count * width))
    for span, values in problem.source.blocks():
        values = values.astype(float, copy=False)
        options, deviations = option_moments(problem, span, values, anchor)
        share = softmax(options / temperature_of(options, deviations)[:, None], axis=1)
        label, cost = problem.label[span], problem.cost[span]
        own = np.arange(count) == label[:, None]
        rival = np.where(own, 0.0, share)
        doubt = rival.sum(axis=1)
        active += float(number[span] @ doubt)
        push = np.where(own, -doubt[:, None], rival) * cost[:, None]
        mean += push.T @ values
        if sums is not None:
            assert groups is not None
            rows = push[:, :, None] * values[:, None, :]
            np.add.at(sums, groups[span], rows.reshape(len(values), -1))
            continue
        square = cost**2 / number[span]
        for k in range(count):
            for j in range(k + 1):
                both = rival[:, k] + np.where(own[:, k], doubt, 0.0)
                if j != k:  # a row adds to a pair of classes of which one is its own
                    both = -(rival[:, k] * own[:, j] + rival[:, j] * own[:, k])
                part = (values * (square * both)[:, None]).T @ values
                total[k, :, j] += part
                if j != k:
                    total[j, :, k] += part
    size = count * width
    if sums is not None:
        return _between(sums), active
    flat = mean.ravel()
    return total.reshape(size, size) - np.outer(flat, flat) / number.sum(), active


def _between(sums: FloatArray) -> FloatArray:
    """Covariance of the sum of independent groups, with the usual factor for their number."""
    count = len(sums)
    away = sums - sums.mean(axis=0)
    return (away.T @ away) * (count / max(count - 1, 1))
