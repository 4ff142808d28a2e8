"""Weights of all components, by whichever method.

This module imports every method on purpose: compiled code is kept on disk under a hash of the
modules that its own module imports, and a method that the hash does not see could go stale.
"""

from typing import Any

import numpy as np

from bayesmargin.compiling import jit
from bayesmargin.models.infinite_svc.state import Mixture
from bayesmargin.models.infinite_svc.weights import ExpertScratch, update_expert
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation
from bayesmargin.models.infinite_svc.weights_hamiltonian import Hamiltonian
from bayesmargin.models.infinite_svc.weights_langevin import Langevin
from bayesmargin.models.infinite_svc.weights_thermostat import Thermostat

EXACT_METHODS = (Augmentation, Hamiltonian)
METHODS = (*EXACT_METHODS, Langevin, Thermostat)


@jit
def update_experts(method: Any, source: Any, mixture: Mixture) -> None:
    """Move the weights of every component in use; ``source`` is a generator or a stream."""
    components = mixture.components
    _, vectors, columns = components.weights.shape
    scratch = ExpertScratch(
        np.empty(vectors * columns),
        np.empty(vectors),
        np.empty((vectors, columns)),
        np.empty((vectors, columns)),
        np.empty(columns),
        np.empty(columns),
    )
    for position in range(components.size[0]):
        update_expert(method, source, components.order[position], mixture, scratch)
