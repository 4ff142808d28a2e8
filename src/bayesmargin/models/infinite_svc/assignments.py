r"""Gibbs sweep over the assignments, the Gaussian parameters collapsed.

Row d joins component k with probability proportional to

.. math:: n_{-d,k}\;\psi(y_d \mid x_d, \eta_k)\;t_k(x_d), \qquad
          \text{new: } \alpha_0\, t_0(x_d)\, I(x_d).

Neal's Algorithm 2 with the exact integral and the exact draw of the new weights, or his Algorithm 8
with auxiliary components whose weights come from the prior.

Three facts keep the sweep cheap and exact. A member is judged against its own component without
being removed (see :mod:`~bayesmargin.models.infinite_svc.gaussian`), so only rows that move change
anything. :math:`\psi \le 1`: a component whose size times density already lies more than
:data:`NEGLIGIBLE` nats below a known weight has a probability under :math:`2^{-53}`, below the
resolution of the uniform number that decides, so its expert need not be asked. And a radius
:math:`\sqrt q` computed at the last visit bounds today's: a row that joins shortens radii by at
most :math:`(1 + v^\top\Psi^{-1}v)^{-1/2}`, one that leaves shortens none, and the centre moves by
a known distance. These affine bounds compose, two numbers a component; a far component is
dismissed by them without looking at its :math:`\Psi`.
"""

import math

import numpy as np

from bayesmargin.compiling import jit
from bayesmargin.models.infinite_svc.dense import dot_row
from bayesmargin.models.infinite_svc.experts import (
    add_pull,
    fill_scores,
    log_psi,
    log_psi_of_scores,
    winning_option,
)
from bayesmargin.models.infinite_svc.gaussian import (
    change_member,
    fill_features,
    log_share,
    log_share_without,
    reset_to_prior,
    surely_below,
)
from bayesmargin.models.infinite_svc.newcomer import draw_weights
from bayesmargin.models.infinite_svc.state import (
    Assignment,
    Base,
    Components,
    Hinge,
    Rows,
    close_slot,
    forget_radii,
    open_slot,
)
from bayesmargin.types import FloatArray, IntArray

NEGLIGIBLE = 45.0
_ROUNDING = 1.0 - 1e-6  # radii are kept in single precision, rounded to the safe side

#: Exact integral and exact draw of the new weights (Algorithm 2).
EXACT = 0
#: The exact integral followed by a draw from the prior, as the literature does it. It leaves
#: another law invariant; the tests show so and nothing else uses it.
PRIOR_DRAW = -1


@jit
def _not_negligible(
    d: int,
    own: int,
    floor: float,
    size: int,
    order: IntArray,
    population: IntArray,
    height: FloatArray,
    shrink: FloatArray,
    reach: FloatArray,
    strength: float,
    degrees: float,
    near: IntArray,
) -> int:
    """List the positions of other components that kept radii do not put below ``floor``."""
    found = 0
    for position in range(size):
        slot = order[position]
        if slot == own:
            continue
        radius = max(0.0, shrink[slot, 0] * reach[slot, d] - shrink[slot, 1])
        square = radius * radius
        if not surely_below(floor, height[slot], population[slot], strength, degrees, square):
            near[found] = position
            found += 1
    return found


@jit
def _square(
    d: int,
    slot: int,
    form: FloatArray,
    shrink: FloatArray,
    reach: FloatArray,
    features: FloatArray,
) -> float:
    """Squared radius of row d in a component; the radius is kept for later visits."""
    square = max(0.0, dot_row(form, slot, features))
    if reach.shape[1] > 0:
        kept = (math.sqrt(square) * _ROUNDING + shrink[slot, 1]) / shrink[slot, 0]
        reach[slot, d] = min(kept, 1e30)
    return square


@jit
def _judge(
    d: int, slot: int, rows: Rows, weights: FloatArray, hinge: Hinge, scores: FloatArray
) -> tuple[float, int]:
    """Log pseudo-likelihood of row d under one expert, and the winner of its hinge."""
    design, label = rows.design, rows.labels[d]
    for y in range(weights.shape[1]):
        total = 0.0
        for j in range(weights.shape[2]):
            total += weights[slot, y, j] * design[d, j]
        scores[y] = total
    return log_psi_of_scores(scores, label, hinge), winning_option(scores, label, hinge)


@jit
def _log_weights(
    d: int,
    fresh: float,
    rows: Rows,
    assignment: Assignment,
    components: Components,
    base: Base,
    hinge: Hinge,
    features: FloatArray,
    scores: FloatArray,
    log_weight: FloatArray,
    option: IntArray,
    near: IntArray,
) -> tuple[int, float]:
    """List the components that row d may join, with log weights and winners; return their number.

    ``fresh`` is the log weight of a new component. The row's own component goes first: it mostly
    wins, and the others need only be shown to be negligible against it. ``near`` receives slots.
    """
    own, reach = assignment.slot[d], assignment.reach
    order, size, form = components.order, components.size[0], components.form
    shrink, weights = components.shrink, components.weights
    fill_features(rows.covariates[d], features)
    best, found = fresh, 0
    first = 0.0
    if components.population[own] > 1:
        square = _square(d, own, form, shrink, reach, features)
        first = log_share_without(components, base, own, square)
        value, option[0] = _judge(d, own, rows, weights, hinge, scores)
        log_weight[0] = first + value
        best = max(best, log_weight[0])
        found = 1
    if reach.shape[1] > 0:
        candidates = _not_negligible(
            d, own, best - NEGLIGIBLE, size, order, components.population, components.height,
            shrink, reach, base.strength, base.degrees, near[1:],
        )  # fmt: skip
    else:
        candidates = 0
        for position in range(size):
            if order[position] != own:
                near[1 + candidates] = position
                candidates += 1
    for candidate in range(1, 1 + candidates):
        slot = order[near[candidate]]
        square = _square(d, slot, form, shrink, reach, features)
        share = log_share(components, base, slot, square)
        if share < best - NEGLIGIBLE:
            continue
        value, option[found] = _judge(d, slot, rows, weights, hinge, scores)
        log_weight[found] = share + value
        near[found] = slot
        best = max(best, log_weight[found])
        found += 1
    if components.population[own] > 1:
        near[0] = own
    return found, best


@jit
def _pick(rng: np.random.Generator, log_weight: FloatArray, count: int, best: float) -> int:
    """Index drawn with probability proportional to exp(log_weight)."""
    total = 0.0
    for i in range(count):
        gap = log_weight[i] - best
        log_weight[i] = math.exp(gap) if gap > -NEGLIGIBLE else 0.0
        total += log_weight[i]
    remaining = rng.random() * total
    chosen = 0
    for i in range(count):
        if log_weight[i] > 0.0:
            chosen = i
            remaining -= log_weight[i]
            if remaining < 0.0:
                break
    return chosen


@jit
def _auxiliary_weights(
    rng: np.random.Generator,
    d: int,
    rows: Rows,
    assignment: Assignment,
    components: Components,
    base: Base,
    hinge: Hinge,
    log_concentration: float,
    auxiliary: FloatArray,
    scores: FloatArray,
    log_weight: FloatArray,
) -> float:
    """Draw the auxiliary experts of Algorithm 8 and fill their log weights."""
    own, number = assignment.slot[d], auxiliary.shape[0]
    best = -np.inf
    for i in range(number):
        if i == 0 and components.population[own] == 1:
            auxiliary[i] = components.weights[own]
        else:
            for y in range(auxiliary.shape[1]):
                for j in range(auxiliary.shape[2]):
                    auxiliary[i, y, j] = base.weight_scale * rng.standard_normal()
        value = log_psi(auxiliary[i], rows.design[d], rows.labels[d], hinge, scores)
        log_weight[i] = log_concentration - math.log(number) + rows.log_base[d] + value
        best = max(best, log_weight[i])
    return best


@jit
def _start_component(
    rng: np.random.Generator,
    d: int,
    rows: Rows,
    assignment: Assignment,
    components: Components,
    base: Base,
    hinge: Hinge,
    scheme: int,
    auxiliary: FloatArray,
    chosen: int,
) -> int:
    """Open a component for row d, give it its weights and a thermostat at rest."""
    slot = open_slot(components)
    reset_to_prior(components, base, slot)
    forget_radii(assignment, components, slot)
    weights = components.weights[slot]
    if scheme > 0:
        weights[:] = auxiliary[chosen]
    elif scheme == EXACT:
        area = rows.log_evidence[d]
        draw_weights(rng, rows.design[d], rows.labels[d], area, hinge, base.weight_scale, weights)
    else:
        for y in range(weights.shape[0]):
            for j in range(weights.shape[1]):
                weights[y, j] = base.weight_scale * rng.standard_normal()
    components.thermostat[slot] = 1.0
    components.sharpness[slot] = 0.25
    components.age[slot] = 0
    components.pull[slot, :, :] = 0.0
    for y in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            components.momentum[slot, y, j] = rng.standard_normal()
    return slot


@jit
def sweep_assignments(
    rng: np.random.Generator,
    visits: IntArray,
    begin: int,
    rows: Rows,
    assignment: Assignment,
    components: Components,
    base: Base,
    hinge: Hinge,
    concentration: float,
    scheme: int,
) -> tuple[int, int]:
    """Visit ``visits[begin:]``; return where it stopped and how many rows moved.

    A sweep over all rows leaves ``winner`` and ``pull`` filled for the weights as they are.

    It stops early only when every slot is in use; the caller makes room and calls again.
    """
    capacity = components.population.shape[0]
    extra = max(scheme, 1)
    log_weight, fresh_weight = np.empty(capacity + extra), np.empty(extra)
    option, near = np.empty(capacity, np.int64), np.empty(capacity + 1, np.int64)
    features = np.empty(components.form.shape[1])
    scores = np.empty(components.weights.shape[1])
    auxiliary = np.empty((extra, components.weights.shape[1], components.weights.shape[2]))
    log_concentration = math.log(concentration)
    moved = 0
    if begin == 0:
        components.pull[:, :, :] = 0.0
    for visit in range(begin, visits.shape[0]):
        if components.size[0] == capacity:
            return visit, moved
        d = visits[visit]
        if scheme > 0:
            fresh = _auxiliary_weights(
                rng, d, rows, assignment, components, base, hinge, log_concentration,
                auxiliary, scores, fresh_weight,
            )  # fmt: skip
        else:
            fresh = log_concentration + rows.log_base[d] + rows.log_evidence[d]
            fresh_weight[0] = fresh
        found, best = _log_weights(
            d, fresh, rows, assignment, components, base, hinge,
            features, scores, log_weight, option, near,
        )  # fmt: skip
        log_weight[found : found + extra] = fresh_weight
        chosen = _pick(rng, log_weight, found + extra, best)
        own, label = assignment.slot[d], rows.labels[d]
        if chosen < found:
            target = near[chosen]
            assignment.winner[d] = option[chosen]
        else:
            target = _start_component(
                rng, d, rows, assignment, components, base, hinge, scheme, auxiliary,
                chosen - found,
            )  # fmt: skip
            fill_scores(components.weights[target], rows.design[d], scores)
            assignment.winner[d] = winning_option(scores, label, hinge)
        if assignment.winner[d] != label:
            add_pull(components.pull[target], rows.design[d], label, assignment.winner[d], 1.0)
        if target == own:
            continue
        moved += 1
        row = rows.covariates[d]
        if components.population[own] == 1:
            close_slot(components, own)
        else:
            change_member(components, base, own, row, features, -1)
        change_member(components, base, target, row, features, 1)
        assignment.slot[d] = target
    return visits.shape[0], moved
