r"""Components that describe the same rows are joined while the chain looks for its place.

A merge of :mod:`.split_merge` must find the present division among those that a split would
propose. With some thousand rows it hardly ever does, and a chain that starts with too many
components keeps them. In the first sweeps, where the chain has no law to keep, it need not: two
components become one where that is the more probable. With an expert :math:`\eta_{ij}` for both,

.. math::

   \log\frac{p(\text{one})}{p(\text{two})} =
   -\log\frac{\alpha_0\,\Gamma(n_i)\Gamma(n_j)}{\Gamma(n_i+n_j)}\frac{t(X_i)\,t(X_j)}{t(X_{ij})}
   + \sum_{d \in i,j} \log\psi_d(\eta_{ij})
   - \sum_{d \in i} \log\psi_d(\eta_i) - \sum_{d \in j} \log\psi_d(\eta_j)

(the evidence for the weights, which are at their best on their rows, is left out in favour of two).
The expert of the larger serves for both, which is quickly asked. It may never have seen the like of
the other's rows; so now and then all three are fitted by a few passes of exact augmentation before
they are compared.

This is said of the present division. Where components overlap there are many such, and all
together may be more probable than one component: what was joined too much is split again in the
rest of burn-in, which is the easier direction.

The experts of a union may lose ``caution`` nats. Gaussians that do not fit the rows well can be
so much surer of their union than many rows of labels are of the contrary that the posterior itself
classifies worse than a chain that has not arrived there. Joining with caution leaves that alone.

At the end the largest gain is a diagnostic, with the part that the division has in all,
:math:`\sum_{d \in i,j} \log p(z_d \mid z_{-d}, \eta)`, added: a chain that has settled has none
that is large, since it would have joined the two, or the law wants them apart.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit, inner_jit, jit
from bayesmargin.foundation.copying import copy_matrix
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.anchor import refresh_anchor
from bayesmargin.models.infinite_svc.expert_proposal import total_log_psi
from bayesmargin.models.infinite_svc.experts import log_psi, log_psi_of_scores
from bayesmargin.models.infinite_svc.features import fill_features
from bayesmargin.models.infinite_svc.gaussian import (
    log_share_of,
    log_share_of_member,
)
from bayesmargin.models.infinite_svc.regrouping import accept_merge, begin_anew, log_apart
from bayesmargin.models.infinite_svc.state import Components, Hinge, Mixture, Rows
from bayesmargin.models.infinite_svc.weights_augmentation import gibbs_pass, member_scores

_PASSES = 3  # that fit an expert to two components
_ASKED = 5  # members of a component whose rival is looked at


@inner_borrowing_jit
def _log_weight(
    d: int, slot: int, member: bool, mixture: Mixture, features: FloatArray, scores: FloatArray
) -> float:
    """Log of the weight that a visit to row d gives to a component."""
    rows, _, components, base, hinge = mixture
    if member:
        value = log_share_of_member(components, base, slot, features)
    else:
        value = log_share_of(components, base, slot, features)
    return value + log_psi(components.weights[slot], rows.design[d], rows.labels[d], hinge, scores)


@inner_borrowing_jit
def _rival(d: int, mixture: Mixture, features: FloatArray, scores: FloatArray) -> int:
    """The component of at least two rows that row d would move to."""
    components, own = mixture.components, mixture.assignment.slot[d]
    fill_features(mixture.base, mixture.rows.covariates[d], features)
    best, rival = -np.inf, own
    for position in range(components.size[0]):
        slot = components.order[position]
        if slot != own and components.population[slot] > 1:
            value = _log_weight(d, slot, False, mixture, features, scores)
            if value > best:
                best, rival = value, slot
    return rival


@inner_borrowing_jit
def _log_allocation(
    own: int, other: int, floor: float, mixture: Mixture, features: FloatArray, scores: FloatArray
) -> float:
    """Log probability that the members of a component are in it and not in the other.

    Ends early, below ``floor``, when it is clear that the sum will be.
    """
    assignment = mixture.assignment
    total = 0.0
    for position in range(assignment.start[own], assignment.start[own + 1]):
        d = assignment.members[position]
        fill_features(mixture.base, mixture.rows.covariates[d], features)
        gap = _log_weight(d, other, False, mixture, features, scores)
        gap -= _log_weight(d, own, True, mixture, features, scores)
        total -= max(gap, 0.0) + math.log1p(math.exp(-abs(gap)))
        if total < floor:
            break
    return total


@inner_jit
def _members(slot: int, mixture: Mixture) -> IntArray:
    start = mixture.assignment.start
    return mixture.assignment.members[start[slot] : start[slot + 1]]


@inner_jit
def _loss(own: int, partner: int, mixture: Mixture) -> float:
    """Nats that the rows of ``partner`` lose under the expert of ``own``."""
    rows, _, components, _, hinge = mixture
    members = _members(partner, mixture)
    before = total_log_psi(members, rows, hinge, components.weights[partner])
    return before - total_log_psi(members, rows, hinge, components.weights[own])


@inner_jit
def _total(members: IntArray, scores: FloatArray, rows: Rows, hinge: Hinge) -> float:
    """Log pseudo-likelihood of the members from their scores."""
    total = 0.0
    for i in range(members.shape[0]):
        total += log_psi_of_scores(scores[i], rows.labels[members[i]], hinge)
    return total


@inner_jit
def _fits_both(
    rng: np.random.Generator, own: int, partner: int, allowed: float, mixture: Mixture
) -> bool:
    """Whether an expert fitted to both loses less than ``allowed``; the larger has it then.

    Not where a component has fewer rows than an expert has weights: that fits whatever it is shown.
    """
    rows, _, components, base, hinge = mixture
    if components.population[partner] < components.weights[partner].size:
        return False
    larger, smaller = _members(own, mixture), _members(partner, mixture)
    all_members = np.concatenate((larger, smaller))
    first, second = components.weights[own].copy(), components.weights[partner].copy()
    first_scores = member_scores(larger, rows, first)
    second_scores = member_scores(smaller, rows, second)
    both, scores = first.copy(), member_scores(all_members, rows, first)
    others = member_scores(all_members, rows, second)
    if _total(all_members, others, rows, hinge) > _total(all_members, scores, rows, hinge):
        both, scores = second.copy(), others
    for _ in range(_PASSES):
        gibbs_pass(rng, larger, rows, hinge, base.weight_scale, first, first_scores)
        gibbs_pass(rng, smaller, rows, hinge, base.weight_scale, second, second_scores)
        gibbs_pass(rng, all_members, rows, hinge, base.weight_scale, both, scores)
    loss = _total(larger, first_scores, rows, hinge)
    loss += _total(smaller, second_scores, rows, hinge)
    loss -= _total(all_members, scores, rows, hinge)
    if loss < allowed:
        copy_matrix(both, components.weights[own])
        return True
    return False


@inner_borrowing_jit
def _ordered(slot: int, rival: int, components: Components) -> tuple[int, int]:
    """Two components, the larger first: its weights are kept."""
    if components.population[slot] < components.population[rival]:
        return rival, slot
    return slot, rival


@jit
def join_components(
    rng: np.random.Generator,
    mixture: Mixture,
    sides: Components,
    concentration: float,
    caution: float,
    fit: bool,
) -> int:
    """Offer every component to the rival for one of its rows; returns how many were joined.

    With ``fit`` a pair is given an expert of its own where that of the larger loses too much.
    """
    _, assignment, components, _, _ = mixture
    features = np.empty(components.form.shape[1])
    scores = np.empty(components.weights.shape[1])
    joined, position = 0, components.size[0] - 1
    while position >= 0:
        slot = components.order[position]
        count = components.population[slot]
        d = assignment.members[assignment.start[slot] + int(rng.random() * count)]
        rival = _rival(d, mixture, features, scores)
        if count > 1 and rival != slot:
            own, partner = _ordered(slot, rival, components)
            gain = -log_apart(components, own, partner, sides, mixture.base, concentration)
            allowed = min(caution, gain)
            joins = gain > 0.0 and _loss(own, partner, mixture) < allowed
            if fit and gain > 0.0 and not joins:
                joins = _fits_both(rng, own, partner, allowed, mixture)
            if joins:
                members = _members(partner, mixture).copy()
                accept_merge(members, assignment, components, sides, own, partner)
                begin_anew(rng, components, own)
                refresh_anchor(own, mixture)
                joined += 1
        position = min(position, components.size[0]) - 1
    return joined


@jit
def largest_gain(mixture: Mixture, sides: Components, concentration: float) -> float:
    """Largest gain of a pair that competes for rows, all divisions counted; zero if none gains."""
    _, assignment, components, _, _ = mixture
    features = np.empty(components.form.shape[1])
    scores = np.empty(components.weights.shape[1])
    best = 0.0
    for position in range(components.size[0]):
        slot = components.order[position]
        count = components.population[slot]
        stride = max(1, count // _ASKED)
        last = slot
        for member in range(stride // 2, count, stride):
            d = assignment.members[assignment.start[slot] + member]
            rival = _rival(d, mixture, features, scores)
            if count == 1 or rival in (slot, last):
                continue
            last = rival
            own, partner = _ordered(slot, rival, components)
            gain = -log_apart(components, own, partner, sides, mixture.base, concentration)
            if gain > 0.0:
                gain -= _loss(own, partner, mixture)
            for one, other in ((own, partner), (partner, own)):
                if gain > best:
                    gain += _log_allocation(one, other, best - gain, mixture, features, scores)
            best = max(best, gain)
    return best
