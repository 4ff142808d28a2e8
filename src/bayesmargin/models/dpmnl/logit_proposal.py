r"""The logit model of a component that a split or merge proposes, and how well it fits its rows.

The variances of intercepts and slopes come from their prior. Given these, the differences between
classes have a log-concave law. Its mode :math:`\hat b` is sought by damped Newton steps, and the
proposal is :math:`N(\hat b, A^{-1})` for each of the L - 1 directions of such differences, with

.. math::

   A = P + \sum_d w_d x_d x_d^\top, \qquad
   w_d = \frac1{L-1} \sum_y p_{dy} (1 - p_{dy}),

the mean over the directions of their curvature at the mode (of two classes, the curvature). The
mean over classes comes from its prior. So what is left of prior, likelihood and proposal is the
ratio for the differences.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_jit
from bayesmargin.foundation.copying import copy_matrix
from bayesmargin.foundation.linear_algebra import cholesky, dot, solve_lower, solve_lower_transposed
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.dpmnl.logit import fill_precision, logit_energy
from bayesmargin.models.dpmnl.state import Experts, fill_log_classes

_ITERATIONS = 10
_HALVINGS = 3
_CLOSE = 1e-4  # nats that another step would gain


@inner_jit
def _fill_curvature(
    coefficients: FloatArray,
    precision: FloatArray,
    members: IntArray,
    X: FloatArray,
    work: FloatArray,
    steepest: bool,
    matrix: FloatArray,
) -> None:
    """Lower triangle of A; ``steepest`` takes a bound over the directions, not their mean."""
    classes, features = coefficients.shape[0], X.shape[1]
    matrix[:, :] = 0.0
    for j in range(features + 1):
        matrix[j, j] = precision[j]
    for i in range(members.shape[0]):
        row = X[members[i]]
        fill_log_classes(coefficients, row, work)
        mean = largest = 0.0
        for y in range(classes):
            share = math.exp(work[y])
            mean += share * (1.0 - share)
            largest = max(largest, 2.0 * share * (1.0 - share))
        weight = largest if steepest else mean / (classes - 1.0)
        for j in range(features):
            part = weight * row[j]
            for k in range(j + 1):
                matrix[j, k] += part * row[k]
            matrix[features, j] += part
        matrix[features, features] += weight


@inner_jit
def fit_logit(
    precision: FloatArray,
    members: IntArray,
    X: FloatArray,
    labels: IntArray,
    mode: FloatArray,
    matrix: FloatArray,
) -> float:
    """Mode of the differences between classes, Cholesky factor of A there, and its log det."""
    classes = mode.shape[0]
    mode[:, :] = 0.0
    work, gradient = np.empty(classes), np.empty_like(mode)
    trial, there = np.empty_like(mode), np.empty_like(mode)
    energy = logit_energy(mode, precision, members, X, labels, work, gradient)
    for _ in range(_ITERATIONS):
        _fill_curvature(mode, precision, members, X, work, True, matrix)
        cholesky(matrix)
        step, gain = gradient.copy(), 0.0
        for y in range(classes):
            solve_lower(matrix, step[y])
            solve_lower_transposed(matrix, step[y])
            gain += 0.5 * dot(step[y], gradient[y])
        if gain < _CLOSE:
            break
        length = 1.0
        for _ in range(_HALVINGS):
            for y in range(classes):
                for j in range(mode.shape[1]):
                    trial[y, j] = mode[y, j] - length * step[y, j]
            value = logit_energy(trial, precision, members, X, labels, work, there)
            if value <= energy:
                break
            length *= 0.5
        if value > energy:
            break
        copy_matrix(trial, mode)
        copy_matrix(there, gradient)
        energy = value
    _fill_curvature(mode, precision, members, X, work, False, matrix)
    return cholesky(matrix)


@inner_jit
def mean_over_classes(coefficients: FloatArray, j: int) -> float:
    """Mean over the classes of a slope or of the intercept."""
    total = 0.0
    for y in range(coefficients.shape[0]):
        total += coefficients[y, j]
    return total / coefficients.shape[0]


@inner_jit
def _draw(
    rng: np.random.Generator,
    precision: FloatArray,
    mode: FloatArray,
    factor: FloatArray,
    coefficients: FloatArray,
) -> None:
    """Differences between classes from the proposal, their mean from the prior."""
    classes = mode.shape[0]
    for y in range(classes):
        for j in range(mode.shape[1]):
            coefficients[y, j] = rng.standard_normal()
        solve_lower_transposed(factor, coefficients[y])
    for j in range(mode.shape[1]):
        mean = rng.standard_normal() / math.sqrt(classes * precision[j])
        mean -= mean_over_classes(coefficients, j)
        for y in range(classes):
            coefficients[y, j] += mode[y, j] + mean


@inner_jit
def propose_logit(
    rng: np.random.Generator,
    slot: int,
    members: IntArray,
    X: FloatArray,
    labels: IntArray,
    experts: Experts,
    drawing: bool,
) -> float:
    """Log of prior times likelihood over proposal; the slot is filled by a proposal if drawing."""
    coefficients = experts.coefficients[slot]
    classes, columns = coefficients.shape
    if drawing:
        experts.log_scale[slot, 0] = rng.standard_normal()
        experts.log_scale[slot, 1] = rng.standard_normal()
    precision, mode = np.empty(columns), np.empty((classes, columns))
    fill_precision(experts, slot, precision)
    factor = np.empty((columns, columns))
    log_determinant = fit_logit(precision, members, X, labels, mode, factor)
    if drawing:
        _draw(rng, precision, mode, factor, coefficients)
    difference, work = coefficients.copy(), np.empty(classes)
    for j in range(columns):
        mean = mean_over_classes(coefficients, j)
        for y in range(classes):
            difference[y, j] -= mean
    gradient = np.empty((classes, columns))
    value = -logit_energy(difference, precision, members, X, labels, work, gradient)
    value -= 0.5 * (classes - 1.0) * log_determinant
    for j in range(columns):
        value += 0.5 * (classes - 1.0) * math.log(precision[j])
    # Half the square of the transposed factor times what is beyond the mode.
    for y in range(classes):
        for j in range(columns):
            total = 0.0
            for k in range(j, columns):
                total += factor[k, j] * (difference[y, k] - mode[y, k])
            value += 0.5 * total * total
    return value
