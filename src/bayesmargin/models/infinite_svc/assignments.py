r"""Gibbs sweep over the assignments, the Gaussian parameters collapsed.

Row d joins component k with probability proportional to

.. math:: n_{-d,k}\;\psi(y_d \mid x_d, \eta_k)\;t_k(x_d), \qquad
          \text{new: } \alpha_0\, t_0(x_d)\, I(x_d).

Neal's Algorithm 2 with the exact integral and the exact draw of the new weights, or his Algorithm 8
with auxiliary components whose weights come from the prior. How little of this has to be computed
is told in :mod:`~bayesmargin.models.infinite_svc.weighing`.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import borrowing_jit, inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.births import auxiliary_weights, start_component
from bayesmargin.models.infinite_svc.experts import add_pull, fill_scores, winning_option
from bayesmargin.models.infinite_svc.gaussian import change_member
from bayesmargin.models.infinite_svc.membership import note_move
from bayesmargin.models.infinite_svc.radii import renew_radii
from bayesmargin.models.infinite_svc.state import Mixture, close_slot, group_members
from bayesmargin.models.infinite_svc.weighing import (
    NEGLIGIBLE,
    Work,
    log_weights,
    stays,
    weigh_own,
)


@inner_borrowing_jit
def _pick(chance: float, log_weight: FloatArray, count: int, best: float) -> int:
    """Index that a uniform number draws with probability proportional to exp(log_weight)."""
    total = 0.0
    for i in range(count):
        gap = log_weight[i] - best
        log_weight[i] = math.exp(gap) if gap > -NEGLIGIBLE else 0.0
        total += log_weight[i]
    remaining = chance * total
    chosen = 0
    for i in range(count):
        if log_weight[i] > 0.0:
            chosen = i
            remaining -= log_weight[i]
            if remaining < 0.0:
                break
    return chosen


@inner_borrowing_jit
def _pass_stayers(
    rng: np.random.Generator,
    visits: IntArray,
    begin: int,
    mixture: Mixture,
    log_concentration: float,
    scheme: int,
    work: Work,
) -> tuple[int, float, int, float]:
    """Visit rows as long as they stay where they are; return where that ended.

    With the place in ``visits`` come the uniform number of that row, whether its own component is
    weighed in ``work`` (1) or holds no other row (0), and the largest log weight so far.
    """
    rows, assignment, components, _, _ = mixture
    for visit in range(begin, visits.shape[0]):
        d = visits[visit]
        chance = rng.random()
        if scheme > 0:
            best = auxiliary_weights(rng, d, mixture, log_concentration, work)
        else:
            best = log_concentration + rows.log_base[d] + rows.log_evidence[d]
            work.fresh_weight[0] = best
        found = weigh_own(d, mixture, work)
        if found == 0:
            return visit, chance, found, best
        weight = work.log_weight[0]
        if not stays(d, chance, weight, mixture, work):
            return visit, chance, found, max(best, weight)
        label, option = rows.labels[d], work.option[0]
        if assignment.winner[d] != option:  # threads share memory, and writing disturbs the others
            assignment.winner[d] = option
        if option != label:
            add_pull(components.pull[assignment.slot[d]], rows.design[d], label, option, 1.0)
    return visits.shape[0], 0.0, 0, 0.0


@inner_borrowing_jit
def _move(d: int, target: int, mixture: Mixture, features: FloatArray) -> None:
    """Take row d out of its component and put it into another."""
    rows, assignment, components, base, _ = mixture
    own, row = assignment.slot[d], rows.covariates[d]
    if components.population[own] == 1:
        close_slot(components, own)
    else:
        change_member(components, base, own, row, features, -1.0)
    change_member(components, base, target, row, features, 1.0)
    assignment.slot[d] = target


@inner_borrowing_jit
def begin_sweep(mixture: Mixture) -> None:
    """Clear what a sweep over all rows leaves for the weights, and renew radii that are worn."""
    components = mixture.components
    components.pull[:, :, :] = 0.0
    components.drift[:, :, :] = 0.0
    renew_radii(mixture.assignment, components)


@inner_borrowing_jit
def visit_rows(
    rng: np.random.Generator,
    visits: IntArray,
    begin: int,
    mixture: Mixture,
    concentration: float,
    scheme: int,
    work: Work,
) -> tuple[int, int]:
    """Visit ``visits[begin:]``; return where it stopped and how many rows moved.

    It stops early only when every slot is in use; the caller makes room and calls again.
    """
    rows, assignment, components, _, hinge = mixture
    log_concentration = math.log(concentration)
    capacity, extra = components.order.shape[0], work.fresh_weight.shape[0]
    moved, visit = 0, begin
    while components.size[0] < capacity:
        visit, chance, found, best = _pass_stayers(
            rng, visits, visit, mixture, log_concentration, scheme, work
        )
        if visit == visits.shape[0]:
            break
        d = visits[visit]
        visit += 1
        found, best = log_weights(d, best, found, mixture, work)
        for i in range(extra):
            work.log_weight[found + i] = work.fresh_weight[i]
        chosen = _pick(chance, work.log_weight, found + extra, best)
        if chosen < found:
            target, option = work.near[chosen], work.option[chosen]
        else:
            target = start_component(rng, d, mixture, scheme, work, chosen - found)
            fill_scores(components.weights[target], rows.design[d], work.scores)
            option = winning_option(work.scores, rows.labels[d], hinge)
        assignment.winner[d] = option
        add_pull(components.pull[target], rows.design[d], rows.labels[d], option, 1.0)
        if target != assignment.slot[d]:
            moved += 1
            note_move(d, target, option, work.option[0], mixture)
            _move(d, target, mixture, work.features)
    return visit, moved


@borrowing_jit
def sweep_assignments(
    rng: np.random.Generator,
    visits: IntArray,
    begin: int,
    mixture: Mixture,
    concentration: float,
    scheme: int,
    work: Work,
) -> tuple[int, int]:
    """Visit ``visits[begin:]`` as :func:`visit_rows` does, with what belongs before and after it.

    All in one call, for handing over the state takes a good part of a sweep over few rows. A sweep
    over all rows leaves ``winner``, ``pull`` and ``drift`` for the weights as they are. At the end
    the list of members is brought up to date.
    """
    if begin == 0:
        begin_sweep(mixture)
    visit, moved = visit_rows(rng, visits, begin, mixture, concentration, scheme, work)
    if visit == visits.shape[0]:
        group_members(mixture.assignment)
    return visit, moved
