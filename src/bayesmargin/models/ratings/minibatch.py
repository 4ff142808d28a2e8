r"""All rows at once as a target of the library's dynamics, with minibatches of ratings.

The energy is that of the priors and :math:`c \sum_{ij} \sum_r (\ell - b_{ijr}(m_{ij} -
\theta_{ir}))_+` (:mod:`.tables`). Its gradient reads a batch of B ratings, consecutive ones of a
shuffled list from a place drawn anew, so that each is in with probability B/N, and counts N/B.

A position holds users with their thresholds, then items, in units of widths that are about those
of the posterior: :math:`1/\sqrt{\tau + n x^2 c (R-1)/(4\ell)}` for a row of n ratings, a prior
of precision :math:`\tau` and regressors of size x.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.dynamics.base import advance
from bayesmargin.foundation.compiling import implements, inner_borrowing_jit, jit
from bayesmargin.foundation.streams import uniform
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.ratings.tables import score_of, side_of
from bayesmargin.targets.base import Full, estimate_gradient, space_of


class Batches(NamedTuple):
    """The law of all rows given their priors."""

    of_user: IntArray  #: (n_ratings,) rows of users, shuffled as the two others
    of_item: IntArray
    level: IntArray
    batch: int  #: ratings of a gradient
    cost: float
    margin: float
    user: FloatArray  #: (n_users, 1 + n_factors) those of the last position that was asked for
    threshold: FloatArray  #: (n_users, n_levels - 1)
    item: FloatArray  #: (n_items, 1 + n_factors)
    user_mean: FloatArray  #: (1 + n_factors + n_levels - 1,) prior, likewise below
    user_precision: FloatArray
    item_mean: FloatArray
    item_precision: FloatArray
    user_width: FloatArray  #: (n_users, 1 + n_factors + n_levels - 1)
    item_width: FloatArray  #: (n_items, 1 + n_factors)


def widths(
    counts: IntArray, precision: FloatArray, sizes: FloatArray, sharpness: float
) -> FloatArray:
    """Width of every coordinate of rows of so many ratings."""
    return np.asarray(1.0 / np.sqrt(precision + sharpness * np.outer(counts, sizes**2)))


@inner_borrowing_jit
def place(target: Batches, position: FloatArray) -> None:
    """The rows of a position into those of the target."""
    n, width, cuts = target.user.shape[0], target.user.shape[1], target.threshold.shape[1]
    p = 0
    for i in range(n):
        for k in range(width):
            target.user[i, k] = target.user_width[i, k] * position[p]
            p += 1
        for r in range(cuts):
            target.threshold[i, r] = target.user_width[i, width + r] * position[p]
            p += 1
    for j in range(target.item.shape[0]):
        for k in range(width):
            target.item[j, k] = target.item_width[j, k] * position[p]
            p += 1


def position_of(target: Batches) -> FloatArray:
    """The position of the rows of a target."""
    users = np.hstack([target.user, target.threshold]) / target.user_width
    return np.concatenate([users.ravel(), (target.item / target.item_width).ravel()])


@implements(space_of, Batches, borrows=True)
def _everything(target):  # type: ignore[no-untyped-def]
    return Full()


@implements(estimate_gradient, Batches, borrows=True)
def _gradient(target, position, source, work):  # type: ignore[no-untyped-def]
    place(target, position)
    user, item, threshold = target.user, target.item, target.threshold
    gradient, data = work.gradient, work.data
    width, cuts, total = user.shape[1], threshold.shape[1], target.level.shape[0]
    row, items = width + cuts, user.shape[0] * (width + cuts)
    for p in range(data.shape[0]):
        data[p] = 0.0
    first = min(int(uniform(source) * total), total - 1)
    for t in range(target.batch):
        d = first + t if first + t < total else first + t - total
        i, j = target.of_user[d], target.of_item[d]
        score, slope = score_of(user, i, item, j), 0.0
        for r in range(cuts):
            side = side_of(target.level[d], r)
            if target.margin > side * (score - threshold[i, r]):
                slope -= side
                data[i * row + width + r] += side
        if slope != 0.0:
            data[i * row] += slope
            data[items + j * width] += slope
            for k in range(1, width):
                data[i * row + k] += slope * item[j, k]
                data[items + j * width + k] += slope * user[i, k]
    weight, p = target.cost * total / target.batch, 0
    for i in range(user.shape[0]):
        for k in range(row):
            value = user[i, k] if k < width else threshold[i, k - width]
            pull = target.user_precision[k] * (value - target.user_mean[k])
            data[p] *= weight * target.user_width[i, k]
            gradient[p] = data[p] + target.user_width[i, k] * pull
            p += 1
    for j in range(item.shape[0]):
        for k in range(width):
            pull = target.item_precision[k] * (item[j, k] - target.item_mean[k])
            data[p] *= weight * target.item_width[j, k]
            gradient[p] = data[p] + target.item_width[j, k] * pull
            p += 1


@jit
def move(dynamics, target, state, work, rng, steps):  # type: ignore[no-untyped-def]
    """Some steps of a dynamics; the rows of where it arrives go into those of the target."""
    for _ in range(steps):
        advance(dynamics, target, state, work, rng)
    place(target, state.position)
