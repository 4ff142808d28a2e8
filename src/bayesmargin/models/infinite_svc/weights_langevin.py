r"""SSGLD: stochastic subgradient Langevin steps for every expert, in a fixed metric.

.. math:: \tilde\eta \leftarrow \tilde\eta - \tfrac{h^2}{2}\,\hat g(\tilde\eta) + h\,\nu
"""

from typing import Any, NamedTuple

from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.noise import fill_noise
from bayesmargin.models.infinite_svc.anchor import (
    add_unwhitened,
    batch_rows,
    prepare_update,
    whitened_gradient,
)
from bayesmargin.models.infinite_svc.state import Mixture
from bayesmargin.models.infinite_svc.weights import ExpertScratch, update_expert


class Langevin(NamedTuple):
    """Settings of the SSGLD weights sampler."""

    step: float  #: h, in whitened coordinates
    steps: int  #: inner steps in a sweep
    batch: int  #: rows of the component used in a step; 0: see ``batch_rows``


@implements(update_expert, Langevin, borrows=True)
def _update(
    method: Langevin, source: Any, slot: int, mixture: Mixture, scratch: ExpertScratch
) -> None:
    prepare_update(slot, mixture)
    _, assignment, components, _, _ = mixture
    weights, whitener = components.weights[slot], components.whitener[slot]
    width, change = components.width[slot], scratch.force
    kick = scratch.noise.reshape(weights.shape)
    drift = 0.5 * method.step * method.step
    count = assignment.start[slot + 1] - assignment.start[slot]
    used = batch_rows(method.batch, count, weights.shape[0])
    for turn in range(method.steps):
        batch = 0 if turn == 0 else used
        whitened_gradient(source, slot, batch, mixture, scratch.scores, scratch.gradient, change)
        fill_noise(source, scratch.noise)
        for y in range(weights.shape[0]):
            for j in range(weights.shape[1]):
                change[y, j] = method.step * kick[y, j] - drift * change[y, j]
        add_unwhitened(width, whitener, change, 1.0, weights)
