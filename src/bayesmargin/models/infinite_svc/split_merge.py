r"""Split and merge moves, so that the number of components finds its level in tens of sweeps.

The scheme of Jain and Neal, with a launch that needs no rank-1 change, and extended to experts
whose weights are not conjugate. A row i is drawn; half of the proposals draw j from the component
of i and try to split it:

1. a *launch* partition of its members gives each row to the anchor it is nearer to, and is then
   improved by a few rounds of hard assignment to the two Gaussians;
2. every row falls on a side at random, by the Gaussians of the launch: probability :math:`q(Z)`;
3. the side of i keeps the weights; the side of j draws new ones from :math:`q_\theta`, a Gaussian
   whose parameters come from a short augmentation chain on the rows of that side.

The other half draw j from the rest and try the reverse: everything joins the component of i, the
weights of j's side are dropped, and their density under :math:`q_\theta` is evaluated for a
:math:`\theta` drawn in the same way. The launch is a function of i, j and the set of rows, and
:math:`\theta` has the same law in both directions, so both cancel. The acceptance
ratio of a split is

.. math::

   r = \frac{\alpha_0\,\Gamma(n_i)\Gamma(n_j)}{\Gamma(n_i+n_j)}\;
       \frac{t(X_i)\,t(X_j)}{t(X_{ij})}\;
       \frac{p_0(\eta_j)}{q_\theta(\eta_j)} \prod_{d \in j}
       \frac{\psi_d(\eta_j)}{\psi_d(\eta_i)}\;
       \frac{1}{q(Z)}\;\frac{n_i + n_j - 1}{D - n_i},

its inverse that of a merge. The last factor comes from the way j is drawn. The test is made in two
stages (delayed acceptance, Christen and Fox): the factors that need no expert, shrunk by
:data:`_DOUBT` nats towards one, may dismiss a hopeless proposal before it has paid for an expert;
the second stage makes up for what the first has used.
"""

import math

import numpy as np

from bayesmargin.compiling import borrowing_jit, jit
from bayesmargin.models.infinite_svc.anchor import refresh_anchor
from bayesmargin.models.infinite_svc.expert_proposal import propose_expert, total_log_psi
from bayesmargin.models.infinite_svc.gaussian import log_marginal, refactor
from bayesmargin.models.infinite_svc.restricted import allocate, fill_sides, launch
from bayesmargin.models.infinite_svc.state import (
    Assignment,
    Base,
    Components,
    Hinge,
    Rows,
    close_slot,
    forget_radii,
    group_members,
    open_slot,
)
from bayesmargin.types import IntArray

_DOUBT = 50.0
_MERGED = 2  # slot of the scratch store that holds the union of sides 0 and 1


@jit
def _other_member(rng: np.random.Generator, i: int, group: IntArray) -> int:
    """A member of ``group`` other than i."""
    while True:
        j = int(group[rng.integers(0, group.shape[0])])
        if j != i:
            return j


@jit
def _joined_without(i: int, j: int, first: IntArray, second: IntArray) -> IntArray:
    """Rows of both groups in increasing order, i and j left out."""
    joined = np.empty(first.shape[0] + second.shape[0] - 2, np.int64)
    count = 0
    for group in (first, second):
        for d in group:
            if d != i and d != j:
                joined[count] = d
                count += 1
    return np.sort(joined)


@jit
def _log_partition_ratio(
    sides: Components, base: Base, empty: float, concentration: float, rows: int
) -> float:
    """Factors of r that do not involve the experts or the scan."""
    left, right = sides.population[0], sides.population[1]
    sides.population[_MERGED] = left + right
    sides.moment[_MERGED, :] = sides.moment[0] + sides.moment[1]
    refactor(sides, base, _MERGED)
    value = math.log(concentration) + math.lgamma(left) + math.lgamma(right)
    value -= math.lgamma(left + right)
    value += log_marginal(sides, base, 0, empty) + log_marginal(sides, base, 1, empty)
    value -= log_marginal(sides, base, _MERGED, empty)
    return value + math.log(left + right - 1.0) - math.log(rows - left)


@borrowing_jit
def _screen(log_ratio: float) -> float:
    """Odd function of the log ratio, so that split and merge see reciprocal first stages."""
    if log_ratio > _DOUBT:
        return log_ratio - _DOUBT
    return min(log_ratio + _DOUBT, 0.0)


@jit
def _copy_statistics(source: Components, index: int, target: Components, slot: int) -> None:
    target.population[slot] = source.population[index]
    target.moment[slot] = source.moment[index]
    target.inverse[slot] = source.inverse[index]
    target.centre[slot] = source.centre[index]
    target.log_determinant[slot] = source.log_determinant[index]
    target.height[slot] = source.height[index]
    target.form[slot] = source.form[index]


@jit
def _right_rows(j: int, others: IntArray, side_of: IntArray) -> IntArray:
    """Rows of j's side in increasing order (the order in which the expert's chain reads them)."""
    chosen = np.empty(others.shape[0] + 1, np.int64)
    chosen[0] = j
    count = 1
    for i in range(others.shape[0]):
        if side_of[i] == 1:
            chosen[count] = others[i]
            count += 1
    return np.sort(chosen[:count])


@jit
def split_merge(
    rng: np.random.Generator,
    rows: Rows,
    assignment: Assignment,
    components: Components,
    sides: Components,
    base: Base,
    hinge: Hinge,
    concentration: float,
    scans: int,
) -> int:
    """One proposal; returns +1 for an accepted split, -1 for an accepted merge, else 0.

    ``sides`` is a scratch store of three slots. A slot must be free in ``components``.
    """
    total = assignment.slot.shape[0]
    i = int(rng.integers(0, total))
    own = assignment.slot[i]
    splitting = rng.random() < 0.5
    start = assignment.start
    group = assignment.members[start[own] : start[own + 1]]
    if splitting:
        if group.shape[0] < 2:
            return 0
        j = _other_member(rng, i, group)
        partner, second = own, group[:0]
    else:
        if group.shape[0] == total:
            return 0
        j = i
        while assignment.slot[j] == own:
            j = int(rng.integers(0, total))
        partner = assignment.slot[j]
        second = assignment.members[start[partner] : start[partner + 1]]
    others = _joined_without(i, j, group, second)
    side_of = np.empty(others.shape[0], np.int64)
    launch(i, j, others, rows, sides, base, side_of, scans)
    if not splitting:
        for position in range(others.shape[0]):
            side_of[position] = 1 if assignment.slot[others[position]] == partner else 0
    log_scan = allocate(rng, others, rows, sides, base, side_of, splitting)
    fill_sides(i, j, others, rows, sides, base, side_of)
    right = _right_rows(j, others, side_of)
    empty = _prior_log_determinant(sides, base)
    direction = 1.0 if splitting else -1.0
    log_ratio = _log_partition_ratio(sides, base, empty, concentration, total) - log_scan
    screen = _screen(log_ratio)
    if math.log(rng.random()) >= direction * screen:
        return 0
    weights = sides.weights[1]
    if not splitting:
        weights[:] = components.weights[partner]
    scale = base.weight_scale
    log_ratio += propose_expert(rng, right, rows, hinge, scale, weights, not splitting)
    log_ratio -= total_log_psi(right, rows, hinge, components.weights[own])
    if math.log(rng.random()) >= direction * (log_ratio - screen):
        return 0
    if splitting:
        slot = _accept_split(rng, right, assignment, components, sides, own)
        refresh_anchor(slot, rows, assignment, components, hinge)
        refresh_anchor(own, rows, assignment, components, hinge)
        return 1
    for position in range(second.shape[0]):
        assignment.slot[second[position]] = own
    _copy_statistics(sides, _MERGED, components, own)
    forget_radii(assignment, components, own)
    close_slot(components, partner)
    group_members(assignment)
    refresh_anchor(own, rows, assignment, components, hinge)
    return -1


@jit
def _accept_split(
    rng: np.random.Generator,
    right: IntArray,
    assignment: Assignment,
    components: Components,
    sides: Components,
    own: int,
) -> int:
    """Write a split into the state: i's side stays in its slot, j's side gets the one returned."""
    slot = open_slot(components)
    _copy_statistics(sides, 0, components, own)
    _copy_statistics(sides, 1, components, slot)
    forget_radii(assignment, components, own)
    forget_radii(assignment, components, slot)
    components.weights[slot] = sides.weights[1]
    components.thermostat[slot] = components.thermostat[own]
    components.sharpness[slot] = components.sharpness[own]
    components.age[slot] = 0
    components.age[own] = 0
    for y in range(components.weights.shape[1]):
        for column in range(components.weights.shape[2]):
            components.momentum[slot, y, column] = rng.standard_normal()
    for position in range(right.shape[0]):
        assignment.slot[right[position]] = slot
    group_members(assignment)
    return slot


@jit
def _prior_log_determinant(sides: Components, base: Base) -> float:
    """Log det of the prior scatter, from an empty scratch component."""
    sides.population[_MERGED] = 0
    sides.moment[_MERGED, :] = 0.0
    refactor(sides, base, _MERGED)
    return sides.log_determinant[_MERGED]
