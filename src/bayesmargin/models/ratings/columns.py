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
    of_user: FloatArray,
    of_item: FloatArray,
    scales: FloatArray,
    strength: float,
    reach: FloatArray,
    learning: bool,
) -> None:
    """Propose to multiply each scale, and what it is the scale of.

    They are biases of users and of items, thresholds less their ``means``, and columns of items.
    ``of_user`` and ``of_item`` are their precisions, ``scales`` what is expected of biases with
    thresholds, and of columns; ``reach`` has a place for each.
    """
    cuts, total = threshold.shape[1], other.shape[0]
    score, part = np.empty(total), np.empty(total)
    groups = of_item.shape[0] - 1
    width = (item.shape[1] - 1) // max(groups, 1)
    for i in range(user.shape[0]):
        for d in range(start[i], start[i + 1]):
            score[d] = score_of(user, i, item, other[d])
    for g in range(2 + cuts + groups):
        cut = g - 2 if 2 <= g < 2 + cuts else -1
        column = 1 + (g - 2 - cuts) * width
        for i in range(user.shape[0]):
            for d in range(start[i], start[i + 1]):
                j = other[d]
                if g == 0:
                    part[d] = user[i, 0]
                elif g == 1:
                    part[d] = item[j, 0]
                elif cut >= 0:
                    part[d] = means[cut] - threshold[i, cut]
                else:
                    part[d] = 0.0
                    for k in range(column, column + width):
                        part[d] += user[i, k] * item[j, k]
        energy = moved_energy(start, level, score, part, 0.0, threshold, cut, margin)
        for _ in range(TIMES):
            change = reach[g] * rng.standard_normal()
            times = math.exp(change)
            after = moved_energy(start, level, score, part, times - 1.0, threshold, cut, margin)
            if g == 0:
                precision = of_user[0]
            elif cut >= 0:
                precision = of_user[of_user.shape[0] - cuts + cut]
            else:
                precision = of_item[0 if g == 1 else g - 1 - cuts]
            scale = scales[0 if g < 2 + cuts else 1]
            value = strength * (scale**2 * precision * (1.0 - times**-2) - 2.0 * change)
            moved = math.log(max(rng.random(), 1e-300)) < value + cost * (energy - after)
            if learning:
                reach[g] *= 1.1 if moved else 0.95
            if not moved:
                continue
            energy = after
            if g == 0:
                of_user[0] /= times**2
                for i in range(user.shape[0]):
                    user[i, 0] *= times
            elif cut >= 0:
                of_user[of_user.shape[0] - cuts + cut] /= times**2
                for i in range(user.shape[0]):
                    threshold[i, cut] = means[cut] + times * (threshold[i, cut] - means[cut])
            else:
                of_item[0 if g == 1 else g - 1 - cuts] /= times**2
                first, last = (0, 1) if g == 1 else (column, column + width)
                for j in range(item.shape[0]):
                    for k in range(first, last):
                        item[j, k] *= times
            if cut < 0:
                for d in range(total):
                    score[d] += (times - 1.0) * part[d]
            for d in range(total):
                part[d] *= times
