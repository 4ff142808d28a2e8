r"""The anchor of a binary problem: the Gaussian closest to the posterior.

Among Gaussians :math:`q = N(m, S)` it minimises :math:`KL(q\,\|\,p)`. Under :math:`q` the slack of
row :math:`d` is normal with mean :math:`\mu_d = \ell - y_d x_d \cdot m` and variance
:math:`\sigma_d^2 = x_d^T S x_d`, so everything has a closed form. With :math:`t = \mu/\sigma`,

.. math:: E(\zeta)_+ = \mu\Phi(t) + \sigma\varphi(t), \quad
          \nabla_m = -c\sum_d y_d \Phi(t_d) x_d, \quad
          E[\nabla^2 U] = \Lambda_0 + c \sum_d \frac{\varphi(t_d)}{\sigma_d} x_d x_d^T,

and at the optimum :math:`S^{-1} = E[\nabla^2 U]`, :math:`E[\nabla U] = 0`. One object thus gives
what a sampler needs: a centre near the posterior mean, the metric, the state of each row for the
control variates, and through :math:`\Phi(-|t_d|)` the chance that the row changes it.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.special import ndtr

from bayesmargin.anchor.prior import Belief, normal_density
from bayesmargin.rows.source import RowSource
from bayesmargin.types import FloatArray

MAX_ITERATIONS = 60
TOLERANCE = 0.02  # posterior standard deviations, far below what the sampler corrects anyway


@dataclass(frozen=True)
class BinaryData:
    """Rows with labels -1 or +1, a cost each, and the margin."""

    source: RowSource
    sign: FloatArray
    cost: FloatArray
    margin: float


@dataclass(frozen=True)
class GaussianAnchor:
    """Gaussian approximation ``N(mean, factor @ factor.T)`` with precision ``precision``."""

    mean: FloatArray
    factor: FloatArray
    precision: FloatArray
    iterations: int


def slack_moments(
    data: BinaryData, span: slice, values: FloatArray, mean: FloatArray, factor: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the slack of a block of rows under the Gaussian."""
    centre = data.margin - data.sign[span] * (values @ mean)
    deviation = np.sqrt(np.einsum("ij,ij->i", *(2 * [values @ factor])))
    return centre, np.maximum(deviation, 1e-300)


def _expected_energy(
    data: BinaryData, mean: FloatArray, factor: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Expected hinge energy under the Gaussian: value, gradient, Hessian."""
    size = mean.shape[0]
    value, gradient, hessian = 0.0, np.zeros(size), np.zeros((size, size))
    for span, block in data.source.blocks():
        values = block.astype(float, copy=False)
        centre, deviation = slack_moments(data, span, values, mean, factor)
        ratio = centre / deviation
        active, density = ndtr(ratio), normal_density(ratio)
        cost = data.cost[span]
        value += float(cost @ (centre * active + deviation * density))
        gradient -= (cost * data.sign[span] * active) @ values
        weight = np.sqrt(cost * density / deviation)
        weighted = values * weight[:, None]
        hessian += weighted.T @ weighted
    return value, gradient, hessian


def inverse_factor(precision: FloatArray) -> tuple[FloatArray, float]:
    """Matrix ``F`` with ``F @ F.T = precision^-1``, and the log determinant of ``precision``.

    The matrix is scaled to unit diagonal first: features may differ by many orders of magnitude.
    """
    scale = 1.0 / np.sqrt(np.diag(precision))
    unit = precision * scale[:, None] * scale[None, :]
    lower = linalg.cholesky(unit + 1e-12 * np.eye(len(scale)), lower=True)
    inverse = linalg.solve_triangular(lower, np.eye(len(scale)), lower=True)
    log_det = 2.0 * float(np.sum(np.log(np.diag(lower))) - np.sum(np.log(scale)))
    return scale[:, None] * inverse.T, log_det


def fit_binary_anchor(
    data: BinaryData, prior: Belief, start: GaussianAnchor | None = None
) -> GaussianAnchor:
    """Gaussian closest to the posterior, by Newton steps on the mean and the precision.

    A step that would raise the divergence is shortened; the start is the prior's own scale.
    """
    size = data.source.n_columns
    if start is None:
        mean, factor = np.zeros(size), np.diag(np.full(size, 1.0))
        precision = np.eye(size)
    else:
        mean, factor, precision = start.mean, start.factor, start.precision

    def evaluate(mean: FloatArray, factor: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        variance = np.einsum("ij,ij->i", factor, factor)
        value, gradient, hessian = _expected_energy(data, mean, factor)
        extra, slope, curvature = prior.expectation(mean, variance)
        hessian = hessian + (np.diag(curvature) if curvature.ndim == 1 else curvature)
        return value + extra, gradient + slope, hessian

    log_det = float(np.linalg.slogdet(precision)[1])
    value, gradient, hessian = evaluate(mean, factor)
    divergence = value + 0.5 * log_det
    iterations = 0
    for iterations in range(1, MAX_ITERATIONS + 1):
        length = 1.0
        while True:
            mixed = (1.0 - length) * precision + length * hessian
            new_factor, new_log_det = inverse_factor(mixed)
            move = -new_factor @ (new_factor.T @ gradient)
            new_mean = mean + length * move
            new_value, new_gradient, new_hessian = evaluate(new_mean, new_factor)
            new_divergence = new_value + 0.5 * new_log_det
            if new_divergence <= divergence + 1e-6 * (1.0 + abs(divergence)) or length < 1e-3:
                break
            length *= 0.5
        step = float(np.sqrt(max(0.0, -move @ gradient)))
        settled = abs(divergence - new_divergence) < 1e-3 * size and length == 1.0
        mean, factor, precision = new_mean, new_factor, mixed
        gradient, hessian, divergence = new_gradient, new_hessian, new_divergence
        if step < TOLERANCE * np.sqrt(size) and settled:
            break
    return GaussianAnchor(mean, factor, precision, iterations)
