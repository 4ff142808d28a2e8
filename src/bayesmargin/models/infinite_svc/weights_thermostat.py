r"""SSGNHT: a stochastic-gradient Nose-Hoover thermostat for every expert, symmetric splitting.

In whitened coordinates :math:`\tilde\eta`, with momentum :math:`r`, thermostat :math:`\xi`,
diffusion :math:`A` and N coordinates, one step of size h is

.. math::

   &\tilde\eta \mathrel{+}= \tfrac h2 r,\quad \xi \mathrel{+}= \tfrac h2 (r\cdot r/N - 1),\quad
    r \mathrel{*}= e^{-\xi h/2}\\
   &r \mathrel{+}= -h\,\hat g(\tilde\eta) + \sqrt{2Ah}\,\nu\\
   &r \mathrel{*}= e^{-\xi h/2},\quad \tilde\eta \mathrel{+}= \tfrac h2 r,\quad
    \xi \mathrel{+}= \tfrac h2 (r\cdot r/N - 1).

Momentum and thermostat belong to the component and live on from sweep to sweep.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.compiling import implements
from bayesmargin.models.infinite_svc.anchor import (
    add_unwhitened,
    note_sharpness,
    renew_metric,
    squared_norm,
    stochastic_gradient,
    whiten,
)
from bayesmargin.models.infinite_svc.state import Assignment, Base, Components, Hinge, Rows
from bayesmargin.models.infinite_svc.weights import update_expert


class Thermostat(NamedTuple):
    """Settings of the SSGNHT weights sampler."""

    step: float  #: h, in whitened coordinates
    steps: int  #: inner steps in a sweep
    batch: int  #: rows of the component used in a step
    diffusion: float  #: A
    renewal: int  #: sweeps between two estimates of the metric


@implements(update_expert, Thermostat)
def _update(
    method: Thermostat,
    rng: np.random.Generator,
    slot: int,
    rows: Rows,
    assignment: Assignment,
    components: Components,
    base: Base,
    hinge: Hinge,
) -> None:
    if components.age[slot] % method.renewal == 0:
        renew_metric(slot, rows, assignment, components, base, hinge)
    components.age[slot] += 1
    weights, momentum = components.weights[slot], components.momentum[slot]
    whitener = components.whitener[slot]
    scores = np.empty(weights.shape[0])
    gradient, force = np.empty_like(weights), np.empty_like(weights)
    half, size = 0.5 * method.step, weights.size
    noise = math.sqrt(2.0 * method.diffusion * method.step)
    friction = components.thermostat[slot]
    for _ in range(method.steps):
        add_unwhitened(whitener, momentum, half, weights)
        friction += half * (squared_norm(momentum) / size - 1.0)
        near = stochastic_gradient(
            rng, slot, method.batch, rows, assignment, components, base, hinge, scores, gradient
        )
        note_sharpness(components, slot, near)
        whiten(whitener, gradient, force)
        damping = math.exp(-friction * half)
        for y in range(weights.shape[0]):
            for j in range(weights.shape[1]):
                kick = noise * rng.standard_normal() - method.step * force[y, j]
                momentum[y, j] = damping * (damping * momentum[y, j] + kick)
        add_unwhitened(whitener, momentum, half, weights)
        friction += half * (squared_norm(momentum) / size - 1.0)
    components.thermostat[slot] = friction
