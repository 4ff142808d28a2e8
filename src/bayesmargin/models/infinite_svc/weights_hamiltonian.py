r"""Subgradient HMC for every expert: exact, because leapfrog with any force is a shear.

The Metropolis test uses the true energy. The metric is that of
:mod:`~bayesmargin.models.infinite_svc.anchor` with all members and a fixed slack density, so it is
a function of the assignments alone and the move leaves the conditional of the weights invariant.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit, inner_jit
from bayesmargin.foundation.copying import copy_matrix
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.anchor import (
    add_unwhitened,
    curvature_share,
    fill_gram,
    gram_to_whitener,
    squared_norm,
    whiten,
)
from bayesmargin.models.infinite_svc.experts import (
    add_pull,
    fill_scores,
    log_psi_of_scores,
    winning_option,
)
from bayesmargin.models.infinite_svc.state import Hinge, Mixture, Rows
from bayesmargin.models.infinite_svc.weights import ExpertScratch, update_expert

_SLACK_DENSITY = 0.25


class Hamiltonian(NamedTuple):
    """Settings of the subgradient HMC weights sampler."""

    step: float  #: leapfrog step in whitened coordinates, jittered by 20%
    steps: int  #: leapfrog steps in a trajectory
    trajectories: int = 1  #: in each sweep


@inner_borrowing_jit
def _energy_and_gradient(
    weights: FloatArray,
    members: IntArray,
    rows: Rows,
    scale: float,
    hinge: Hinge,
    scores: FloatArray,
    gradient: FloatArray,
) -> float:
    """Energy of an expert over its members; its subgradient goes into ``gradient``."""
    gradient[:, :] = 0.0
    energy = 0.0
    for i in range(members.shape[0]):
        d = members[i]
        row, label = rows.design[d], rows.labels[d]
        fill_scores(weights, row, scores)
        energy -= log_psi_of_scores(scores, label, hinge)
        add_pull(gradient, row, label, winning_option(scores, label, hinge), -hinge.cost)
    precision = 1.0 / (scale * scale)
    for y in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            energy += 0.5 * precision * weights[y, j] * weights[y, j]
            gradient[y, j] += precision * weights[y, j]
    return energy


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
    weights = components.weights[slot]
    whitener = components.whitener[slot]
    fill_gram(members, rows, members.shape[0], whitener)
    curvature = curvature_share(hinge, _SLACK_DENSITY, weights.shape[0])
    gram_to_whitener(whitener, curvature, base.weight_scale)
    for _ in range(method.trajectories):
        components.tries[0] += 1
        if _trajectory(method, source, members, rows, base.weight_scale, hinge, whitener, weights):
            components.tries[1] += 1


@inner_jit
def _trajectory(
    method: Hamiltonian,
    source: np.random.Generator,
    members: IntArray,
    rows: Rows,
    scale: float,
    hinge: Hinge,
    whitener: FloatArray,
    weights: FloatArray,
) -> bool:
    """Move an expert along one trajectory, or leave it where it is; whether it has moved."""
    previous = weights.copy()
    scores = np.empty(weights.shape[0])
    gradient, force = np.empty_like(weights), np.empty_like(weights)
    momentum = np.empty_like(weights)
    for y in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            momentum[y, j] = source.standard_normal()
    step = method.step * (0.8 + 0.4 * source.random())
    energy = _energy_and_gradient(weights, members, rows, scale, hinge, scores, gradient)
    before = energy + 0.5 * squared_norm(momentum)
    for turn in range(method.steps + 1):
        kick = 0.5 * step if turn in (0, method.steps) else step
        whiten(0.0, whitener, gradient, force)
        for y in range(weights.shape[0]):
            for j in range(weights.shape[1]):
                momentum[y, j] -= kick * force[y, j]
        if turn < method.steps:
            add_unwhitened(0.0, whitener, momentum, step, weights)
            energy = _energy_and_gradient(weights, members, rows, scale, hinge, scores, gradient)
    after = energy + 0.5 * squared_norm(momentum)
    if math.log(source.random()) < before - after:
        return True
    copy_matrix(previous, weights)
    return False
