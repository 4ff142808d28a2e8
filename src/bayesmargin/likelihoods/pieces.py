r"""Convex piecewise-linear losses of one score, and the hinges that each of them is.

A loss of a score :math:`s` whose slope rises by :math:`d_j > 0` at the kink :math:`t_j` is

.. math:: \phi(s) = a + g_0 s + \sum_j d_j (s - t_j)_+, \qquad \psi = e^{-c\,\phi(s)} .

Since :math:`(s - t)_+ = (t - s)_+ + s - t`, a kink may be turned round at the price of a linear
function. :func:`hinges_of` turns as many as make the linear part vanish, if any do: the hinge and
the epsilon-insensitive loss are then hinges and nothing else, and of a quantile one hinge and a
slope are left.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray

NOTHING = 1e-12  # slope, relative to the jumps, that is taken for rounding


@dataclass(frozen=True)
class Pieces:
    """Loss of some rows: value ``constant + slope * s``, and beyond every kink a further jump.

    Attributes
    ----------
    constant, slope : arrays of shape (n_rows,)
        The line left of all kinks; numbers serve all rows.
    kinks : array of shape (n_kinks, n_rows)
        Where the slope rises.
    jumps : array of shape (n_kinks,)
        By how much, more than zero.
    """

    constant: FloatArray | float
    slope: FloatArray | float
    kinks: FloatArray
    jumps: FloatArray

    def value(self, score: FloatArray) -> FloatArray:
        """Loss at the scores of the rows (last axis)."""
        result = self.constant + self.slope * score
        for kink, jump in zip(self.kinks, self.jumps, strict=True):
            result = result + jump * np.maximum(score - kink, 0.0)
        return np.asarray(result)

    def gradient(self, score: FloatArray) -> FloatArray:
        """Slope of the loss at the scores; at a kink that to its left."""
        result = self.slope + np.zeros_like(score)
        for kink, jump in zip(self.kinks, self.jumps, strict=True):
            result = result + jump * (score > kink)
        return np.asarray(result)


@dataclass(frozen=True)
class Hinges:
    r"""Rows as hinges in one score: term :math:`i` is :math:`(b_i - \sigma_i s)_+ + g_i s + o_i`.

    Attributes
    ----------
    side : array of shape (n_terms,)
        -1 or +1.
    level, slope, offset : arrays of shape (n_terms,)
        Of one number each where all terms are alike: there may be billions of them.
    """

    side: IntArray
    level: FloatArray
    slope: FloatArray
    offset: FloatArray

    @property
    def tilted(self) -> bool:
        """Whether there is a linear part at all."""
        return bool(self.slope.strides != (0,) or self.slope[:1].any())

    def take(self, index: IntArray) -> "Hinges":
        """Some of the terms."""
        return Hinges(self.side[index], self.level[index], self.slope[index], self.offset[index])


def hinges_of(pieces: Pieces, cost: FloatArray) -> tuple[Hinges, FloatArray]:
    """Terms and their costs: those of the first kink of all rows, then of the second, and so on.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.likelihoods import EpsilonInsensitive
    >>> from bayesmargin.likelihoods.pieces import hinges_of
    >>> terms, cost = hinges_of(EpsilonInsensitive(0.25).pieces(np.array([2.0])), np.ones(1))
    >>> terms.side, terms.level, terms.slope
    (array([ 1, -1], dtype=int8), array([ 1.75, -2.25]), array([0., 0.]))
    """
    n_kinks, n_rows = pieces.kinks.shape
    slope = np.broadcast_to(np.asarray(pieces.slope, dtype=float), (n_rows,))
    constant = np.broadcast_to(np.asarray(pieces.constant, dtype=float), (n_rows,))
    size = float(np.abs(pieces.jumps).sum())
    sides, levels = [], []
    for kink, jump in zip(pieces.kinks, pieces.jumps, strict=True):
        turned = slope + jump <= NOTHING * size
        slope = np.where(turned, slope + jump, slope)
        constant = np.where(turned, constant - jump * kink, constant)
        sides.append(np.where(turned, np.int8(1), np.int8(-1)))
        levels.append(np.where(turned, kink, -kink))
    slope = np.where(np.abs(slope) <= NOTHING * size, 0.0, slope)
    shares = n_kinks * pieces.jumps[:, None]
    terms = Hinges(
        side=_spared(np.concatenate(sides)),
        level=np.concatenate(levels),
        slope=_spared((slope / shares).ravel()),
        offset=(constant / shares).ravel(),
    )
    return terms, _spared((pieces.jumps[:, None] * cost).ravel())


def _spared(values: Any) -> Any:
    """An array of equal numbers as one number in memory."""
    if values.size and np.all(values == values[0]):
        return np.broadcast_to(values[:1].copy(), values.shape)
    return values
