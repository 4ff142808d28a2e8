r"""What ``epsilon="auto"`` and ``C="auto"`` stand for, from the residuals of a first fit.

The mode of :math:`\sum_d C\,\phi(w \cdot x_d, y_d)` scatters over samples like the minimiser of
any convex loss: with the density :math:`k` of residuals at the kinks (times their jumps) and the
mean square :math:`g` of the slope of :math:`\phi`, its covariance is
:math:`(g / k^2) (\sum_d x_d x_d^T)^{-1}` if the noise is alike in all rows. The posterior has the
covariance :math:`(C k)^{-1} (\sum_d x_d x_d^T)^{-1}`. So

* ``epsilon="auto"`` is the half width of the tube that makes :math:`g / k^2` least: the weights
  are known best. For normal noise that is 0.61 of its standard deviation; for noise with long
  tails it goes to zero, where regression to the median is best.
* ``C="auto"`` is :math:`C = k / g`: the posterior is as wide as the law of the mode over samples.

Residuals are those of a fit of the absolute loss, or of the quantile, by the Gaussian closest to
its posterior.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.wide import fit_wide_anchor
from bayesmargin.errors import CoverageWarning, DataError
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods import EpsilonInsensitive, OneScore, Pinball
from bayesmargin.models.linear.fitting import LinearData, source_of
from bayesmargin.models.regression.units import weighted_quantile
from bayesmargin.priors.moments import GaussianBelief, normal_density
from bayesmargin.rows.blocks import block_products
from bayesmargin.samplers.wide_start import is_wide
from bayesmargin.targets.problem import posterior_of

ROUNDS = 3
TUBES = np.linspace(0.0, 0.8, 33)  # shares of the residuals that a tube may hold
MOST_FREEDOM = 0.8  # of the rows that weights may use up
SHARPEST = 1e-9  # kernel, beside the size of the values
FAR_OFF = 10.0  # times too large or too small that a given C may be unsaid


@dataclass(frozen=True)
class Residuals:
    """Residuals as large as those of further rows, in units of the values, and their weights."""

    values: FloatArray
    weight: FloatArray

    def width(self) -> float:
        """A third to two thirds of their standard deviation, for a kernel; never zero."""
        size = np.abs(self.values)
        typical = weighted_quantile(size, self.weight, 0.5) / 0.6745
        typical = typical or float(np.sqrt(np.average(size**2, weights=self.weight)))
        count = self.weight.sum() ** 2 / np.square(self.weight).sum()
        return max(1.06 * typical * float(count) ** -0.2, SHARPEST)

    def density(self, place: float) -> float:
        """Their density at a place, smoothed."""
        width = self.width()
        near = normal_density((self.values - place) / width)
        return float(np.average(near, weights=self.weight)) / width

    def size_density(self, place: float) -> float:
        """The density of their sizes at a place."""
        return self.density(place) + self.density(-place)

    def beyond(self, place: float) -> float:
        """The share of those that are larger in size."""
        return float(np.average(np.abs(self.values) > place, weights=self.weight))

    def best_tube(self) -> float:
        """Half width of the tube under which the weights are known best."""
        size = np.abs(self.values)
        found = [(weighted_quantile(size, self.weight, share) if share else 0.0) for share in TUBES]
        price = [self.beyond(tube) / self.size_density(tube) ** 2 for tube in found]
        return found[int(np.argmin(price))]

    def cost(self, likelihood: OneScore) -> float:
        """The cost under which a posterior is as wide as the law of its mode."""
        if isinstance(likelihood, Pinball):
            chance = likelihood.quantile
            return self.density(0.0) / (chance * (1.0 - chance))
        tube = likelihood.epsilon if isinstance(likelihood, EpsilonInsensitive) else 0.0
        return self.size_density(tube) / max(self.beyond(tube), 1.0 / (2.0 + self.weight.sum()))


def warn_of_costs(cost: FloatArray, ratio: FloatArray) -> None:
    """Tell of a given ``C`` that is far from what the noise calls for.

    Parameters
    ----------
    cost : array of shape (n_scores,)
    ratio : array of shape (n_scores,)
        Costs over those under which the posterior is as wide as the law of its mode.
    """
    worst = int(np.argmax(np.abs(np.log(ratio))))
    times = float(ratio[worst])
    if 1.0 / FAR_OFF <= times <= FAR_OFF:
        return
    factor, word = np.sqrt(max(times, 1.0 / times)), "narrower" if times > 1.0 else "wider"
    warnings.warn(
        f"C={cost[worst]:g} is {times:.2g} times what the noise of these values calls for "
        f"({cost[worst] / times:.2g}): the posterior is some {factor:.1f} times {word} than "
        "estimates scatter over samples of this size; pass C='auto', or read posterior_.robust()",
        CoverageWarning,
        stacklevel=5,
    )


def first_residuals(
    data: LinearData,
    likelihood: OneScore,
    prior_scale: float,
    intercept: bool,
    rng: np.random.Generator,
) -> Residuals:
    """Residuals of a fit whose cost follows them.

    Parameters
    ----------
    data : LinearData
        Rows in memory, whose labels are values in units of their own.
    likelihood : OneScore
        The absolute loss, or that of a quantile.
    prior_scale : float
        Standard deviation of the prior, in the same units.
    """
    if len(data.label) < 2 or np.ptp(data.label) == 0.0:
        raise DataError(
            f"every y is the same (n_samples={len(data.label)}): there is no noise to measure, so "
            "that C and epsilon must be given as numbers"
        )
    source = source_of(data.values, intercept)
    size = source.n_columns
    prior = GaussianBelief(np.zeros(size), np.full(size, prior_scale**-2.0))
    number, cost = data.counts, 1.0
    found = Residuals(data.label, number)
    for _ in range(ROUNDS):
        problem = posterior_of(likelihood, source, data.label, cost * number, prior)
        if is_wide(problem):
            wide = fit_wide_anchor(problem, rng)
            mean, variance = wide.mean, wide.scale**2
        else:
            anchor = fit_anchor(problem, rng)
            mean, variance = anchor.mean, anchor.variances()
        scores = np.concatenate([block_products(b, mean) for _, b in source.blocks()])
        used = max(0.0, size - float(prior.precision @ variance))
        kept = 1.0 - min(MOST_FREEDOM, used / number.sum())
        found = Residuals((data.label - scores) / kept, number)
        before, cost = cost, found.cost(likelihood)
        if abs(np.log(cost / before)) < 0.05:
            break
    return found
