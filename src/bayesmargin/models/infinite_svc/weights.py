"""The step that moves the experts given the assignments: one generic, one file per method."""

from typing import Any

import numpy as np

from bayesmargin.compiling import jit
from bayesmargin.models.infinite_svc.state import Assignment, Base, Components, Hinge, Rows


def update_expert(
    method: Any,
    rng: np.random.Generator,
    slot: int,
    rows: Rows,
    assignment: Assignment,
    components: Components,
    base: Base,
    hinge: Hinge,
) -> None:
    r"""Move the weights of one component towards :math:`p_0(\eta_k)\prod_{d \in k}\psi_d`.

    A generic: the body is chosen by the class of ``method``
    (:class:`Thermostat`, :class:`Langevin`, :class:`Hamiltonian`, :class:`Augmentation`).
    """
    raise TypeError(f"no weights sampler for {type(method).__name__}")


@jit
def update_experts(
    method: Any,
    rng: np.random.Generator,
    rows: Rows,
    assignment: Assignment,
    components: Components,
    base: Base,
    hinge: Hinge,
) -> None:
    """Move the weights of every component in use."""
    for position in range(components.size[0]):
        slot = components.order[position]
        update_expert(method, rng, slot, rows, assignment, components, base, hinge)
