r"""The scores of links, and what a sweep over binary features asks of them.

Entities i and j are linked by relation r with the score

.. math:: f^r_{ij} = b_r + z_i^T W_r z_j, \qquad \psi = e^{-c (\ell - y f)_+}.

What feature k of entity i adds to the score of its pair with j is the *reach*
:math:`\sum_{k'} W_{kk'} z_{jk'}`, or with :math:`W_{k'k}` where i is the target. It is kept for all
features and entities, so that an entry of the matrix is drawn by one pass over the entity's pairs,
with the hinge itself. The weights of features that i alone holds meet each pair of i as
:math:`w \cdot z_j`: given mixing variables (:mod:`bayesmargin.augmentation.law`) a linear
regression with the features of the others. Of :math:`\kappa` such features only the sum of their
weights counts, whose prior is :math:`N(0, \kappa s^2 I)`.
"""

import math
from typing import NamedTuple

from bayesmargin.augmentation.law import gaussian_term
from bayesmargin.foundation.compiling import implements, inner_borrowing_jit, inner_jit, jit
from bayesmargin.foundation.linear_algebra import (
    cholesky,
    dot,
    solve_lower,
    solve_lower_transposed,
)
from bayesmargin.foundation.random import augmentation_precision
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.buffet import sweep
from bayesmargin.models.links.pairs import Pairs


class Links(NamedTuple):
    """A chain as compiled code sees it. Rooms for features are as wide as those of its matrix."""

    pairs: Pairs
    weights: FloatArray  #: (relation, room, room); symmetric unless links are directed
    intercept: FloatArray  #: (relation,)
    reach: FloatArray  #: (group, room, entity)
    score: FloatArray  #: (pair,)
    omega: FloatArray  #: (pair,) precisions given mixing variables
    tilt: FloatArray  #: (pair,) and their linear terms
    gram: FloatArray  #: (room, room) work space
    linear: FloatArray  #: (room,) work space
    active: IntArray  #: (entity, room) the features that each holds, one after another,
    number: IntArray  #: (entity,) and how many
    scale: float
    margin: float


@inner_borrowing_jit
def set_weight(view, r, k, other, value):  # type: ignore[no-untyped-def]
    """Set a weight, and its mirror image where links are symmetric."""
    view.weights[r, k, other] = value
    if view.reach.shape[0] == view.weights.shape[0]:
        view.weights[r, other, k] = value


@inner_borrowing_jit
def list_features(view, features, j):  # type: ignore[no-untyped-def]
    """List the features of an entity."""
    number = 0
    for k in range(features.size[0]):
        if features.held[j, k]:
            view.active[j, number] = k
            number += 1
    view.number[j] = number


@inner_borrowing_jit
def fill_reach(view, k, j):  # type: ignore[no-untyped-def]
    """What feature k of another entity adds to the scores of its pairs with j, in all groups."""
    roles = view.reach.shape[0] // view.weights.shape[0]
    for r in range(view.weights.shape[0]):
        there = back = 0.0
        for n in range(view.number[j]):
            other = view.active[j, n]
            there += view.weights[r, k, other]
            back += view.weights[r, other, k]
        view.reach[r * roles, k, j] = there
        if roles == 2:
            view.reach[2 * r + 1, k, j] = back


@inner_borrowing_jit
def renew(view, features):  # type: ignore[no-untyped-def]
    """Make reaches and scores anew, for other weights say."""
    roles = view.reach.shape[0] // view.weights.shape[0]
    for j in range(features.held.shape[0]):
        list_features(view, features, j)
        for k in range(features.size[0]):
            fill_reach(view, k, j)
    pairs = view.pairs
    for p in range(pairs.side.shape[0]):
        r, i, j = pairs.relation[p], pairs.source[p], pairs.target[p]
        value = view.intercept[r]
        for n in range(view.number[i]):
            value += view.reach[r * roles, view.active[i, n], j]
        view.score[p] = value


@jit
def refresh(view, features):  # type: ignore[no-untyped-def]
    """:func:`renew`, from Python."""
    renew(view, features)


@inner_jit
def draw_mixing(view, p, rng):  # type: ignore[no-untyped-def]
    """Draw the mixing variable of a pair, which makes its hinge Gaussian."""
    side, cost = view.pairs.side[p], view.pairs.cost[p]
    mixing = augmentation_precision(rng, cost, view.margin - side * view.score[p])
    omega, tilt = gaussian_term(0.5 * cost, side, side * view.margin, mixing)
    view.omega[p], view.tilt[p] = omega, tilt


@inner_jit
def hinge_of(view, p, score):  # type: ignore[no-untyped-def]
    """Energy of a pair with a score."""
    slack = view.margin - view.pairs.side[p] * score
    return view.pairs.cost[p] * max(0.0, slack)


@implements(sweep.begin_row, Links)
def _nothing(view, features, row, rng):  # type: ignore[no-untyped-def]
    pass


@implements(sweep.gain, Links)
def _gain(view, features, row, column):  # type: ignore[no-untyped-def]
    pairs, score = view.pairs, view.score
    held, total = float(features.held[row, column]), 0.0
    groups = view.reach.shape[0]
    for g in range(groups):
        reach, first = view.reach[g, column], row * groups + g
        for e in range(pairs.start[first], pairs.start[first + 1]):
            change = reach[pairs.other[e]]
            if change != 0.0:
                p = pairs.entry[e]
                without = score[p] - held * change
                total += hinge_of(view, p, without) - hinge_of(view, p, without + change)
    return total


@inner_jit
def shift_scores(view, row, column, change):  # type: ignore[no-untyped-def]
    """What an entry of the row that flips does to the scores."""
    pairs, groups = view.pairs, view.reach.shape[0]
    for g in range(groups):
        reach, first = view.reach[g, column], row * groups + g
        for e in range(pairs.start[first], pairs.start[first + 1]):
            view.score[pairs.entry[e]] += change * reach[pairs.other[e]]


@implements(sweep.flipped, Links)
def _flipped(view, features, row, column, change):  # type: ignore[no-untyped-def]
    shift_scores(view, row, column, change)


@implements(sweep.loosen, Links)
def _loosen(view, features, row, rng):  # type: ignore[no-untyped-def]
    pairs, groups = view.pairs, view.reach.shape[0]
    for e in range(pairs.start[row * groups], pairs.start[(row + 1) * groups]):
        draw_mixing(view, pairs.entry[e], rng)


@implements(sweep.move, Links)
def _move(view, features, source, target):  # type: ignore[no-untyped-def]
    size = features.size[0]
    for r in range(view.weights.shape[0]):
        for k in range(size):
            view.weights[r, target, k] = view.weights[r, source, k]
        for k in range(size):
            view.weights[r, k, target] = view.weights[r, k, source]
    for g in range(view.reach.shape[0]):
        for j in range(features.held.shape[0]):
            view.reach[g, target, j] = view.reach[g, source, j]
    for j in range(features.held.shape[0]):
        list_features(view, features, j)


@inner_jit
def regress(view, features, row, g, number):  # type: ignore[no-untyped-def]
    """Factor and half-solved linear term of the summed weights of own features, in one group.

    Returns the log of their integral. Own features are not in the scores.
    """
    pairs, gram, linear = view.pairs, view.gram, view.linear
    size, variance = features.size[0], number * view.scale * view.scale
    for a in range(size):
        linear[a] = 0.0
        for b in range(a):
            gram[a, b] = 0.0
        gram[a, a] = 1.0 / variance
    first = row * view.reach.shape[0] + g
    for e in range(pairs.start[first], pairs.start[first + 1]):
        p, j = pairs.entry[e], pairs.other[e]
        omega, pull = view.omega[p], view.tilt[p] - view.omega[p] * view.score[p]
        for n in range(view.number[j]):  # in order, so that only the lower triangle is filled
            a = view.active[j, n]
            linear[a] += pull
            for m in range(n + 1):
                gram[a, view.active[j, m]] += omega
    small = gram[:size, :size]
    log_determinant = cholesky(small)
    solve_lower(small, linear[:size])
    square = dot(linear[:size], linear[:size])
    return 0.5 * square - 0.5 * log_determinant - 0.5 * size * math.log(variance)


@implements(sweep.weigh, Links)
def _weigh(view, features, row, number):  # type: ignore[no-untyped-def]
    total = 0.0
    if number > 0:
        for g in range(view.reach.shape[0]):
            total += regress(view, features, row, g, number)
    return total


@implements(sweep.create, Links)
def _create(view, features, row, first, count, rng):  # type: ignore[no-untyped-def]
    groups, roles = view.reach.shape[0], view.reach.shape[0] // view.weights.shape[0]
    if count == 0:
        return
    features.size[0] = first  # the regression is that on the features of others
    for g in range(groups):
        regress(view, features, row, g, count)
        total = view.linear[:first]
        for k in range(first):
            total[k] += rng.standard_normal()
        solve_lower_transposed(view.gram[:first, :first], total)
        for k in range(first):  # parts are independent draws, moved so that they add up
            excess = -total[k]
            for new in range(first, first + count):
                part = view.scale * rng.standard_normal()
                view.reach[g, new, 0], excess = part, excess + part
            for new in range(first, first + count):
                part = view.reach[g, new, 0] - excess / count
                if g % roles == 0:
                    set_weight(view, g // roles, new, k, part)
                else:
                    view.weights[g // roles, k, new] = part
    features.size[0] = first + count
    for r in range(view.weights.shape[0]):
        for new in range(first, first + count):
            for other in range(first, new + 1 if roles == 1 else first + count):
                set_weight(view, r, new, other, view.scale * rng.standard_normal())
    for new in range(first, first + count):
        for j in range(features.held.shape[0]):
            fill_reach(view, new, j)
        shift_scores(view, row, new, 1.0)


@implements(sweep.end_row, Links)
def _end_row(view, features, row):  # type: ignore[no-untyped-def]
    list_features(view, features, row)
    for k in range(features.size[0]):
        fill_reach(view, k, row)


@jit
def energy_of_links(view):  # type: ignore[no-untyped-def]
    """Sum of all hinges, times their costs."""
    total = 0.0
    for p in range(view.score.shape[0]):
        total += hinge_of(view, p, view.score[p])
    return total
