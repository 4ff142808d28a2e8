r"""Subgradient HMC for every expert, by the library's trajectories.

The metric is that of :mod:`~bayesmargin.models.infinite_svc.anchor` with all members and a fixed
slack density, so it is a function of the assignments alone and the move leaves the conditional of
the weights invariant.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.dynamics.hamiltonian import (
    Hamiltonian as Dynamics,
)
from bayesmargin.dynamics.hamiltonian import (
    compiled_state,
    draw_momentum,
    metropolis_trajectory,
)
from bayesmargin.foundation.compiling import implements
from bayesmargin.models.infinite_svc.anchor import curvature_share, fill_gram, gram_to_whitener
from bayesmargin.models.infinite_svc.expert_target import expert_for_trajectories, place_expert
from bayesmargin.models.infinite_svc.state import Mixture
from bayesmargin.models.infinite_svc.weights import ExpertScratch, update_expert

_SLACK_DENSITY = 0.25


class Hamiltonian(NamedTuple):
    """Settings of the subgradient HMC weights sampler."""

    step: float  #: leapfrog step in whitened coordinates, jittered by 20%
    steps: int  #: leapfrog steps in a trajectory
    trajectories: int = 1  #: in each sweep


@implements(update_expert, Hamiltonian)
def _update(
    method: Hamiltonian,
    source: np.random.Generator,
    slot: int,
    mixture: Mixture,
    scratch: ExpertScratch,
) -> None:
    rows, assignment, components, base, hinge = mixture
    members = assignment.members[assignment.start[slot] : assignment.start[slot + 1]]
    whitener = components.whitener[slot]
    fill_gram(members, rows, members.shape[0], whitener)
    curvature = curvature_share(hinge, _SLACK_DENSITY, components.weights.shape[1])
    gram_to_whitener(whitener, curvature, base.weight_scale)
    components.width[slot] = 0.0
    expert = expert_for_trajectories(slot, mixture, 0, False, scratch)
    state = compiled_state(np.zeros(expert.weights.size), method.step, False)
    dynamics = Dynamics(0.0, method.steps, 0.0, 0.0)
    for _ in range(method.trajectories):
        draw_momentum(state, source)
        step = method.step * (0.8 + 0.4 * source.random())
        components.tries[0] += 1
        components.tries[1] += metropolis_trajectory(
            dynamics, expert, state, scratch, step, method.steps, source
        )
    place_expert(expert, state.position)
