r"""An expert in one sweep, as a target: what the library's dynamics move.

A position is zero where the sweep begins; with the centre :math:`\eta_0`, the weights of then, and
the metric of this sweep, a multiple :math:`W` of the identity or a triangular matrix,

.. math:: \eta_y = \eta_{0y} + W^\top u_y, \qquad \nabla_{u_y} U = W \nabla_{\eta_y} U .

The gradient is made quiet by control variates. At the anchor, the centre, the winner of each row's
hinge is stored, and the sum of the anchor's subgradients is known. With a minibatch drawn within
the component (stratified: :math:`n_k/B_k`, not :math:`D/B`)

.. math::

   \hat g = \eta/s^2 - c\Big[\textstyle\sum_{d \in k} u_d(\eta_0)
            + \frac{n_k}{B_k}\sum_{d \in \text{batch}} \big(u_d(\eta) - u_d(\eta_0)\big)\Big]

is unbiased, and a row enters the batch sum only if its winner has changed. The share of such rows
falls like :math:`n_k^{-1/2}`, as the posterior narrows around the anchor, so the variance of
:math:`\hat g` in whitened coordinates, about :math:`\sqrt{n_k}/B_k`, stays the same where batches
grow like :math:`\sqrt{n_k}`. The first gradient of a sweep is taken at the anchor and reads no row.

No hinge sees what the weight vectors share. Under the prior their mean is :math:`N(0, s^2/R)`
whatever the rows say, independent of the contrasts. Where rows are read a thermostat should not
move it: they give noise to the contrasts and none to the mean, and what is right for the average of
the two is too cold for one and too hot for the other. So contrasts are sampled
(:class:`~bayesmargin.targets.base.Contrasts`), and the mean is drawn from its law: what a
projection takes from the noise of a step is independent of what it leaves, and has that law but
for the factor s. The one vector of two classes is a contrast already.
"""

from typing import Any, NamedTuple

from bayesmargin.dynamics.base import State, advance, reconcile
from bayesmargin.foundation.compiling import implements, inner_borrowing_jit, inner_jit
from bayesmargin.foundation.copying import copy_matrix
from bayesmargin.foundation.streams import uniform
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.anchor import add_unwhitened, whiten
from bayesmargin.models.infinite_svc.experts import (
    add_pull,
    fill_scores,
    log_psi_of_scores,
    winning_option,
)
from bayesmargin.models.infinite_svc.sharpness import learn_sharpness
from bayesmargin.models.infinite_svc.state import Hinge, Mixture
from bayesmargin.models.infinite_svc.weights import ExpertScratch
from bayesmargin.targets.base import (
    Contrasts,
    energy,
    estimate_gradient,
    project,
    restore,
    space_of,
)


class ExpertTarget(NamedTuple):
    """The weights of one component given its rows."""

    weights: FloatArray  #: (R, n) those of the last position that was asked for
    centre: FloatArray  #: (R, n) those of position zero
    pull: FloatArray  #: (R, n) subgradient of sum log psi at the anchor, divided by c
    whitener: FloatArray  #: (n, n) metric, where ``width`` is zero
    width: float  #: metric that is a multiple of the identity
    design: FloatArray  #: (D, n) of all components, as are labels and winners
    labels: IntArray  #: (D,)
    winner: IntArray  #: (D,) options that attain the hinges at the anchor
    members: IntArray  #: rows of this component
    hinge: Hinge
    precision: float  #: of the prior
    batch: int  #: rows of a gradient; those after the first
    asked: IntArray  #: (1,) gradients that were asked for
    shared: FloatArray  #: (n,) see ``Contrasts``; of length 0 where all directions move
    sharpness: FloatArray  #: (1,) density of the slacks at the kink in components of this kind
    noted: IntArray  #: (1,) how often it was seen
    learning: IntArray  #: (1,) whether it is still learned


def _expert_of(
    slot: int, mixture: Mixture, batch: int, contrasts: bool, scratch: ExpertScratch
) -> ExpertTarget:
    """The expert of a component, whose metric is made."""
    rows, assignment, components, base, hinge = mixture
    kind = components.kind[slot]
    scratch.asked[0] = 0
    moved_apart = contrasts and components.weights.shape[1] > 1
    expert = ExpertTarget(
        components.weights[slot],
        scratch.centre,
        components.pull[slot],
        components.whitener[slot],
        components.width[slot],
        rows.design,
        rows.labels,
        assignment.winner,
        assignment.members[assignment.start[slot] : assignment.start[slot + 1]],
        hinge,
        1.0 / (base.weight_scale * base.weight_scale),
        batch,
        scratch.asked,
        scratch.shared[: scratch.shared.shape[0] if moved_apart else 0],
        components.sharpness[kind : kind + 1],
        components.noted[kind : kind + 1],
        components.learning,
    )
    copy_matrix(expert.weights, expert.centre)
    return expert


# What borrows arrays may hand them to none but another borrower; trajectories allocate.
expert_of, expert_for_trajectories = inner_borrowing_jit(_expert_of), inner_jit(_expert_of)


@inner_borrowing_jit
def place_expert(expert: ExpertTarget, position: FloatArray) -> None:
    """The weights of a position."""
    copy_matrix(expert.centre, expert.weights)
    add_unwhitened(expert.width, expert.whitener, position, expert.weights)


@inner_borrowing_jit
def _slopes_at_anchor(expert: ExpertTarget, slopes: FloatArray) -> None:
    """Gradient for the weights at the centre."""
    for y in range(slopes.shape[0]):
        for j in range(slopes.shape[1]):
            prior = expert.precision * expert.centre[y, j]
            slopes[y, j] = prior - expert.hinge.cost * expert.pull[y, j]


@implements(space_of, ExpertTarget, borrows=True)
def _space_of_expert(target):  # type: ignore[no-untyped-def]
    return Contrasts(target.weights.shape[0], target.shared)


@implements(estimate_gradient, ExpertTarget, borrows=True)
def _gradient_of_expert(target, position, source, work):  # type: ignore[no-untyped-def]
    slopes, hinge = work.slopes, target.hinge
    target.asked[0] += 1
    if target.asked[0] == 1:
        _slopes_at_anchor(target, slopes)
        whiten(target.width, target.whitener, slopes, work.gradient)
        return
    place_expert(target, position)
    weights, members, scores = target.weights, target.members, work.scores
    count = members.shape[0]
    used = min(target.batch, count)
    place = 0 if used == count else min(int(uniform(source) * count), count - 1)
    slopes[:, :] = 0.0
    near = 0
    for _ in range(used):
        d = members[place]
        place = place + 1 if place + 1 < count else 0
        label, row = target.labels[d], target.design[d]
        fill_scores(weights, row, scores)
        option = winning_option(scores, label, hinge)
        if scores.shape[0] == 1:
            near += abs(hinge.margin - (2.0 * label - 1.0) * scores[0]) < hinge.margin
        else:
            near += option != label
        if option != target.winner[d]:
            add_pull(slopes, row, label, option, 1.0)
            add_pull(slopes, row, label, target.winner[d], -1.0)
    if target.learning[0] != 0:
        learn_sharpness(target.sharpness, target.noted, near / used / (2.0 * hinge.margin))
    scale = count / used
    for y in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            data = target.pull[y, j] + scale * slopes[y, j]
            slopes[y, j] = target.precision * weights[y, j] - hinge.cost * data
    whiten(target.width, target.whitener, slopes, work.gradient)


@implements(energy, ExpertTarget, borrows=True)
def _energy_of_expert(target, position, work):  # type: ignore[no-untyped-def]
    place_expert(target, position)
    weights, slopes, scores, hinge = target.weights, work.slopes, work.scores, target.hinge
    total = 0.0
    for y in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            slopes[y, j] = target.precision * weights[y, j]
        for j in range(weights.shape[1]):
            total += 0.5 * slopes[y, j] * weights[y, j]
    for i in range(target.members.shape[0]):
        d = target.members[i]
        row, label = target.design[d], target.labels[d]
        fill_scores(weights, row, scores)
        total -= log_psi_of_scores(scores, label, hinge)
        add_pull(slopes, row, label, winning_option(scores, label, hinge), -hinge.cost)
    whiten(target.width, target.whitener, slopes, work.gradient)
    return total


@inner_borrowing_jit
def state_of(slot: int, mixture: Mixture, scratch: ExpertScratch) -> State:
    """Position zero, with the momentum and the friction of the component: a view of them."""
    components = mixture.components
    for j in range(scratch.position.shape[0]):
        scratch.position[j] = 0.0
    scratch.clock[0] = scratch.clock[1] = 0
    return State(
        scratch.position,
        components.momentum[slot].reshape(-1),
        components.thermostat[slot : slot + 1],
        scratch.noise,  # scales are learned by none of the dynamics that move experts
        scratch.clock,
    )


@inner_borrowing_jit
def _tell_momentum(
    dynamics: Any,
    expert: ExpertTarget,
    state: State,
    drift: FloatArray,
    age: int,
    work: ExpertScratch,
) -> None:
    """Reconcile a momentum with rows that came or left; a fresh one (``age`` 1) with all rows."""
    if age == 1:
        _slopes_at_anchor(expert, work.slopes)
    else:
        for y in range(drift.shape[0]):
            for j in range(drift.shape[1]):
                work.slopes[y, j] = -expert.hinge.cost * drift[y, j]
    whiten(expert.width, expert.whitener, work.slopes, work.gradient)
    reconcile(dynamics, state, work.gradient)


@inner_borrowing_jit
def move_expert(
    dynamics: Any,
    source: Any,
    slot: int,
    mixture: Mixture,
    steps: int,
    batch: int,
    contrasts: bool,
    scratch: ExpertScratch,
) -> None:
    """Steps of one gradient for a component whose metric is made.

    With ``contrasts`` these alone move, if rows are read, and what they share is drawn.
    """
    components, base = mixture.components, mixture.base
    expert = expert_of(slot, mixture, batch, contrasts and steps > 1, scratch)
    state = state_of(slot, mixture, scratch)
    space = space_of(expert)
    project(space, expert.centre.reshape(-1))
    project(space, state.momentum)
    resting = scratch.resting[: expert.shared.shape[0]]
    for j in range(resting.shape[0]):
        resting[j] = expert.shared[j]
    _tell_momentum(dynamics, expert, state, components.drift[slot], components.age[slot], scratch)
    for _ in range(steps):
        advance(dynamics, expert, state, scratch, source)
    place_expert(expert, state.position)
    restore(expert.weights.reshape(-1), expert.shared, base.weight_scale)
    restore(state.momentum, resting, 1.0)
