"""The step that moves the experts given the assignments: one generic, one file per method."""

from typing import Any, NamedTuple

from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.infinite_svc.state import Mixture


class ExpertScratch(NamedTuple):
    """What the stochastic methods write to and forget, for one expert after the other."""

    noise: FloatArray  #: (R * n,)
    scores: FloatArray  #: (R,)
    gradient: FloatArray  #: (R, n)
    force: FloatArray  #: (R, n)
    shared: FloatArray  #: (n,)
    shared_momentum: FloatArray  #: (n,)


def update_expert(
    method: Any, source: Any, slot: int, mixture: Mixture, scratch: ExpertScratch
) -> None:
    r"""Move the weights of one component towards :math:`p_0(\eta_k)\prod_{d \in k}\psi_d`.

    A generic: the body is chosen by the class of ``method``
    (:class:`Thermostat`, :class:`Langevin`, :class:`Hamiltonian`, :class:`Augmentation`). The last
    two draw from a generator, ``source``; for the first two it may be a stream of bits as well.
    """
    raise TypeError(f"no weights sampler for {type(method).__name__}")
