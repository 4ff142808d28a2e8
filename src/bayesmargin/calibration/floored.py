r"""From the rule "probability" to probabilities that agree with frequencies.

The normalised pseudo-likelihood has no temperature: with a small C it is too cautious, with a large
one too bold, and no C serves everywhere. And it trusts its components: a row in the midst of one
gets a probability next to one, though labels may be wrong there, too. The link is

.. math:: \hat p_y = (1 - \epsilon)\,\frac{p_y^a}{\sum_{y'} p_{y'}^a} + \frac{\epsilon}{L}

with a slope :math:`a` and a floor :math:`\epsilon`, both learned from rows that had no part in the
draws (:mod:`bayesmargin.models.infinite_svc.held_out`). The order of the classes, and so the
predicted one, is that of the rule.
Its probabilities are means of some tens of draws, and whether they are :math:`10^{-5}` or
:math:`10^{-50}` says how few these are: a thousandth of all is shared out evenly before.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit

from bayesmargin.foundation.types import FloatArray, IntArray

_UNRESOLVED = 1e-3  # probability that draws do not place
_USUAL_FLOOR = 0.02
_STARTS = np.linspace(-3.0, 3.0, 13)
# Standard deviations of the prior: of the log of the slope about zero, of the logit of the floor.
_SLOPE_SD, _FLOOR_SD = 1.0, 1.5


@dataclass(frozen=True)
class Link:
    """Slope of the log probabilities, and the floor under all of them."""

    slope: float = 1.0
    floor: float = _USUAL_FLOOR

    def apply(self, chance: FloatArray) -> FloatArray:
        """Probabilities (rows, classes) of those of the rule."""
        classes = chance.shape[1]
        return (1.0 - self.floor) * _sharpened(self.slope, chance) + self.floor / classes


def _sharpened(slope: float, chance: FloatArray) -> FloatArray:
    resolved = (1.0 - _UNRESOLVED) * chance + _UNRESOLVED / chance.shape[1]
    return np.exp(log_softmax(slope * np.log(resolved), axis=1))


def fit_link(chance: FloatArray, labels: IntArray) -> Link:
    """The link under which the labels of rows held out are most probable, with a weak prior.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.floored import fit_link
    >>> cautious = np.tile([0.4, 0.6], (1000, 1))  # of which 80% are of the second class
    >>> link = fit_link(cautious, (np.arange(1000) % 5 > 0).astype(int))
    >>> link.apply(cautious)[0].round(2)
    array([0.2, 0.8])
    """
    own = np.arange(len(labels)), labels

    def loss(unknown: FloatArray) -> float:
        away = unknown / [_SLOPE_SD, _FLOOR_SD]
        link = _link(unknown)
        return float(0.5 * np.dot(away, away) - np.log(link.apply(chance)[own]).sum())

    # Labels that the rule calls impossible can be explained by either, so there may be two valleys.
    start = min(itertools.product(_STARTS, _STARTS), key=lambda point: loss(np.array(point)))
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(-6.0, 6.0)] * 2)
    return _link(found.x)


def learn_link(chances: list[FloatArray | None], labels: IntArray) -> Link:
    """The link for means over chains; the usual one where a chain was interrupted."""
    found = [chance for chance in chances if chance is not None]
    if len(found) < len(chances):
        return Link()
    return fit_link(np.mean(found, axis=0), labels)


def _link(unknown: FloatArray) -> Link:
    """Link of the log of the slope and the distance of the floor's logit from the usual one."""
    slope, floor = np.exp(unknown[0]), expit(logit(_USUAL_FLOOR) + unknown[1])
    return Link(float(slope), float(floor))
