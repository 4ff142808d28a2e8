r"""Units in which values are sampled, and the way back.

Losses are homogeneous, :math:`\phi(s u; s y) = s\,\phi(u; y)`, so that the posterior of
:math:`w / s` given :math:`(y - m) / s` is the same one with costs :math:`C s`, tubes
:math:`\epsilon / s` and a prior of scale :math:`1 / s`, moved by :math:`m`. Samplers start where
weights of about one reach the kinks; values in dollars or in light years have units of their own.
"""

from dataclasses import dataclass

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import Belief, GaussianBelief, LaplaceBelief
from bayesmargin.running.run import Run


@dataclass(frozen=True)
class Units:
    """Values are measured from ``centre`` in units of ``size``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.regression.units import units_of
    >>> units = units_of(np.array([10.0, 20.0, 30.0]), np.ones(3))
    >>> units
    Units(centre=20.0, size=10.0)
    >>> units.inside(np.array([10.0, 20.0, 30.0]))
    array([-1.,  0.,  1.])
    """

    centre: float
    size: float

    def inside(self, values: FloatArray) -> FloatArray:
        """Values in these units."""
        return (values - self.centre) / self.size

    def prior(self, prior: Belief, intercept: bool) -> Belief:
        """The prior of weights, the intercept last if there is one, in these units.

        A Laplace prior, which has no centre, is one of the intercept above that of the values.
        """
        if isinstance(prior, LaplaceBelief):
            return LaplaceBelief(prior.scale / self.size)
        mean = prior.mean.copy()
        if intercept:
            mean[-1] -= self.centre
        return GaussianBelief(mean / self.size, prior.precision * self.size**2)

    def outside(self, run: Run, intercept: bool) -> Run:
        """Draws of the weights, the intercept last if there is one, in the units of the values."""
        run.weights *= self.size
        if run.moments is not None:
            run.moments = run.moments[0] * self.size, run.moments[1] * self.size**2
        if intercept and self.centre:
            run.weights[..., -1] += self.centre
            if run.moments is not None:
                run.moments[0][-1] += self.centre
        return run


def units_of(y: FloatArray, weight: FloatArray) -> Units:
    """The median of values and their typical distance from it, or from one another."""
    centre = weighted_quantile(y, weight, 0.5)
    away = np.abs(y - centre)
    size = weighted_quantile(away, weight, 0.5) or float(away @ weight / weight.sum())
    return Units(centre, size or float(np.abs(y).max()) or 1.0)


def weighted_quantile(values: FloatArray, weight: FloatArray, level: float) -> float:
    """The smallest value that has at least a share ``level`` of the weight up to it."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    place = int(np.searchsorted(reached, level * reached[-1]))
    return float(values[order[min(place, len(order) - 1)]])
