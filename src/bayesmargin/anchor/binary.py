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

import numpy as np
from scipy import linalg
from scipy.special import ndtr

from bayesmargin.anchor.gaussian import GaussianAnchor
from bayesmargin.beliefs import normal_density
from bayesmargin.problem import Problem
from bayesmargin.types import FloatArray

MAX_ITERATIONS = 60
TOLERANCE = 0.02  # posterior standard deviations, far below what the sampler corrects anyway


def slack_moments(
    problem: Problem, span: slice, values: FloatArray, anchor: GaussianAnchor
) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of the slack of a block of rows under the Gaussian."""
    centre = problem.margin - problem.sign[span] * (values @ anchor.mean)
    spread = values * anchor.factor if anchor.factor.ndim == 1 else values @ anchor.factor
    deviation = np.sqrt(np.einsum("ij,ij->i", spread, spread))
    return centre, np.maximum(deviation, 1e-300)


def _expected_energy(
    problem: Problem, anchor: GaussianAnchor
) -> tuple[float, FloatArray, FloatArray]:
    """Expected energy under the Gaussian: value, gradient, Hessian."""
    size = anchor.mean.shape[0]
    value, gradient, hessian = 0.0, np.zeros(size), np.zeros((size, size))
    for span, block in problem.source.blocks():
        values = block.astype(float, copy=False)
        centre, deviation = slack_moments(problem, span, values, anchor)
        ratio = centre / deviation
        active, density = ndtr(ratio), normal_density(ratio)
        cost = problem.cost[span]
        value += float(cost @ (centre * active + deviation * density))
        gradient -= (cost * problem.sign[span] * active) @ values
        weight = np.sqrt(cost * density / deviation)
        weighted = values * weight[:, None]
        hessian += weighted.T @ weighted
    extra, slope, curvature = problem.prior.expectation(anchor.mean, anchor.variances())
    hessian += np.diag(curvature) if curvature.ndim == 1 else curvature
    return value + extra, gradient + slope, hessian


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


def fit_binary_anchor(problem: Problem, start: GaussianAnchor | None = None) -> GaussianAnchor:
    """Gaussian closest to the posterior, by Newton steps on the mean and the precision.

    A step that would raise the divergence is shortened.
    """
    size = problem.n_weights
    anchor = start or GaussianAnchor(np.zeros(size), np.eye(size))
    precision = linalg.inv(anchor.factor @ anchor.factor.T)
    log_det = float(np.linalg.slogdet(precision)[1])
    value, gradient, hessian = _expected_energy(problem, anchor)
    divergence = value + 0.5 * log_det
    iterations = 0
    for iterations in range(1, MAX_ITERATIONS + 1):
        length = 1.0
        while True:
            mixed = (1.0 - length) * precision + length * hessian
            factor, log_det = inverse_factor(mixed)
            move = -factor @ (factor.T @ gradient)
            proposal = GaussianAnchor(anchor.mean + length * move, factor, iterations)
            value, new_gradient, new_hessian = _expected_energy(problem, proposal)
            new_divergence = value + 0.5 * log_det
            if new_divergence <= divergence + 1e-6 * (1.0 + abs(divergence)) or length < 1e-3:
                break
            length *= 0.5
        step = float(np.sqrt(max(0.0, -float(move @ gradient))))
        settled = abs(divergence - new_divergence) < 1e-3 * size and length == 1.0
        anchor, precision = proposal, mixed
        gradient, hessian, divergence = new_gradient, new_hessian, new_divergence
        if step < TOLERANCE * np.sqrt(size) and settled:
            break
    return anchor
