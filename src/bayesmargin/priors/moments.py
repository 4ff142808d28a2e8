r"""Priors as beliefs about the weights: expectations under a Gaussian, in closed form.

The anchor needs, for :math:`w \sim N(m, S)`, the expected energy :math:`E[-\log p_0(w)]`, its
gradient in :math:`m` and the expected Hessian.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammainccinv, ndtr

from bayesmargin.foundation.types import FloatArray

FULL_COVARIANCE = 800  # weights up to which partial_fit hands on a full covariance
FEWEST_DRAWS = 8  # that partial_fit can go on from
LEAST_CHANCE = 1e-6  # of a shift of the mean that a summary of earlier rows is believed to bear
LARGEST_SHIFT = 2.0  # of all weights in root mean square, in standard deviations
NOWHERE = 40.0  # standard deviations at which the normal density is zero in double precision


def normal_density(x: FloatArray) -> FloatArray:
    """Density of the standard normal distribution.

    Rows without an entry are infinitely many standard deviations away, whose square overflows.
    """
    near = np.clip(x, -NOWHERE, NOWHERE)
    return np.exp(-0.5 * near * near) / np.sqrt(2.0 * np.pi)


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

    def narrowest(self) -> float:
        """Smallest standard deviation, over all directions."""
        own = self.precision.ndim == 1
        largest = self.precision.max() if own else np.linalg.eigvalsh(self.precision)[-1]
        return float(largest**-0.5)


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

    def narrowest(self) -> float:
        """Smallest scale."""
        return float(np.min(self.scale))


class Prior(ABC):
    """A prior of one's own, of the weights themselves.

    Derive from it a frozen dataclass. Gradient-based samplers of dense rows take it; augmentation,
    which draws from the law of the weights given the rest, knows Gaussian and Laplace alone.
    """

    @abstractmethod
    def expectation(
        self, mean: FloatArray, variance: FloatArray
    ) -> tuple[float, FloatArray, FloatArray]:
        """Expected energy under :math:`N(m, v)`, its gradient in m, diagonal expected Hessian."""

    @abstractmethod
    def narrowest(self) -> float:
        """Smallest scale, over all weights."""

    @abstractmethod
    def density(self, n_weights: int) -> Any:
        """What a chain sees: a NamedTuple with bodies of ``prior_gradient`` and ``prior_energy``.

        Both are generics of :mod:`bayesmargin.priors.densities`.
        """


Belief = GaussianBelief | LaplaceBelief


def prior_belief(kind: str, scale: float, n_weights: int) -> Belief:
    """Prior of independent weights of one scale."""
    if kind == "gaussian":
        return GaussianBelief(np.zeros(n_weights), np.full(n_weights, scale**-2.0))
    return LaplaceBelief(np.full(n_weights, float(scale)))


def _volume(n_draws: int, size: int) -> float:
    """Volume of an estimated covariance of ``size`` weights, per weight; 1 is the true one's."""
    half = 0.5 * (n_draws - 1 - np.arange(size))
    return float(np.exp(np.mean(digamma(half))) / (0.5 * (n_draws - 1)))


def posterior_beliefs(
    coef: FloatArray,
    intercept: FloatArray,
    blocks: Sequence[Any],
    with_intercept: bool,
) -> list[Belief]:
    r"""Draws (draw, block, ...) as the priors of further rows: their means and precisions.

    A covariance estimated from few draws has too small a volume, and the error would grow from
    call to call; for N independent draws of p Gaussian weights a factor
    :math:`\exp[\tfrac1p\sum_{j<p}\psi(\tfrac{N-1-j}2)] / \tfrac{N-1}2` on the precision makes
    the logarithm of the volume right on average. Where draws are not twice as many as weights the
    weights are taken to be uncorrelated.
    """
    if len(coef) < FEWEST_DRAWS:
        raise ValueError(
            f"partial_fit goes on from the mean and covariance of the draws, and {len(coef)} draws "
            "are too few for that: increase n_draws"
        )
    beliefs: list[Belief] = []
    for k in blocks:
        parts = [coef[:, k], intercept[:, k, ..., None]] if with_intercept else [coef[:, k]]
        size = sum(part[0].size for part in parts)
        if size > FULL_COVARIANCE or len(coef) < 2 * (size + 2):
            mean = np.concatenate([p.mean(axis=0, dtype=float) for p in parts], axis=-1)
            spread = np.concatenate([p.var(axis=0, dtype=float, ddof=1) for p in parts], axis=-1)
            beliefs.append(GaussianBelief(mean.ravel(), _volume(len(coef), 1) / spread.ravel()))
        else:
            joint = np.concatenate(parts, axis=-1).reshape(len(coef), size)
            precision = np.linalg.inv(np.atleast_2d(np.cov(joint.T)))
            beliefs.append(GaussianBelief(joint.mean(axis=0), _volume(len(coef), size) * precision))
    return beliefs


def largest_contradiction(
    beliefs: Sequence[Belief], means: FloatArray, with_intercept: bool
) -> float:
    """The largest :func:`contradiction` of some priors by the means (block, weight) found."""
    means = means if with_intercept else means[:, :-1]
    parts = means.reshape(len(beliefs), -1)
    return max(contradiction(*pair) for pair in zip(beliefs, parts, strict=True))


def contradiction(belief: Belief, mean: FloatArray) -> float:
    r"""How far a new mean is from a summary, if that cannot be right so far out; else 0.

    The mean of a posterior, seen from the one before, has the covariance by which the posterior
    shrinks, which is smaller than that before: :math:`\Delta^2 = (m' - m)^T \Lambda (m' - m)` is at
    most about a chi-square variate of as many degrees as there are weights. Where only variances
    are handed on, all weights may go together, and it is one such variate times their number.
    Returned is the root of :math:`\Delta^2` over that number.
    """
    if not isinstance(belief, GaussianBelief) or not np.any(belief.mean):
        return 0.0  # a prior that somebody chose, and no summary
    shift = mean - belief.mean
    full, size = belief.precision.ndim == 2, len(shift)
    pull = belief.precision @ shift if full else belief.precision * shift
    square = float(shift @ pull) / size
    degrees = size if full else 1
    limit = 2.0 * float(gammainccinv(0.5 * degrees, LEAST_CHANCE)) / degrees
    return float(np.sqrt(square)) if square > max(limit, LARGEST_SHIFT**2) else 0.0
