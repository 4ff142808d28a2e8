r"""The weights of pairs of features, and the intercepts, given the features: exact Gibbs draws.

Given mixing variables (:mod:`bayesmargin.augmentation.law`) the weights of one feature,
:math:`w = W_{k\cdot}`, meet a pair by coefficients :math:`a` that are zeros and ones,

.. math:: f = f_0 + a \cdot w, \qquad
          w \sim N(\Lambda^{-1} h, \Lambda^{-1}), \quad
          \Lambda = s^{-2} I + \sum \omega\, a a^T, \quad h = \sum (t - \omega f_0)\, a,

over the pairs in which k takes part: those of a source that holds it, where links are directed. An
intercept meets all pairs of its relation.
"""

import numpy as np

from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.foundation.linear_algebra import (
    cholesky,
    solve_lower,
    solve_lower_transposed,
)
from bayesmargin.models.links.view import draw_mixing, set_weight

INTERCEPT_SCALE = 10.0  # prior standard deviation of an intercept


@inner_jit
def meet(view, features, p, k, coefficient, places):  # type: ignore[no-untyped-def]
    """Coefficients of the weights of feature k in a pair; returns how many are not zero."""
    i, j, number = view.pairs.source[p], view.pairs.target[p], 0
    if features.held[i, k]:
        for n in range(view.number[j]):
            coefficient[number], places[number] = 1.0, view.active[j, n]
            number += 1
    if view.reach.shape[0] == view.weights.shape[0] and features.held[j, k]:
        seen = number
        for n in range(view.number[i]):
            other = view.active[i, n]
            if other == k:  # the weight of k with itself, which is counted by now
                continue
            at = 0
            while at < seen and places[at] != other:
                at += 1
            if at == seen:
                at = number
                coefficient[at], places[at] = 0.0, other
                number += 1
            coefficient[at] += 1.0
    return number


@inner_jit
def is_met(features, pairs, p, k, i, roles):  # type: ignore[no-untyped-def]
    """Whether a pair is met on the way through the pairs of i: the first time, where twice."""
    return roles == 2 or pairs.source[p] == i or not features.held[pairs.source[p], k]


@inner_jit
def draw_row(view, features, r, k, coefficient, places, old, rng):  # type: ignore[no-untyped-def]
    """Draw the weights of feature k in relation r; scores follow."""
    pairs, gram, linear, size = view.pairs, view.gram, view.linear, features.size[0]
    groups, roles = view.reach.shape[0], view.reach.shape[0] // view.weights.shape[0]
    for a in range(size):
        old[a], linear[a] = view.weights[r, k, a], 0.0
        for b in range(a):
            gram[a, b] = 0.0
        gram[a, a] = 1.0 / view.scale**2
    for i in range(features.held.shape[0]):
        if not features.held[i, k]:
            continue
        first = i * groups + r * roles
        for e in range(pairs.start[first], pairs.start[first + 1]):
            p = pairs.entry[e]
            if not is_met(features, pairs, p, k, i, roles):
                continue
            number = meet(view, features, p, k, coefficient, places)
            here = view.score[p]
            for a in range(number):
                here -= coefficient[a] * old[places[a]]
            view.score[p] = here
            pull = view.tilt[p] - view.omega[p] * here
            for a in range(number):
                linear[places[a]] += pull * coefficient[a]
                weighted = view.omega[p] * coefficient[a]
                for b in range(number):
                    if places[b] <= places[a]:
                        gram[places[a], places[b]] += weighted * coefficient[b]
    small = gram[:size, :size]
    cholesky(small)
    solve_lower(small, linear[:size])
    for a in range(size):
        linear[a] += rng.standard_normal()
    solve_lower_transposed(small, linear[:size])
    for a in range(size):
        set_weight(view, r, k, a, linear[a])
    for i in range(features.held.shape[0]):
        if features.held[i, k]:
            first = i * groups + r * roles
            for e in range(pairs.start[first], pairs.start[first + 1]):
                p = pairs.entry[e]
                if is_met(features, pairs, p, k, i, roles):
                    number = meet(view, features, p, k, coefficient, places)
                    for a in range(number):
                        view.score[p] += coefficient[a] * linear[places[a]]


@inner_jit
def draw_intercepts(view, precision, pull, rng):  # type: ignore[no-untyped-def]
    """Draw the intercepts of all relations; scores follow."""
    pairs = view.pairs
    for r in range(view.intercept.shape[0]):
        precision[r], pull[r] = INTERCEPT_SCALE**-2, 0.0
    for p in range(view.score.shape[0]):
        r = pairs.relation[p]
        precision[r] += view.omega[p]
        pull[r] += view.tilt[p] - view.omega[p] * (view.score[p] - view.intercept[r])
    for r in range(view.intercept.shape[0]):
        value = pull[r] / precision[r] + rng.standard_normal() / np.sqrt(precision[r])
        pull[r], view.intercept[r] = value - view.intercept[r], value
    for p in range(view.score.shape[0]):
        view.score[p] += pull[pairs.relation[p]]


@jit
def draw_weights(view, features, rng):  # type: ignore[no-untyped-def]
    """Draw mixing variables, then intercepts, then the weights of every feature in turn."""
    room, relations = view.gram.shape[0], view.weights.shape[0]
    coefficient, old = np.empty(room), np.empty(room)
    places = np.empty(room, np.int64)
    for p in range(view.score.shape[0]):
        draw_mixing(view, p, rng)
    draw_intercepts(view, np.empty(relations), np.empty(relations), rng)
    for r in range(relations):
        for k in range(features.size[0]):
            draw_row(view, features, r, k, coefficient, places, old, rng)
