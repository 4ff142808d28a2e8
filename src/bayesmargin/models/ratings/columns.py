r"""Columns of factors: how they share the scores out among each other, and how much each counts.

Rows that are drawn one by one take small steps along what is common to a column. Three moves take
long ones. No rating sees

* columns k and l of U and of V turned by the same angle :math:`\phi`. Users' factors have a round
  prior, so that the angle has, with :math:`A = |V_k|^2`, :math:`B = |V_l|^2`, :math:`D = V_k \cdot
  V_l`, von Mises' law: its log density is :math:`-\tfrac12 (\tau_k - \tau_l) (\tfrac{A - B}2
  \cos 2\phi + D \sin 2\phi)`;
* a column of U times :math:`t`, of V over :math:`t` with its scale :math:`\tau^{-1/2}`. Then
  :math:`t^2` has the law :math:`\mathrm{Gamma}\big(\tfrac N2 + a, \tfrac12 |U_k|^2 + a s^2
  \tau_k\big)` for N users, where the prior of :math:`\tau` is :math:`\mathrm{Gamma}(a, a s^2)`.

And a column of V times :math:`e^\epsilon` along with its scale leaves its prior as it is (Yu and
Meng's interweaving, 2011): Metropolis and Hastings' test asks the hinges and the prior of the
scale. Without it a column of which the ratings know little changes its scale by a few per cent a
sweep, as its many rows hold the scale, and the scale the rows.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.ratings.tables import score_of, side_of

TIMES = 2  # proposals for each scale


def turn_columns(
    rng: np.random.Generator, user: FloatArray, item: FloatArray, precision: FloatArray
) -> None:
    """Turn every two columns of factors, in place."""
    size = len(precision)
    turned, gram = np.eye(size), item.T @ item
    for k in range(size):
        for other in range(k):
            pair, unlike = [k, other], -0.5 * (precision[k] - precision[other])
            across = 0.5 * unlike * (gram[k, k] - gram[other, other])
            slant = unlike * gram[k, other]
            angle = 0.5 * rng.vonmises(math.atan2(slant, across), math.hypot(slant, across))
            both = math.cos(angle) * np.eye(2)
            both[1, 0], both[0, 1] = math.sin(angle), -math.sin(angle)
            turned[:, pair] = turned[:, pair] @ both
            gram[:, pair] = gram[:, pair] @ both
            gram[pair] = both.T @ gram[pair]
    user[:], item[:] = user @ turned, item @ turned


def trade_columns(
    rng: np.random.Generator,
    user: FloatArray,
    item: FloatArray,
    precision: FloatArray,
    scale: float,
    strength: float,
) -> None:
    """Make columns of users larger and those of items smaller, or the other way, in place."""
    rate = 0.5 * np.square(user).sum(axis=0) + strength * scale**2 * precision
    square = rng.standard_gamma(0.5 * len(user) + strength, len(rate)) / rate
    user *= np.sqrt(square)
    item /= np.sqrt(square)
    precision *= square


@inner_jit
def moved_energy(start, level, score, part, share, threshold, cut, margin):  # type: ignore[no-untyped-def]
    """Hinges where scores go on by a share of the parts; of one cut only, unless that is -1."""
    total, cuts = 0.0, threshold.shape[1]
    first, last = (0, cuts) if cut < 0 else (cut, cut + 1)
    for i in range(threshold.shape[0]):
        for d in range(start[i], start[i + 1]):
            value = score[d] + share * part[d]
            for r in range(first, last):
                total += max(0.0, margin - side_of(level[d], r) * (value - threshold[i, r]))
    return total


@jit
def stretch_scales(
    rng: np.random.Generator,
    start: IntArray,
    other: IntArray,
    level: IntArray,
    user: FloatArray,
    threshold: FloatArray,
    item: FloatArray,
    cost: float,
    margin: float,
    means: FloatArray,
    precision: FloatArray,
    scales: FloatArray,
    strength: float,
    reach: FloatArray,
    learning: bool,
) -> None:
    """Propose to multiply each scale, and what it is the scale of.

    First come those of thresholds less their ``means``, then those of the columns of items; each
    has a ``precision``, a scale that is expected, and a reach of its proposals.
    """
    cuts, total = threshold.shape[1], other.shape[0]
    score, part = np.empty(total), np.empty(total)
    width = (item.shape[1] - 1) // max(precision.shape[0] - cuts, 1)
    for i in range(user.shape[0]):
        for d in range(start[i], start[i + 1]):
            score[d] = score_of(user, i, item, other[d])
    for g in range(precision.shape[0]):
        cut, first = g if g < cuts else -1, 1 + (g - cuts) * width
        for i in range(user.shape[0]):
            for d in range(start[i], start[i + 1]):
                part[d] = 0.0
                if cut >= 0:
                    part[d] = means[cut] - threshold[i, cut]
                else:
                    for k in range(first, first + width):
                        part[d] += user[i, k] * item[other[d], k]
        if g <= cuts:  # beyond, it is the one of the column before
            energy = moved_energy(start, level, score, part, 0.0, threshold, cut, margin)
        for _ in range(TIMES):
            change = reach[g] * rng.standard_normal()
            times = math.exp(change)
            after = moved_energy(start, level, score, part, times - 1.0, threshold, cut, margin)
            less = scales[g] ** 2 * precision[g] * (1.0 - times**-2)
            value = cost * (energy - after) + strength * (less - 2.0 * change)
            moved = math.log(max(rng.random(), 1e-300)) < value
            if learning:
                reach[g] *= 1.1 if moved else 0.95
            if not moved:
                continue
            energy = after
            precision[g] /= times**2
            if cut >= 0:
                for i in range(user.shape[0]):
                    threshold[i, cut] = means[cut] + times * (threshold[i, cut] - means[cut])
            else:
                for j in range(item.shape[0]):
                    for k in range(first, first + width):
                        item[j, k] *= times
                for d in range(total):
                    score[d] += (times - 1.0) * part[d]
            for d in range(total):
                part[d] *= times
