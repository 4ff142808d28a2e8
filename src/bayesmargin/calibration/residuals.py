r"""Intervals for new values, from the residuals of rows under the posterior without them.

A residual of a row that was left out is one of a new row, so that the share of residuals between
two of their order statistics is the chance that a new value lies between them: with :math:`n`
rows, the :math:`k`-th smallest has the chance :math:`k / (n + 1)`; between two of them it is
interpolated. Nothing is assumed of the noise.
Residuals are compared in the units in which rows differ:

* with one line, :math:`\sqrt{\sigma^2 + v_d}`, where :math:`v_d` is how well the score of the row
  is known without it and :math:`\sigma` the typical size of the noise: intervals widen where rows
  are few;
* with several quantiles, the distances of the lowest and the highest line from the middle: they
  widen where the noise does, as far as lines can tell.
"""

from dataclasses import dataclass, field

import numpy as np

from bayesmargin.foundation.types import FloatArray

TYPICAL = 0.6745  # of the size of standard normal noise
NARROWEST = 1e-3  # distance of a quantile's line from the middle, in its mean distance


@dataclass(frozen=True)
class LeftOut:
    """Residuals of training rows under the posterior without them.

    Attributes
    ----------
    residual : array of shape (n_rows, n_lines)
        Values less scores.
    variance : array of shape (n_rows, n_lines)
        Of the scores, over samples of rows.
    weight : array of shape (n_rows,)
        How many rows each stands for.
    inflation : array of shape (n_lines,)
        Variance over samples of rows over that of the posterior.
    """

    residual: FloatArray = field(repr=False)
    variance: FloatArray = field(repr=False)
    weight: FloatArray = field(repr=False)
    inflation: FloatArray

    def of_line(self, number: int) -> "LeftOut":
        """Those of one of the lines."""
        part = slice(number, number + 1)
        return LeftOut(
            self.residual[:, part], self.variance[:, part], self.weight, self.inflation[part]
        )

    def around(
        self, line: FloatArray, variance: FloatArray, coverage: float
    ) -> tuple[FloatArray, FloatArray]:
        """Ends of intervals about the values of one line, known with these variances."""
        own = self.residual[:, 0]
        noise = _typical(own, self.weight) ** 2
        share = own / np.sqrt(noise + self.variance[:, 0])
        low, high = self._ends(share, share, coverage)
        width = np.sqrt(noise + self.inflation[0] * variance)
        return line + low * width, line + high * width

    def between(
        self, low: FloatArray, middle: FloatArray, high: FloatArray, coverage: float
    ) -> tuple[FloatArray, FloatArray]:
        """Ends of intervals that are as lopsided as two quantiles about a middle.

        Columns of ``residual`` are those of the lowest, the middle and the highest line.
        """
        below, own, above = self.residual[:, 0], self.residual[:, 1], self.residual[:, 2]
        down, up = _floored(below - own), _floored(own - above)
        rising = own > 0.0
        share = np.where(rising, own / up, own / down)
        first, last = self._ends(share, share, coverage)
        floor = (down @ self.weight, up @ self.weight) / self.weight.sum() * NARROWEST
        below, above = np.maximum(middle - low, floor[0]), np.maximum(high - middle, floor[1])
        ends = [np.where(share < 0.0, share * below, share * above) for share in (first, last)]
        return middle + ends[0], middle + ends[1]

    def _ends(self, low: FloatArray, high: FloatArray, coverage: float) -> tuple[float, float]:
        tail = 0.5 - 0.5 * coverage
        return (
            -between_order_statistics(-low, self.weight, 1.0 - tail),
            between_order_statistics(high, self.weight, 1.0 - tail),
        )


def order_statistic(values: FloatArray, weight: FloatArray, level: float) -> float:
    """The smallest value that a further one exceeds with a chance of at most ``1 - level``.

    The largest of all, where they are too few for that.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.residuals import order_statistic
    >>> order_statistic(np.arange(1.0, 20.0), np.ones(19), 0.9)
    18.0
    """
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    one = min(1.0, float(weight.mean()))
    wanted = level * (reached[-1] + one) * (1.0 - 1e-12)
    return float(values[order[min(int(np.searchsorted(reached, wanted)), len(order) - 1)]])


def between_order_statistics(values: FloatArray, weight: FloatArray, level: float) -> float:
    """A value that a further one exceeds with a chance of ``1 - level``, whatever ``level`` is.

    Between two order statistics it is interpolated: the chance is then right to the order of the
    square of one over their number, where the next larger one would always promise too little.
    The largest of all, where they are too few.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.residuals import between_order_statistics
    >>> round(between_order_statistics(np.arange(1.0, 20.0), np.ones(19), 0.925), 6)
    18.5
    """
    order = np.argsort(values, kind="stable")
    one = min(1.0, float(weight.mean()))
    reached = np.cumsum(weight[order])
    return float(np.interp(level * (reached[-1] + one), reached, values[order]))


def _typical(values: FloatArray, weight: FloatArray) -> float:
    size = np.abs(values)
    typical = order_statistic(size, weight, 0.5) / TYPICAL
    return typical or float(np.sqrt(np.average(size**2, weights=weight)))


def _floored(distance: FloatArray) -> FloatArray:
    """Distances between lines that may touch or cross."""
    typical = float(np.mean(np.abs(distance))) or 1.0
    return np.maximum(distance, NARROWEST * typical)
