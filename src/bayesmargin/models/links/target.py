r"""The weights and intercepts given the features, as a target that the library's dynamics move.

.. math:: U(W, b) = \sum \frac{W^2}{2 s^2} + \sum_r \frac{b_r^2}{2 s_b^2}
          + \sum c\,\big(\ell - y\,(b_r + z_i^T W_r z_j)\big)_+ .

A position holds intercepts, then weights (those on and below the diagonal where links are
symmetric), each in units of :math:`(s^{-2} + \tfrac14\sum c^2 a^2)^{-1/2}`, its width at mixing
variables of one. A gradient estimate reads all links, and so many pairs without a link, drawn
afresh, which count as often as makes the estimate unbiased.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.dynamics.base import advance
from bayesmargin.foundation.compiling import implements, inner_borrowing_jit, jit
from bayesmargin.foundation.streams import uniform
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.buffet.features import Features
from bayesmargin.models.links.view import Links, renew, set_weight
from bayesmargin.models.links.weights import INTERCEPT_SCALE
from bayesmargin.targets.base import Full, energy, estimate_gradient, space_of


class Heights(NamedTuple):
    """The law of the weights given the features of a chain."""

    links: Links
    features: Features
    linked: IntArray  #: pairs with a link
    free: IntArray  #: pairs without one
    batch: int  #: of the latter that an estimate reads; 0: all
    slope: FloatArray  #: (relation, room, room) gradient by the weights
    fall: FloatArray  #: (relation,) and by the intercepts
    width: FloatArray  #: (n_positions,)


@inner_borrowing_jit
def end_of(features, symmetric, k):  # type: ignore[no-untyped-def]
    """One after the last feature whose weight with k has a position of its own."""
    return k + 1 if symmetric else features.size[0]


def n_positions(size: int, relations: int, symmetric: bool) -> int:
    """How many numbers a position holds."""
    return relations * (1 + (size * (size + 1) // 2 if symmetric else size * size))


@inner_borrowing_jit
def place(target, position):  # type: ignore[no-untyped-def]
    """Weights, intercepts, reaches and scores of a position."""
    view, features = target.links, target.features
    relations = view.weights.shape[0]
    symmetric = view.reach.shape[0] == relations
    for r in range(relations):
        view.intercept[r] = target.width[r] * position[r]
    at = relations
    for r in range(relations):
        for k in range(features.size[0]):
            for other in range(end_of(features, symmetric, k)):
                set_weight(view, r, k, other, target.width[at] * position[at])
                at += 1
    renew(view, features)


@inner_borrowing_jit
def add_outer(target, p, value):  # type: ignore[no-untyped-def]
    """Add a value to the slopes of all weights that a pair meets."""
    view = target.links
    r, i, j = view.pairs.relation[p], view.pairs.source[p], view.pairs.target[p]
    for n in range(view.number[i]):
        for m in range(view.number[j]):
            target.slope[r, view.active[i, n], view.active[j, m]] += value


@inner_borrowing_jit
def add_slope(target, p, factor):  # type: ignore[no-untyped-def]
    """Add what a pair brings, so many times over, to the slopes; its part of the energy."""
    view, pairs = target.links, target.links.pairs
    side, r = pairs.side[p], pairs.relation[p]
    slack = view.margin - side * view.score[p]
    if slack <= 0.0:
        return 0.0
    down = factor * pairs.cost[p] * side
    target.fall[r] -= down
    add_outer(target, p, -down)
    return factor * pairs.cost[p] * slack


@inner_borrowing_jit
def collect(target, gradient):  # type: ignore[no-untyped-def]
    """The gradient of a position from the slopes and the prior; energy of the prior."""
    view, features, slope = target.links, target.features, target.slope
    relations, total = view.weights.shape[0], 0.0
    symmetric = view.reach.shape[0] == relations
    for r in range(relations):
        total += 0.5 * (view.intercept[r] / INTERCEPT_SCALE) ** 2
    for r in range(relations):
        value = view.intercept[r]
        gradient[r] = target.width[r] * (target.fall[r] + value / INTERCEPT_SCALE**2)
    at = relations
    for r in range(relations):
        for k in range(features.size[0]):
            end = end_of(features, symmetric, k)
            for other in range(end):
                total += 0.5 * (view.weights[r, k, other] / view.scale) ** 2
            for other in range(end):
                mirrored = slope[r, other, k] if symmetric and other != k else 0.0
                down = slope[r, k, other] + mirrored
                value = view.weights[r, k, other]
                gradient[at] = target.width[at] * (down + value / view.scale**2)
                at += 1
    return total


@inner_borrowing_jit
def clear(target):  # type: ignore[no-untyped-def]
    """Slopes of zero."""
    size = target.features.size[0]
    for r in range(target.fall.shape[0]):
        target.fall[r] = 0.0
        for k in range(size):
            for other in range(size):
                target.slope[r, k, other] = 0.0


@implements(energy, Heights, borrows=True)
def _energy(target, position, work):  # type: ignore[no-untyped-def]
    place(target, position)
    clear(target)
    total = 0.0
    for p in range(target.links.score.shape[0]):
        total += add_slope(target, p, 1.0)
    return total + collect(target, work.gradient)


@implements(estimate_gradient, Heights, borrows=True)
def _estimate(target, position, source, work):  # type: ignore[no-untyped-def]
    place(target, position)
    clear(target)
    free, linked = target.free, target.linked
    for n in range(linked.shape[0]):
        add_slope(target, linked[n], 1.0)
    if target.batch == 0 or target.batch >= free.shape[0]:
        for n in range(free.shape[0]):
            add_slope(target, free[n], 1.0)
    else:
        for _ in range(target.batch):
            chosen = min(int(uniform(source) * free.shape[0]), free.shape[0] - 1)
            add_slope(target, free[chosen], free.shape[0] / target.batch)
    collect(target, work.gradient)
    for j in range(position.shape[0]):
        work.data[j] = work.gradient[j]


@implements(space_of, Heights, borrows=True)
def _space(target):  # type: ignore[no-untyped-def]
    return Full()


@jit
def start_positions(target, position):  # type: ignore[no-untyped-def]
    """Widths of all directions, and where the weights are just now in units of them."""
    view, features, width = target.links, target.features, target.width
    pairs, slope, relations = view.pairs, target.slope, view.weights.shape[0]
    symmetric = view.reach.shape[0] == relations
    clear(target)
    width[:] = 0.0
    for p in range(pairs.side.shape[0]):
        r, square = pairs.relation[p], 0.25 * pairs.cost[p] ** 2
        width[r] += square
        add_outer(target, p, square)
    for r in range(relations):
        width[r] = 1.0 / np.sqrt(INTERCEPT_SCALE**-2 + width[r])
        position[r] = view.intercept[r] / width[r]
    at = relations
    for r in range(relations):
        for k in range(features.size[0]):
            for other in range(end_of(features, symmetric, k)):
                both = slope[r, k, other]
                if symmetric and other != k:
                    both += slope[r, other, k]
                width[at] = 1.0 / np.sqrt(view.scale**-2 + both)
                position[at] = view.weights[r, k, other] / width[at]
                at += 1


@jit
def move_weights(dynamics, target, state, work, rng, times):  # type: ignore[no-untyped-def]
    """Some transitions of a dynamics; weights and scores are those of where it arrives."""
    for _ in range(times):
        advance(dynamics, target, state, work, rng)
    place(target, state.position)
