"""Weights of all components, by whichever method."""

from typing import Any

from bayesmargin.foundation.compiling import jit
from bayesmargin.models.infinite_svc.state import Mixture
from bayesmargin.models.infinite_svc.weights import empty_scratch, update_expert
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation
from bayesmargin.models.infinite_svc.weights_hamiltonian import Hamiltonian

EXACT_METHODS = (Augmentation, Hamiltonian)


@jit
def update_experts(method: Any, source: Any, mixture: Mixture) -> None:
    """Move the weights of every component in use; ``source`` is a generator or a stream."""
    components = mixture.components
    scratch = empty_scratch(components.weights.shape[1], components.weights.shape[2])
    for position in range(components.size[0]):
        update_expert(method, source, components.order[position], mixture, scratch)
