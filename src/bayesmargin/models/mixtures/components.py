"""Components of the draws that a mixture has kept, read alike whichever mixture it is."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from bayesmargin.foundation.types import FloatArray


class Component(NamedTuple):
    """One component of one draw; components of different draws do not correspond."""

    size: int  #: training rows
    weights: FloatArray  #: (output, column) of standardised features, the intercept last


class KeptDraw(Protocol):
    """What a draw of any mixture can tell."""

    def components(self) -> list[Component]:
        """Its components with members."""


def kept_draws(model: Any) -> Sequence[KeptDraw]:
    """Draws of a fitted mixture, chain after chain, for pages about it."""
    draws: Sequence[KeptDraw] = model._draws
    return draws
