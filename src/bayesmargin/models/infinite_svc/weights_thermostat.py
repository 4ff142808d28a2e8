r"""SSGNHT: a stochastic-gradient Nose-Hoover thermostat for every expert, symmetric splitting.

In whitened coordinates :math:`\tilde\eta`, with momentum :math:`r`, thermostat :math:`\xi`,
diffusion :math:`A` and N coordinates, one step of size h is

.. math::

   &r \mathrel{*}= e^{-\xi h/2},\quad
    r \mathrel{+}= -h\,\hat g(\tilde\eta) + \sqrt{2Ah}\,\nu,\quad r \mathrel{*}= e^{-\xi h/2}\\
   &\tilde\eta \mathrel{+}= h\, r,\quad \xi \mathrel{+}= h\,(r\cdot r/N - 1).

This is the symmetric splitting integrator seen from the points where it takes its gradients: the
two half moves between two gradients are one. So the first step of a sweep takes its gradient at the
anchor, where it is known exactly without touching a row.

Momentum and thermostat belong to the component and live on from sweep to sweep.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.compiling import implements, inner_borrowing_jit
from bayesmargin.models.infinite_svc.anchor import (
    add_unwhitened,
    batch_rows,
    count_update,
    whitened_gradient,
)
from bayesmargin.models.infinite_svc.state import Mixture
from bayesmargin.models.infinite_svc.weights import update_expert


class Thermostat(NamedTuple):
    """Settings of the SSGNHT weights sampler."""

    step: float  #: h, in whitened coordinates
    steps: int  #: inner steps in a sweep
    batch: int  #: rows of the component used in a step; 0: see ``batch_rows``
    diffusion: float  #: A
    renewal: int  #: sweeps between two estimates of the metric


@inner_borrowing_jit
def _step_at_anchor(
    method: Thermostat, rng: np.random.Generator, slot: int, mixture: Mixture, friction: float
) -> float:
    """One step with the exact gradient and a multiple of the identity as metric, in one pass."""
    _, _, components, base, hinge = mixture
    weights, momentum = components.weights, components.momentum
    pull, width = components.pull, components.width[slot]
    noise = math.sqrt(2.0 * method.diffusion * method.step)
    damping = math.exp(-0.5 * friction * method.step)
    precision = 1.0 / (base.weight_scale * base.weight_scale)
    scaled = method.step * width
    square = 0.0
    for y in range(weights.shape[1]):
        for j in range(weights.shape[2]):
            force = precision * weights[slot, y, j] - hinge.cost * pull[slot, y, j]
            value = damping * momentum[slot, y, j] + noise * rng.standard_normal() - scaled * force
            value *= damping
            momentum[slot, y, j] = value
            weights[slot, y, j] += scaled * value
            square += value * value
    return friction + method.step * (square / (weights.shape[1] * weights.shape[2]) - 1.0)


@implements(update_expert, Thermostat)
def _update(method: Thermostat, rng: np.random.Generator, slot: int, mixture: Mixture) -> None:
    count_update(slot, method.renewal, mixture)
    _, assignment, components, _, _ = mixture
    weights, momentum = components.weights[slot], components.momentum[slot]
    width, whitener = components.width[slot], components.whitener[slot]
    scores = np.empty(weights.shape[0])
    gradient, force = np.empty_like(weights), np.empty_like(weights)
    noise = math.sqrt(2.0 * method.diffusion * method.step)
    friction = components.thermostat[slot]
    used = batch_rows(method.batch, assignment.start[slot + 1] - assignment.start[slot])
    for turn in range(method.steps):
        if turn == 0 and width > 0.0:
            friction = _step_at_anchor(method, rng, slot, mixture, friction)
            continue
        batch = 0 if turn == 0 else used
        whitened_gradient(rng, slot, batch, mixture, scores, gradient, force)
        damping = math.exp(-0.5 * friction * method.step)
        square = 0.0
        for y in range(weights.shape[0]):
            for j in range(weights.shape[1]):
                kick = noise * rng.standard_normal() - method.step * force[y, j]
                value = damping * (damping * momentum[y, j] + kick)
                momentum[y, j] = value
                square += value * value
        add_unwhitened(width, whitener, momentum, method.step, weights)
        friction += method.step * (square / weights.size - 1.0)
    components.thermostat[slot] = friction
