r"""Priors as beliefs about the weights: expectations under a Gaussian, in closed form.

The anchor needs, for :math:`w \sim N(m, S)`, the expected energy :math:`E[-\log p_0(w)]`, its
gradient in :math:`m` and the expected Hessian.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from bayesmargin.types import FloatArray


def normal_density(x: FloatArray) -> FloatArray:
    """Density of the standard normal distribution."""
    return np.exp(-0.5 * x * x) / np.sqrt(2.0 * np.pi)


@dataclass(frozen=True)
class GaussianBelief:
    r"""Prior :math:`N(\mu_0, \Lambda_0^{-1})`; a one-dimensional ``precision`` is a diagonal."""

    mean: FloatArray
    precision: FloatArray

    def expectation(
        self, mean: FloatArray, variance: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Value (up to a constant in ``mean``), gradient and precision."""
        shift = mean - self.mean
        if self.precision.ndim == 1:
            gradient = self.precision * shift
            spread = float(self.precision @ variance)
        else:
            gradient = self.precision @ shift
            spread = float(np.diag(self.precision) @ variance)
        return 0.5 * (float(shift @ gradient) + spread), gradient, self.precision


@dataclass(frozen=True)
class LaplaceBelief:
    r"""Prior :math:`\prod_j e^{-|w_j|/b_j} / (2 b_j)`."""

    scale: FloatArray

    def expectation(
        self, mean: FloatArray, variance: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Value, gradient and diagonal expected Hessian."""
        deviation = np.sqrt(variance)
        ratio = mean / deviation
        density = normal_density(ratio)
        sign = 2.0 * ndtr(ratio) - 1.0
        value = float(np.sum((mean * sign + 2.0 * deviation * density) / self.scale))
        return value, sign / self.scale, 2.0 * density / (deviation * self.scale)


Belief = GaussianBelief | LaplaceBelief
