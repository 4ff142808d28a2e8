r"""SSGNHT: a stochastic-gradient Nose-Hoover thermostat for every expert.

In whitened coordinates :math:`\tilde\eta`, with momentum :math:`r`, thermostat :math:`\xi`,
diffusion :math:`A` and N coordinates, one step of size h is

.. math::

   &r \mathrel{-}= h\,\hat g(\tilde\eta),\quad \tilde\eta \mathrel{+}= \tfrac h2\, r,\quad
    \xi \mathrel{+}= \tfrac h2\,(r\cdot r/N - 1)\\
   &r \mathrel{*}= e^{-\xi h/2},\quad
    r \mathrel{+}= \sqrt{2Ah}\,\nu,\quad r \mathrel{*}= e^{-\xi h/2}\\
   &\tilde\eta \mathrel{+}= \tfrac h2\, r,\quad \xi \mathrel{+}= \tfrac h2\,(r\cdot r/N - 1),

the splitting BAOAB, whose positions are right to the last digit where the energy is quadratic. The
first step of a sweep takes its gradient at the anchor, where it is known exactly without touching a
row; its kick is divided between the rows of the last sweep and those of now
(:mod:`~bayesmargin.models.infinite_svc.membership`).

Momentum and thermostat belong to the component and live on from sweep to sweep. The variates
:math:`\nu` are those of :mod:`~bayesmargin.foundation.noise`. Where rows are read, only the
contrasts of several weight vectors move in this way, N counts their coordinates, and what the
vectors share is drawn afresh (:mod:`~bayesmargin.models.infinite_svc.shared`).
"""

import math
from typing import Any, NamedTuple

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit
from bayesmargin.foundation.noise import fill_noise
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.infinite_svc.anchor import (
    add_unwhitened,
    batch_rows,
    prepare_update,
    squared_norm,
    whitened_gradient,
)
from bayesmargin.models.infinite_svc.coarseness import gentle_step
from bayesmargin.models.infinite_svc.membership import opening_force, opening_shares
from bayesmargin.models.infinite_svc.shared import contrast_count, give_shared, take_shared
from bayesmargin.models.infinite_svc.state import Mixture
from bayesmargin.models.infinite_svc.weights import ExpertScratch, update_expert


class Thermostat(NamedTuple):
    """Settings of the SSGNHT weights sampler."""

    step: float  #: h, in whitened coordinates; the longest where kinks shorten it
    steps: int  #: inner steps in a sweep
    batch: int  #: rows of the component used in a step; 0: see ``batch_rows``
    diffusion: float  #: A
    kick: float = math.inf  #: of one row to the momentum, beyond which the step is shortened


@inner_borrowing_jit
def _half_turn(step: float, square: float, size: int) -> float:
    """How far a momentum of the given square turns the thermostat in half a step."""
    return 0.5 * step * (square / size - 1.0)


@inner_borrowing_jit
def _friction_and_noise(step: float, diffusion: float, friction: float) -> tuple[float, float]:
    """Factors of the momentum and of the noise in a step of friction, noise, friction."""
    half = math.exp(-0.5 * friction * step)
    return half * half, half * math.sqrt(2.0 * diffusion * step)


@inner_borrowing_jit
def _step_at_anchor(method: Thermostat, slot: int, mixture: Mixture, noise: FloatArray) -> None:
    """One step with the exact gradient and a multiple of the identity as metric.

    No row is read, so no direction has noise that others have not: all of them move.
    """
    _, _, components, base, hinge = mixture
    weights, momentum = components.weights[slot].reshape(-1), components.momentum[slot].reshape(-1)
    pull, width = components.pull[slot].reshape(-1), components.width[slot]
    drift = components.drift[slot].reshape(-1)
    precision = 1.0 / (base.weight_scale * base.weight_scale)
    step = gentle_step(method.step, method.kick, components.jump[slot])
    scaled, size = step * width, weights.shape[0]
    kick, left_out = opening_shares(components.age[slot])
    square = 0.0
    for i in range(size):
        data = pull[i] - left_out * drift[i]
        momentum[i] -= kick * scaled * (precision * weights[i] - hinge.cost * data)
        square += momentum[i] * momentum[i]
    friction = components.thermostat[slot] + _half_turn(step, square, size)
    damping, spread = _friction_and_noise(step, method.diffusion, friction)
    square = 0.0
    for i in range(size):
        value = damping * momentum[i] + spread * noise[i]
        weights[i] += 0.5 * scaled * (momentum[i] + value)
        momentum[i] = value
        square += value * value
    components.thermostat[slot] = friction + _half_turn(step, square, size)


@inner_borrowing_jit
def _steps(
    method: Thermostat, source: Any, slot: int, mixture: Mixture, scratch: ExpertScratch
) -> None:
    """All steps of a sweep; those after the first read rows.

    Without any of those all directions move.
    """
    _, assignment, components, base, _ = mixture
    weights, momentum = components.weights[slot], components.momentum[slot]
    width, whitener = components.width[slot], components.whitener[slot]
    noise, scores, gradient, force, shared, shared_momentum = scratch
    reads = method.steps > 1
    if reads:
        take_shared(weights, shared)
        take_shared(momentum, shared_momentum)
    kick = noise.reshape(weights.shape)
    step = gentle_step(method.step, method.kick, components.jump[slot])
    friction = components.thermostat[slot]
    size = contrast_count(weights) if reads else weights.size
    count = assignment.start[slot + 1] - assignment.start[slot]
    used = batch_rows(method.batch, count, weights.shape[0])
    for turn in range(method.steps):
        if turn == 0:
            opening_force(slot, mixture, gradient, force)
        else:
            whitened_gradient(source, slot, used, mixture, scores, gradient, force)
        fill_noise(source, noise)
        if reads:
            take_shared(kick, shared)
        for y in range(weights.shape[0]):
            for j in range(weights.shape[1]):
                momentum[y, j] -= step * force[y, j]
        friction += _half_turn(step, squared_norm(momentum), size)
        damping, spread = _friction_and_noise(step, method.diffusion, friction)
        for y in range(weights.shape[0]):
            for j in range(weights.shape[1]):
                value = damping * momentum[y, j] + spread * kick[y, j]
                force[y, j] = momentum[y, j] + value
                momentum[y, j] = value
        add_unwhitened(width, whitener, force, 0.5 * step, weights)
        friction += _half_turn(step, squared_norm(momentum), size)
    components.thermostat[slot] = friction
    if reads:
        give_shared(weights, shared, base.weight_scale)
        give_shared(momentum, shared_momentum, 1.0)


@implements(update_expert, Thermostat, borrows=True)
def _update(
    method: Thermostat, source: Any, slot: int, mixture: Mixture, scratch: ExpertScratch
) -> None:
    prepare_update(slot, mixture)
    if method.steps == 1 and mixture.components.width[slot] > 0.0:
        fill_noise(source, scratch.noise)
        _step_at_anchor(method, slot, mixture, scratch.noise)
    else:
        _steps(method, source, slot, mixture, scratch)
