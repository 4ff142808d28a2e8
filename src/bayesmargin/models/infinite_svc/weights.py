"""The step that moves the experts given the assignments: one generic, one file per method."""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import inner_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.state import Mixture


class ExpertScratch(NamedTuple):
    """What is written to and forgotten, for one expert after the other.

    ``gradient``, ``data`` and ``noise`` are those that a dynamics looks for. The rows' part of the
    gradient is not kept apart, for no scale is learned of it.
    """

    gradient: FloatArray  #: (R * n,)
    data: FloatArray  #: the same array
    noise: FloatArray  #: (R * n,)
    position: FloatArray  #: (R * n,)
    clock: IntArray  #: (2,)
    asked: IntArray  #: (1,) gradients in this sweep
    scores: FloatArray  #: (R,)
    slopes: FloatArray  #: (R, n) gradient for the weights
    centre: FloatArray  #: (R, n)
    shared: FloatArray  #: (n,) what a projection took away
    resting: FloatArray  #: (n,) the part of the momentum that rests meanwhile


@inner_jit
def empty_scratch(vectors: int, columns: int) -> ExpertScratch:
    """Scratch for experts of so many weight vectors."""
    size = vectors * columns
    gradient = np.empty(size)
    return ExpertScratch(
        gradient,
        gradient,
        np.empty(size),
        np.empty(size),
        np.empty(2, np.int64),
        np.empty(1, np.int64),
        np.empty(vectors),
        np.empty((vectors, columns)),
        np.empty((vectors, columns)),
        np.empty(columns),
        np.empty(columns),
    )


def update_expert(
    method: Any, source: Any, slot: int, mixture: Mixture, scratch: ExpertScratch
) -> None:
    r"""Move the weights of one component towards :math:`p_0(\eta_k)\prod_{d \in k}\psi_d`.

    A generic: the body is chosen by the class of ``method``
    (:class:`Thermostat`, :class:`Langevin`, :class:`Hamiltonian`, :class:`Augmentation`). The last
    two draw from a generator, ``source``; for the first two it may be a stream of bits as well.
    """
    raise TypeError(f"no weights sampler for {type(method).__name__}")
