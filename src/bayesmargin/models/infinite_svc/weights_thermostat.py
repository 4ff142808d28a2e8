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

Momentum and thermostat belong to the component and live on from sweep to sweep. The variates
:math:`\nu` are those of :mod:`bayesmargin.noise`. Where rows are read, only the contrasts of
several weight vectors move in this way, N counts their coordinates, and what the vectors share is
drawn afresh (:mod:`~bayesmargin.models.infinite_svc.shared`).
"""

import math
from typing import Any, NamedTuple

from bayesmargin.compiling import implements, inner_borrowing_jit
from bayesmargin.models.infinite_svc.anchor import (
    add_unwhitened,
    batch_rows,
    count_update,
    whitened_gradient,
)
from bayesmargin.models.infinite_svc.shared import contrast_count, give_shared, take_shared
from bayesmargin.models.infinite_svc.state import Mixture
from bayesmargin.models.infinite_svc.weights import ExpertScratch, update_expert
from bayesmargin.noise import fill_noise
from bayesmargin.types import FloatArray


class Thermostat(NamedTuple):
    """Settings of the SSGNHT weights sampler."""

    step: float  #: h, in whitened coordinates
    steps: int  #: inner steps in a sweep
    batch: int  #: rows of the component used in a step; 0: see ``batch_rows``
    diffusion: float  #: A
    renewal: int  #: sweeps between two estimates of the metric


@inner_borrowing_jit
def _step_at_anchor(method: Thermostat, slot: int, mixture: Mixture, noise: FloatArray) -> None:
    """One step with the exact gradient and a multiple of the identity as metric, in one pass.

    No row is read, so no direction has noise that others have not: all of them move.
    """
    _, _, components, base, hinge = mixture
    weights, momentum = components.weights[slot].reshape(-1), components.momentum[slot].reshape(-1)
    pull, width = components.pull[slot].reshape(-1), components.width[slot]
    spread = math.sqrt(2.0 * method.diffusion * method.step)
    damping = math.exp(-0.5 * components.thermostat[slot] * method.step)
    precision = 1.0 / (base.weight_scale * base.weight_scale)
    scaled = method.step * width
    square = 0.0
    for i in range(weights.shape[0]):
        force = precision * weights[i] - hinge.cost * pull[i]
        value = damping * (damping * momentum[i] + spread * noise[i] - scaled * force)
        momentum[i] = value
        weights[i] += scaled * value
        square += value * value
    components.thermostat[slot] += method.step * (square / weights.shape[0] - 1.0)


@inner_borrowing_jit
def _steps_of_contrasts(
    method: Thermostat, source: Any, slot: int, mixture: Mixture, scratch: ExpertScratch
) -> None:
    """All steps of a sweep; those after the first read rows."""
    _, assignment, components, base, _ = mixture
    weights, momentum = components.weights[slot], components.momentum[slot]
    width, whitener = components.width[slot], components.whitener[slot]
    noise, scores, gradient, force, shared, shared_momentum = scratch
    take_shared(weights, shared)
    take_shared(momentum, shared_momentum)
    kick = noise.reshape(weights.shape)
    spread = math.sqrt(2.0 * method.diffusion * method.step)
    friction = components.thermostat[slot]
    used = batch_rows(method.batch, assignment.start[slot + 1] - assignment.start[slot])
    for turn in range(method.steps):
        batch = 0 if turn == 0 else used
        whitened_gradient(source, slot, batch, mixture, scores, gradient, force)
        fill_noise(source, noise)
        take_shared(kick, shared)
        damping = math.exp(-0.5 * friction * method.step)
        square = 0.0
        for y in range(weights.shape[0]):
            for j in range(weights.shape[1]):
                push = spread * kick[y, j] - method.step * force[y, j]
                value = damping * (damping * momentum[y, j] + push)
                momentum[y, j] = value
                square += value * value
        add_unwhitened(width, whitener, momentum, method.step, weights)
        friction += method.step * (square / contrast_count(weights) - 1.0)
    components.thermostat[slot] = friction
    give_shared(weights, shared, base.weight_scale)
    give_shared(momentum, shared_momentum, 1.0)


@implements(update_expert, Thermostat, borrows=True)
def _update(
    method: Thermostat, source: Any, slot: int, mixture: Mixture, scratch: ExpertScratch
) -> None:
    count_update(slot, method.renewal, mixture)
    if method.steps == 1 and mixture.components.width[slot] > 0.0:
        fill_noise(source, scratch.noise)
        _step_at_anchor(method, slot, mixture, scratch.noise)
    else:
        _steps_of_contrasts(method, source, slot, mixture, scratch)
