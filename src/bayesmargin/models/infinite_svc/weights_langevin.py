"""SSGLD for every expert: the library's Langevin steps in the metric of the sweep."""

from typing import Any, NamedTuple

from bayesmargin.dynamics.langevin import Langevin as Dynamics
from bayesmargin.dynamics.steps import Constant, Unscaled
from bayesmargin.foundation.compiling import implements
from bayesmargin.models.infinite_svc.anchor import batch_rows, prepare_update
from bayesmargin.models.infinite_svc.expert_target import move_expert
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
    dynamics = Dynamics(Constant(method.step), Unscaled(), 1.0)
    batch = batch_rows(
        method.batch, mixture.components.population[slot], mixture.components.weights.shape[1]
    )
    move_expert(dynamics, source, slot, mixture, method.steps, batch, False, scratch)
