r"""The binary hinge as a likelihood of one score."""

from dataclasses import dataclass

import numpy as np

from bayesmargin.foundation.arguments import require_real
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.base import OneScore
from bayesmargin.likelihoods.pieces import Pieces


@dataclass(frozen=True)
class Hinge(OneScore):
    r"""Hinge of two classes, :math:`\phi = (\ell - y s)_+` with :math:`y \in \{-1, +1\}`.

    Parameters
    ----------
    margin : float
        Margin :math:`\ell` that a score should reach.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.likelihoods import Hinge
    >>> Hinge().loss(np.array([1.0, -1.0]), np.array([0.5, 0.5]))
    array([0.5, 1.5])
    """

    margin: float = 1.0

    def __post_init__(self) -> None:
        require_real(margin=self.margin)
        if not np.isfinite(self.margin):
            raise ValueError(f"margin={self.margin!r} is not allowed: it is a finite number")

    def pieces(self, y: FloatArray) -> Pieces:
        """One kink, beyond which a score of the wrong sign or too small costs."""
        if not np.all(np.abs(y) == 1.0):
            wrong = np.asarray(y)[np.abs(y) != 1.0][0]
            raise ValueError(f"y holds {wrong!r}, which is not allowed: the hinge knows -1 and +1")
        own = y > 0.0
        constant, slope = np.where(own, self.margin, 0.0), np.where(own, -1.0, 0.0)
        return Pieces(constant, slope, (y * self.margin)[None], np.ones(1))
