r"""SSGNHT for every expert: the library's centred thermostat in the metric of the sweep.

Momentum and thermostat belong to the component and live on from sweep to sweep. The first step of a
sweep takes its gradient at the anchor, where it is known exactly without touching a row. Rows that
came or left meanwhile are told to the momentum
(:mod:`~bayesmargin.models.infinite_svc.membership`).
"""

import math
from typing import Any, NamedTuple

from bayesmargin.dynamics.injection import Alike
from bayesmargin.dynamics.steps import Unscaled
from bayesmargin.dynamics.thermostat import CentredThermostat, Unbounded
from bayesmargin.foundation.compiling import implements
from bayesmargin.models.infinite_svc.anchor import batch_rows, prepare_update
from bayesmargin.models.infinite_svc.coarseness import gentle_step
from bayesmargin.models.infinite_svc.expert_target import move_expert
from bayesmargin.models.infinite_svc.state import Mixture
from bayesmargin.models.infinite_svc.weights import ExpertScratch, update_expert


class Thermostat(NamedTuple):
    """Settings of the SSGNHT weights sampler."""

    step: float  #: h, in whitened coordinates; the longest where kinks shorten it
    steps: int  #: inner steps in a sweep
    batch: int  #: rows of the component used in a step; 0: see ``batch_rows``
    diffusion: float  #: A
    kick: float = math.inf  #: of one row to the momentum, beyond which the step is shortened


@implements(update_expert, Thermostat, borrows=True)
def _update(
    method: Thermostat, source: Any, slot: int, mixture: Mixture, scratch: ExpertScratch
) -> None:
    prepare_update(slot, mixture)
    components = mixture.components
    step = gentle_step(method.step, method.kick, components.jump[slot])
    noise = Alike(math.sqrt(2.0 * method.diffusion * step))
    dynamics = CentredThermostat(step, noise, Unscaled(), Unbounded(), 1.0)
    batch = batch_rows(method.batch, components.population[slot], components.weights.shape[1])
    move_expert(dynamics, source, slot, mixture, method.steps, batch, True, scratch)
