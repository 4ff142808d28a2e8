r"""Binary features of users in the place of factors, as many as the ratings ask for.

.. math:: m_{ij} = a_i + d_j + \sum_k z_{ik} V_{jk}, \qquad Z \sim \mathrm{IBP}(\alpha), \qquad
          V_{jk} \sim N(0, s^2) .

What :mod:`bayesmargin.models.buffet.sweep` asks of a model is answered here. An old feature is
weighed by the hinges themselves. For new ones, given the mixing variables of a user's ratings,
:math:`-\tfrac{\omega_j}2 m^2 + t_j m` is the log likelihood of a score, and the sum of
:math:`\kappa` new entries of :math:`V_j` is :math:`N(0, \kappa s^2)`, so that

.. math:: \log p(\kappa) = \sum_j -\tfrac12 \log(1 + \kappa s^2 \omega_j)
          + \frac{\kappa s^2 (t_j - \omega_j m_j)^2}{2 (1 + \kappa s^2 \omega_j)}

with :math:`m_j` the score without them; items that the user has not rated have entries from the
prior.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.augmentation.law import gaussian_term
from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.random import augmentation_precision
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.buffet import sweep
from bayesmargin.models.buffet.features import Features, enlarged, features_of
from bayesmargin.models.ratings.tables import Ratings, hinge_of, side_of

ROOM = 8  # features that a sweep may add before arrays are copied


class Tastes(NamedTuple):
    """A chain as the sweep over features sees it."""

    start: IntArray  #: ratings by user, likewise the next two
    other: IntArray
    level: IntArray
    bias: FloatArray  #: (n_users, 1)
    threshold: FloatArray  #: (n_users, n_levels - 1)
    item: FloatArray  #: (n_items, 1 + room) bias, entries of the features
    score: FloatArray  #: of the ratings of the user whose turn it is, likewise the next two
    omega: FloatArray
    pull: FloatArray
    cost: float
    margin: float
    scale: float  #: of an entry


@implements(sweep.begin_row, Tastes)
def _begin_row(view, features, row, rng):  # type: ignore[no-untyped-def]
    first = view.start[row]
    for d in range(first, view.start[row + 1]):
        j = view.other[d]
        total = view.bias[row, 0] + view.item[j, 0]
        for k in range(features.size[0]):
            if features.held[row, k] != 0:
                total += view.item[j, 1 + k]
        view.score[d - first] = total


@implements(sweep.gain, Tastes)
def _gain(view, features, row, column):  # type: ignore[no-untyped-def]
    first, held, total = view.start[row], features.held[row, column], 0.0
    for d in range(first, view.start[row + 1]):
        without = view.score[d - first] - held * view.item[view.other[d], 1 + column]
        with_it = without + view.item[view.other[d], 1 + column]
        total += hinge_of(view.level[d], without, view.threshold, row, view.margin)
        total -= hinge_of(view.level[d], with_it, view.threshold, row, view.margin)
    return view.cost * total


@implements(sweep.flipped, Tastes)
def _flipped(view, features, row, column, change):  # type: ignore[no-untyped-def]
    first = view.start[row]
    for d in range(first, view.start[row + 1]):
        view.score[d - first] += change * view.item[view.other[d], 1 + column]


@implements(sweep.loosen, Tastes)
def _loosen(view, features, row, rng):  # type: ignore[no-untyped-def]
    first = view.start[row]
    for d in range(first, view.start[row + 1]):
        omegas, pulls = 0.0, 0.0
        for r in range(view.threshold.shape[1]):
            side, cut = side_of(view.level[d], r), view.threshold[row, r]
            slack = view.margin - side * (view.score[d - first] - cut)
            mixing = augmentation_precision(rng, view.cost, slack)
            omega, pull = gaussian_term(0.5 * view.cost, side, side * view.margin, mixing)
            omegas += omega
            pulls += pull + omega * cut
        view.omega[d - first], view.pull[d - first] = omegas, pulls


@implements(sweep.move, Tastes)
def _move(view, features, source, target):  # type: ignore[no-untyped-def]
    for j in range(view.item.shape[0]):
        view.item[j, 1 + target] = view.item[j, 1 + source]


@implements(sweep.weigh, Tastes)
def _weigh(view, features, row, number):  # type: ignore[no-untyped-def]
    variance, total = number * view.scale * view.scale, 0.0
    for d in range(view.start[row + 1] - view.start[row]):
        pull = view.pull[d] - view.omega[d] * view.score[d]
        growth = 1.0 + variance * view.omega[d]
        total += 0.5 * (variance * pull * pull / growth - math.log(growth))
    return total


@implements(sweep.create, Tastes)
def _create(view, features, row, first, count, rng):  # type: ignore[no-untyped-def]
    if count == 0:
        return
    for j in range(view.item.shape[0]):
        for k in range(first, first + count):
            view.item[j, 1 + k] = view.scale * rng.standard_normal()
    variance = count * view.scale * view.scale
    for d in range(view.start[row], view.start[row + 1]):
        j, place = view.other[d], d - view.start[row]
        pull = view.pull[place] - view.omega[place] * view.score[place]
        growth = 1.0 + variance * view.omega[place]
        total = variance * pull / growth + math.sqrt(variance / growth) * rng.standard_normal()
        drawn = 0.0
        for k in range(first, first + count):
            drawn += view.item[j, 1 + k]
        for k in range(first, first + count):
            view.item[j, 1 + k] += (total - drawn) / count
        view.score[place] += total


@implements(sweep.end_row, Tastes)
def _end_row(view, features, row):  # type: ignore[no-untyped-def]
    pass


def move_features(
    rng: np.random.Generator,
    ratings: Ratings,
    user: FloatArray,
    threshold: FloatArray,
    item: FloatArray,
    cost: float,
    margin: float,
    scale: float,
    concentration: float,
) -> tuple[FloatArray, FloatArray]:
    """One sweep over the features of all users; returns the rows of users and of items.

    Columns after the bias are features, zeros and ones for users.
    """
    features = features_of(user[:, 1:].astype(np.int64), user.shape[1] - 1 + ROOM)
    bias, most = np.ascontiguousarray(user[:, :1]), max(1, int(np.diff(ratings.start).max()))
    item = enlarged(item, 1 + features.held.shape[1], (1,))
    spaces = np.empty(most), np.empty(most), np.empty(most)
    counts, row = np.zeros(2, dtype=np.int64), 0
    while True:
        view = Tastes(*ratings, bias, threshold, item, *spaces, cost, margin, scale)
        row = sweep.sweep_rows(view, features, concentration, row, counts, rng)
        if row == len(user):
            break
        room = 2 * features.held.shape[1]
        item = enlarged(item, 1 + room, (1,))
        features = Features(
            np.pad(features.held, ((0, 0), (0, room - features.held.shape[1]))),
            np.pad(features.holders, (0, room - len(features.holders))),
            features.size,
        )
    size = int(features.size[0])
    user = np.hstack([bias, features.matrix.astype(float)])
    return np.ascontiguousarray(user), np.ascontiguousarray(item[:, : 1 + size])
