"""The step that moves the experts given the assignments: one generic, one file per method."""

from typing import Any

import numpy as np

from bayesmargin.models.infinite_svc.state import Mixture


def update_expert(method: Any, rng: np.random.Generator, slot: int, mixture: Mixture) -> None:
    r"""Move the weights of one component towards :math:`p_0(\eta_k)\prod_{d \in k}\psi_d`.

    A generic: the body is chosen by the class of ``method``
    (:class:`Thermostat`, :class:`Langevin`, :class:`Hamiltonian`, :class:`Augmentation`).
    """
    raise TypeError(f"no weights sampler for {type(method).__name__}")
