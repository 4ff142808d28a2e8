r"""Losses of regression with kinks: tubes, absolute deviations, quantiles, and any other.

All are :class:`~bayesmargin.likelihoods.base.OneScore` likelihoods: a few lines that say where the
kinks of a row lie, from which the approximation, every sampler and the exact baseline follow.
"""

from dataclasses import dataclass

import numpy as np

from bayesmargin.foundation.arguments import require_real
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.base import OneScore
from bayesmargin.likelihoods.pieces import Pieces


@dataclass(frozen=True)
class EpsilonInsensitive(OneScore):
    r"""Loss of support vector regression, :math:`\phi = (|y - s| - \epsilon)_+`.

    Parameters
    ----------
    epsilon : float
        Half the width of the tube inside which nothing is lost; 0 is the absolute loss.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.likelihoods import EpsilonInsensitive
    >>> EpsilonInsensitive(0.5).loss(np.array([1.0, 1.0]), np.array([1.25, 3.0]))
    array([0. , 1.5])
    """

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        require_real(epsilon=self.epsilon)
        if not 0.0 <= self.epsilon < np.inf:
            raise ValueError(f"epsilon={self.epsilon!r} is not allowed: it is zero or more")

    def pieces(self, y: FloatArray) -> Pieces:
        """Two kinks, where the score leaves the tube."""
        if self.epsilon == 0.0:
            return Absolute().pieces(y)
        kinks = np.stack([y - self.epsilon, y + self.epsilon])
        return Pieces(y - self.epsilon, -1.0, kinks, np.ones(2))


@dataclass(frozen=True)
class Absolute(OneScore):
    r"""Absolute loss, :math:`\phi = |y - s|`: regression to the median.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.likelihoods import Absolute
    >>> Absolute().loss(np.array([1.0, 1.0]), np.array([0.5, 3.0]))
    array([0.5, 2. ])
    """

    def pieces(self, y: FloatArray) -> Pieces:
        """One kink of jump two."""
        return Pieces(y, -1.0, y[None], np.array([2.0]))


@dataclass(frozen=True)
class Pinball(OneScore):
    r"""Loss of a quantile, :math:`\phi = q\,(y - s)_+ + (1 - q)\,(s - y)_+`.

    Parameters
    ----------
    quantile : float
        :math:`q`, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.likelihoods import Pinball
    >>> Pinball(0.75).loss(np.array([1.0, 1.0]), np.array([0.0, 2.0]))
    array([0.75, 0.25])
    """

    quantile: float = 0.5

    def __post_init__(self) -> None:
        require_real(quantile=self.quantile)
        if not 0.0 < self.quantile < 1.0:
            raise ValueError(
                f"quantile={self.quantile!r} is not allowed: it lies between 0 and 1, both excluded"
            )

    def pieces(self, y: FloatArray) -> Pieces:
        """One kink of jump one."""
        return Pieces(self.quantile * y, -self.quantile, y[None], np.ones(1))


@dataclass(frozen=True)
class PiecewiseLinear(OneScore):
    r"""Any convex piecewise-linear loss of the residual :math:`r = s - y`, zero at :math:`r = 0`.

    .. math:: \phi(r) = g_0\,r + \sum_j d_j\,[(r - k_j)_+ - (-k_j)_+]

    Parameters
    ----------
    slope : float
        :math:`g_0`, the slope left of all kinks.
    kinks : sequence of float
        Residuals :math:`k_j` at which the slope rises.
    jumps : sequence of float
        By how much, more than zero.

    Examples
    --------
    A tube that costs twice as much above as below:

    >>> import numpy as np
    >>> from bayesmargin.likelihoods import PiecewiseLinear
    >>> lopsided = PiecewiseLinear(-1.0, kinks=(-0.5, 0.5), jumps=(1.0, 2.0))
    >>> lopsided.loss(np.zeros(3), np.array([-1.0, 0.0, 1.0]))
    array([0.5, 0. , 1. ])
    """

    slope: float
    kinks: tuple[float, ...]
    jumps: tuple[float, ...]

    def __post_init__(self) -> None:
        kinks, jumps = tuple(map(float, self.kinks)), tuple(map(float, self.jumps))
        if not kinks or len(kinks) != len(jumps):
            raise ValueError(
                f"{len(kinks)} kinks and {len(jumps)} jumps are not allowed: a jump for each kink, "
                "and at least one kink"
            )
        if not all(np.isfinite([self.slope, *kinks, *jumps])) or min(jumps) <= 0.0:
            raise ValueError(
                f"jumps={self.jumps!r} and kinks={self.kinks!r} are not allowed: kinks are finite "
                "numbers and jumps are more than zero, else the loss is not convex"
            )
        object.__setattr__(self, "kinks", kinks)
        object.__setattr__(self, "jumps", jumps)

    def pieces(self, y: FloatArray) -> Pieces:
        """The kinks moved to the row's own value."""
        kinks, jumps = np.array(self.kinks), np.array(self.jumps)
        at_zero = float(jumps @ np.maximum(-kinks, 0.0))
        return Pieces(-self.slope * y - at_zero, self.slope, y + kinks[:, None], jumps)
