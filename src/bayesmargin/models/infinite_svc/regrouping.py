"""How a union or a division of components is weighed and written into the state.

Scratch stores have three slots: two sides, and last what both make together.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.copying import copy_matrix, copy_vector
from bayesmargin.foundation.types import IntArray
from bayesmargin.models.infinite_svc.gaussian import refactor
from bayesmargin.models.infinite_svc.marginal import log_marginal
from bayesmargin.models.infinite_svc.radii import forget_radii
from bayesmargin.models.infinite_svc.state import (
    Assignment,
    Base,
    Components,
    close_slot,
    group_members,
    open_slot,
)


@inner_borrowing_jit
def _union(sides: Components) -> int:
    """Slot of the scratch store that holds two components as one: its last."""
    return sides.population.shape[0] - 1


@inner_borrowing_jit
def log_apart(
    store: Components, first: int, second: int, sides: Components, base: Base, concentration: float
) -> float:
    """Log of prior and evidence of the covariates for two components, over those for one.

    The two are slots of ``store``; the one is left in the last slot of ``sides``.
    """
    union = _union(sides)
    sides.population[union] = 0
    sides.moment[union, :] = 0.0
    refactor(sides, base, union)
    empty = sides.log_determinant[union]  # log det of the prior scatter
    left, right = store.population[first], store.population[second]
    sides.population[union] = left + right
    for i in range(sides.moment.shape[1]):
        sides.moment[union, i] = store.moment[first, i] + store.moment[second, i]
    refactor(sides, base, union)
    value = math.log(concentration) + math.lgamma(left) + math.lgamma(right)
    value -= math.lgamma(left + right)
    value += log_marginal(store, base, first, empty) + log_marginal(store, base, second, empty)
    return value - log_marginal(sides, base, union, empty)


@inner_borrowing_jit
def _install(
    side: int, sides: Components, slot: int, components: Components, assignment: Assignment
) -> None:
    """Give a component the statistics of a side; radii kept for it are void."""
    components.population[slot] = sides.population[side]
    components.log_determinant[slot] = sides.log_determinant[side]
    components.height[slot] = sides.height[side]
    copy_vector(sides.moment[side], components.moment[slot])
    copy_matrix(sides.inverse[side], components.inverse[slot])
    copy_vector(sides.centre[side], components.centre[slot])
    copy_vector(sides.form[side], components.form[slot])
    forget_radii(assignment, components, slot)


@inner_borrowing_jit
def begin_anew(rng: np.random.Generator, components: Components, slot: int) -> None:
    """Give a component whose rows are others than before a fresh momentum and, soon, metric."""
    components.age[slot] = 0
    for y in range(components.weights.shape[1]):
        for column in range(components.weights.shape[2]):
            components.momentum[slot, y, column] = rng.standard_normal()


@inner_borrowing_jit
def accept_split(
    rng: np.random.Generator,
    right: IntArray,
    assignment: Assignment,
    components: Components,
    sides: Components,
    own: int,
) -> int:
    """Write a split into the state: i's side stays in its slot, j's side gets the one returned."""
    slot = open_slot(components)
    for side in range(2):
        _install(side, sides, own if side == 0 else slot, components, assignment)
    copy_matrix(sides.weights[1], components.weights[slot])
    components.thermostat[slot] = components.thermostat[own]
    begin_anew(rng, components, slot)
    for position in range(right.shape[0]):
        assignment.slot[right[position]] = slot
    group_members(assignment)
    return slot


@inner_borrowing_jit
def accept_merge(
    right: IntArray,
    assignment: Assignment,
    components: Components,
    sides: Components,
    own: int,
    partner: int,
) -> None:
    """Write a merge into the state: the rows of j's component join that of i."""
    for position in range(right.shape[0]):
        assignment.slot[right[position]] = own
    _install(_union(sides), sides, own, components, assignment)
    close_slot(components, partner)
    group_members(assignment)
