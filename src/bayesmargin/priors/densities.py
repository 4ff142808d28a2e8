r"""Priors of the weights, as the samplers see them: the gradient of minus the log density.

Positions are deviations :math:`u` from a centre, so a Gaussian prior
:math:`N(\mu_0, \Lambda_0^{-1})` reads :math:`a + b \odot u` in any coordinates that make its
precision diagonal, and the Laplace prior keeps the centre to know the sign of a weight.
"""

from typing import Any, NamedTuple

from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.types import FloatArray


def prior_gradient(prior: Any, weights: FloatArray, out: FloatArray) -> None:
    """Write the gradient of minus the log prior at ``weights`` to ``out`` (generic, compiled)."""
    raise TypeError(f"{type(prior).__name__} is not a prior")


def prior_energy(prior: Any, weights: FloatArray) -> float:
    """Minus the log prior at ``weights``, up to a constant (generic, compiled)."""
    raise TypeError(f"{type(prior).__name__} is not a prior")


class GaussianPrior(NamedTuple):
    r"""Energy :math:`\sum_j a_j u_j + b_j u_j^2/2`: slope :math:`a` at the origin, curvature b."""

    slope: FloatArray
    curvature: FloatArray


@implements(prior_gradient, GaussianPrior, borrows=True)
def gaussian_gradient(prior, weights, out):  # type: ignore[no-untyped-def] # noqa: D103
    for j in range(weights.shape[0]):
        out[j] = prior.slope[j] + prior.curvature[j] * weights[j]


@implements(prior_energy, GaussianPrior, borrows=True)
def gaussian_energy(prior, weights):  # type: ignore[no-untyped-def] # noqa: D103
    total = 0.0
    for j in range(weights.shape[0]):
        total += weights[j] * (prior.slope[j] + 0.5 * prior.curvature[j] * weights[j])
    return total


class CorrelatedPrior(NamedTuple):
    r"""Energy :math:`(w - \mu)^T \Lambda (w - \mu)/2` with a full precision matrix."""

    mean: FloatArray
    precision: FloatArray


@implements(prior_gradient, CorrelatedPrior, borrows=True)
def correlated_gradient(prior, weights, out):  # type: ignore[no-untyped-def] # noqa: D103
    for i in range(weights.shape[0]):
        total = 0.0
        for j in range(weights.shape[0]):
            total += prior.precision[i, j] * (weights[j] - prior.mean[j])
        out[i] = total


@implements(prior_energy, CorrelatedPrior, borrows=True)
def correlated_energy(prior, weights):  # type: ignore[no-untyped-def] # noqa: D103
    total = 0.0
    for i in range(weights.shape[0]):
        row = 0.0
        for j in range(weights.shape[0]):
            row += prior.precision[i, j] * (weights[j] - prior.mean[j])
        total += row * (weights[i] - prior.mean[i])
    return 0.5 * total


class LaplacePrior(NamedTuple):
    r"""Energy :math:`\sum_j |w_j| / b`; its gradient at zero is taken as zero."""

    inverse_scale: FloatArray


@implements(prior_gradient, LaplacePrior, borrows=True)
def laplace_gradient(prior, weights, out):  # type: ignore[no-untyped-def] # noqa: D103
    for j in range(weights.shape[0]):
        if weights[j] > 0.0:
            out[j] = prior.inverse_scale[j]
        elif weights[j] < 0.0:
            out[j] = -prior.inverse_scale[j]
        else:
            out[j] = 0.0


@implements(prior_energy, LaplacePrior, borrows=True)
def laplace_energy(prior, weights):  # type: ignore[no-untyped-def] # noqa: D103
    total = 0.0
    for j in range(weights.shape[0]):
        total += abs(weights[j]) * prior.inverse_scale[j]
    return total


class CorrectedPrior(NamedTuple):
    r"""A prior plus the quadratic :math:`(w - m)^T M (w - m)/2`, whose matrix may be indefinite.

    Chains that see only a part of the rows carry a Gaussian picture of the others this way
    (:mod:`bayesmargin.distributed.stations`).
    """

    prior: Any
    centre: FloatArray
    matrix: FloatArray


@implements(prior_gradient, CorrectedPrior, borrows=True)
def corrected_gradient(prior, weights, out):  # type: ignore[no-untyped-def] # noqa: D103
    prior_gradient(prior.prior, weights, out)
    for i in range(weights.shape[0]):
        total = 0.0
        for j in range(weights.shape[0]):
            total += prior.matrix[i, j] * (weights[j] - prior.centre[j])
        out[i] += total
