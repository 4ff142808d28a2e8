r"""Normal laws of a score tilted by a row's piecewise-linear loss, and the way back.

With the slopes :math:`g_k` of the pieces between the kinks :math:`t_k`, the law proportional to
:math:`N(s; m, v)\, e^{-\phi(s)}` is normal on each piece, about :math:`m - g_k v`. With the chances
:math:`r_k` of the pieces and the density :math:`p` of the law its moments are

.. math:: m - v \sum_k r_k g_k, \qquad
          v - v^2 \left[\sum_j d_j\, p(t_j) - \mathrm{Var}_r(g)\right] .

Leaving a row out asks for the normal law that the row has tilted to the moments of the draws
(:mod:`bayesmargin.calibration.leave_one_out`).
"""

import numpy as np
from scipy.special import log_ndtr, logsumexp

from bayesmargin.calibration.leave_one_out import without
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.pieces import Pieces

FAR = 3.0  # standard deviations from all kinks at which a row only moves the law


def tilted_moments(
    kinks: FloatArray, slopes: FloatArray, mean: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of tilted laws.

    Parameters
    ----------
    kinks : array of shape (n_kinks, n_rows)
        In rising order.
    slopes : array of shape (n_kinks + 1, n_rows)
        Of the pieces, times the cost.
    mean, variance : arrays of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.tilted import tilted_moments
    >>> slopes = np.array([[-1.0], [1.0]])
    >>> mean, variance = tilted_moments(np.zeros((1, 1)), slopes, np.zeros(1), np.ones(1))
    >>> float(mean[0]), round(float(variance[0]), 4)
    (0.0, 0.4749)
    """
    sd = np.sqrt(variance)
    away, jumps = kinks - mean, np.diff(slopes, axis=0)
    steps = np.cumsum(jumps * away, axis=0)
    lines = np.concatenate([np.zeros((1, len(mean))), -steps])  # of the loss, through the mean
    ends = np.full((1, len(mean)), np.inf)
    bounds = np.concatenate([-ends, away / sd, ends])
    high, low = bounds[1:] + slopes * sd, bounds[:-1] + slopes * sd
    chance = 0.5 * slopes**2 * variance - lines + _log_between(low, high)
    total = logsumexp(chance, axis=0)
    share = np.exp(chance - total)
    slope = np.sum(share * slopes, axis=0)
    spread = np.sum(share * (slopes - slope) ** 2, axis=0)
    loss = lines[1:] + slopes[1:] * away
    density = np.exp(-0.5 * (away / sd) ** 2 - loss - total) / (np.sqrt(2.0 * np.pi) * sd)
    narrower = variance - variance**2 * (np.sum(jumps * density, axis=0) - spread)
    return mean - variance * slope, np.maximum(narrower, 1e-9 * variance)


def _log_between(low: FloatArray, high: FloatArray) -> FloatArray:
    """Log of the normal chance between two bounds, from the side on which it is not one."""
    turned = low > 0.0
    low, high = np.where(turned, -high, low), np.where(turned, -low, high)
    top, bottom = log_ndtr(high), log_ndtr(low)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(-np.expm1(np.minimum(bottom - top, 0.0))))


def without_rows(
    pieces: Pieces, cost: FloatArray, mean: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means and variances of scores under the posterior without their rows.

    Parameters
    ----------
    pieces : Pieces
        Losses of the rows, their kinks in rising order.
    cost : array of shape (n_rows,)
        Of a unit of loss.
    mean, variance : arrays of shape (n_rows,)
        Under the posterior with all rows.
    """
    n_kinks = len(pieces.kinks)
    first = np.broadcast_to(np.asarray(pieces.slope, dtype=float), mean.shape)
    rises = np.concatenate([[0.0], np.cumsum(pieces.jumps)])
    slopes = first + rises[:, None]
    scaled = cost**2 * variance  # scores in units of one over the cost, counted from the mean
    matters = scaled > 1e-12
    unit = np.where(matters, cost, 1.0)
    kinks = unit * (pieces.kinks - mean)
    scaled = np.where(matters, scaled, 1.0)
    sd = np.sqrt(scaled)
    place = np.sum(kinks < 0.0, axis=0)
    near = (np.abs(kinks) < FAR * sd).any(axis=0) if n_kinks else np.zeros(len(mean), bool)
    start = np.where(near, 0.0, np.take_along_axis(slopes, place[None], axis=0)[0])

    def tilted(m: FloatArray, v: FloatArray, rest: IntArray) -> tuple[FloatArray, FloatArray]:
        return tilted_moments(kinks[:, rest], slopes[:, rest], m, v)

    shift, growth = without(np.zeros_like(mean), scaled, start, tilted)
    moved = np.where(matters, shift / unit, 0.0)
    return mean + moved, variance + np.where(matters, (growth - scaled) / unit**2, 0.0)
