r"""What the components weigh for one row, evaluated no further than the choice among them needs.

Four facts keep it cheap and exact. A member is judged against its own component without being
removed (see :mod:`~bayesmargin.models.infinite_svc.gaussian`), so only rows that move change
anything. :math:`\psi \le 1`: size times density bounds a weight, and a component more than
:data:`NEGLIGIBLE` nats below a known weight has a probability under :math:`2^{-53}`, below the
resolution of the uniform number that decides, so its expert need not be asked. A radius computed
at an earlier visit bounds today's (:mod:`~bayesmargin.models.infinite_svc.radii`): a far component
is dismissed without looking at its :math:`\Psi`. And the uniform number is drawn first: when the
bounds show that it keeps the row where it is (:func:`stays`), as they mostly do, no other weight is
needed at all.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.experts import log_psi_of_scores, winning_option
from bayesmargin.models.infinite_svc.features import fill_features, log_growth
from bayesmargin.models.infinite_svc.gaussian import (
    Empty,
    joining,
    leaving,
    log_share,
    log_share_without,
    surely_below,
)
from bayesmargin.models.infinite_svc.radii import keep_radius, least_radius
from bayesmargin.models.infinite_svc.state import Base, Components, Hinge, Mixture, Rows

NEGLIGIBLE = 45.0


class Work(NamedTuple):
    """Scratch of a sweep; S slots and A auxiliary components (at least one)."""

    features: FloatArray  #: (F,) of the row
    scores: FloatArray  #: (R,)
    log_weight: FloatArray  #: (S + A,)
    fresh_weight: FloatArray  #: (A,)
    option: IntArray  #: (S,) winners of the hinge
    near: IntArray  #: (S + 1,)
    auxiliary: FloatArray  #: (A, R, n) experts of Algorithm 8
    empty: Empty  #: what a slot opens with


def make_work(components: Components, auxiliary: int, empty: Components) -> Work:
    """Scratch for a sweep over these components; slot 0 of ``empty`` has no members."""
    capacity, vectors, columns = components.weights.shape
    return Work(
        np.empty(components.form.shape[1]),
        np.empty(vectors),
        np.empty(capacity + auxiliary),
        np.empty(auxiliary),
        np.empty(capacity, np.int64),
        np.empty(capacity + 1, np.int64),
        np.empty((auxiliary, vectors, columns)),
        Empty(empty.inverse[0], empty.centre[0], empty.form[0], empty.log_determinant[0]),
    )


@inner_borrowing_jit
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
        square = least_radius(d, slot, shrink, reach) ** 2
        if not surely_below(floor, height[slot], population[slot], strength, degrees, square):
            near[found] = position
            found += 1
    return found


@inner_borrowing_jit
def _growth(
    d: int,
    slot: int,
    base: Base,
    factor: float,
    form: FloatArray,
    shrink: FloatArray,
    reach: FloatArray,
    features: FloatArray,
) -> float:
    """What row d would add to log det Psi of a component; its radius is kept for later visits."""
    square, growth = log_growth(base, form, slot, features, factor)
    keep_radius(d, slot, math.sqrt(square), shrink, reach)
    return growth


@inner_borrowing_jit
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


@inner_borrowing_jit
def _beaten(
    d: int,
    slot: int,
    most: float,
    rows: Rows,
    weights: FloatArray,
    hinge: Hinge,
    scores: FloatArray,
) -> bool:
    """Whether an expert costs row d more than ``most`` nats; if not, ``scores`` is filled.

    Of many classes the first that is far enough ahead of the label decides.
    """
    design, label, count = rows.design, rows.labels[d], weights.shape[1]
    lead = np.inf if count == 1 else most / hinge.cost - hinge.margin
    first = label if count > 1 else 0
    for turn in range(count):
        y = first if turn == 0 else (turn if turn > first else turn - 1)
        total = 0.0
        for j in range(weights.shape[2]):
            total += weights[slot, y, j] * design[d, j]
        scores[y] = total
        if turn > 0 and total - scores[first] > lead:
            return True
    return -log_psi_of_scores(scores, label, hinge) > most


@inner_borrowing_jit
def _candidates(d: int, floor: float, mixture: Mixture, near: IntArray) -> int:
    """List the positions of other components whose weight may reach ``floor``."""
    _, assignment, components, base, _ = mixture
    own, order, size = assignment.slot[d], components.order, components.size[0]
    if assignment.reach.shape[0] > 0:
        return _not_negligible(
            d, own, floor, size, order, components.population, components.height,
            components.shrink, assignment.reach, base.strength, base.degrees, near,
        )  # fmt: skip
    found = 0
    for position in range(size):
        if order[position] != own:
            near[found] = position
            found += 1
    return found


@inner_borrowing_jit
def stays(d: int, chance: float, own_weight: float, mixture: Mixture, work: Work) -> bool:
    """Whether the uniform number ``chance`` keeps row d, shown without weighing every component.

    It does if all other weights together, in units of the own one, are at most 1/chance - 1. Half
    of that room is divided among the components that are shown to be below an even share of it, by
    kept radii, by their density or by one class of their expert; the others are evaluated. True is
    a proof; False says that all weights are needed.
    """
    rows, assignment, components, base, hinge = mixture
    room = 1.0 / chance - 1.0
    for i in range(work.fresh_weight.shape[0]):
        room -= math.exp(min(work.fresh_weight[i] - own_weight, 700.0))
    if not room > 0.0:
        return False
    half = 0.5 * room
    floor = own_weight + math.log(half / components.size[0])
    total = 0.0
    for candidate in range(_candidates(d, floor, mixture, work.near)):
        slot = components.order[work.near[candidate]]
        growth = _growth(
            d, slot, base, joining(components.population[slot], base.strength),
            components.form, components.shrink, assignment.reach, work.features,
        )  # fmt: skip
        weight = log_share(components, base, slot, growth)
        if not weight > floor:
            continue
        if _beaten(d, slot, weight - floor, rows, components.weights, hinge, work.scores):
            continue
        weight += log_psi_of_scores(work.scores, rows.labels[d], hinge)
        total += math.exp(min(weight - own_weight, 700.0))
        if total > half:
            return False
    return True


@inner_borrowing_jit
def log_weights(d: int, best: float, found: int, mixture: Mixture, work: Work) -> tuple[int, float]:
    """List the components that row d may join, with log weights and winners; return their number.

    The row's own component, if it has other members, stands there already (``found`` = 1);
    ``best`` is the largest weight so far. ``near`` receives slots.
    """
    rows, assignment, components, base, hinge = mixture
    order, near = components.order, work.near
    candidates = _candidates(d, best - NEGLIGIBLE, mixture, near[1:])
    for candidate in range(1, 1 + candidates):
        slot = order[near[candidate]]
        growth = _growth(
            d, slot, base, joining(components.population[slot], base.strength),
            components.form, components.shrink, assignment.reach, work.features,
        )  # fmt: skip
        share = log_share(components, base, slot, growth)
        if share < best - NEGLIGIBLE:
            continue
        value, work.option[found] = _judge(d, slot, rows, components.weights, hinge, work.scores)
        work.log_weight[found] = share + value
        near[found] = slot
        best = max(best, share + value)
        found += 1
    near[0] = assignment.slot[d] if components.population[assignment.slot[d]] > 1 else near[0]
    return found, best


@inner_borrowing_jit
def weigh_own(d: int, mixture: Mixture, work: Work) -> int:
    """Weight of the row's own component in place 0; returns 0 if the row is alone there, else 1."""
    rows, assignment, components, base, hinge = mixture
    own = assignment.slot[d]
    fill_features(base, rows.covariates[d], work.features)
    if components.population[own] == 1:
        return 0
    growth = _growth(
        d, own, base, leaving(components.population[own], base.strength),
        components.form, components.shrink, assignment.reach, work.features,
    )  # fmt: skip
    share = log_share_without(components, base, own, growth)
    value, work.option[0] = _judge(d, own, rows, components.weights, hinge, work.scores)
    work.log_weight[0] = share + value
    return 1
