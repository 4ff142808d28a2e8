r"""What compiled code asks of a likelihood: the rows whose piece is not that of the reference.

A log pseudo-likelihood here is concave and piecewise linear in a few scores of its row, so that a
row is on one of its *pieces*, and its state is the number of that piece. Every family of such
functions is a NamedTuple with the facts of its rows and the two bodies below.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.pieces import Pieces


class OneScore(ABC):
    r"""A likelihood of one score a row, :math:`\psi = e^{-c\,\phi(s, y)}` with a convex loss.

    Derive from it to write one's own: :meth:`pieces` is all there is to say, and no code is
    compiled for it.

    Examples
    --------
    Demand that is met late costs three times what is bought too early, whatever the amount:

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from bayesmargin.likelihoods import OneScore, Pieces
    >>> @dataclass(frozen=True)
    ... class Demand(OneScore):
    ...     def pieces(self, y):
    ...         return Pieces(3.0 * y, -3.0, y[None], np.array([4.0]))
    >>> Demand().loss(np.array([10.0, 10.0]), np.array([9.0, 11.0]))
    array([3., 1.])
    """

    @abstractmethod
    def pieces(self, y: FloatArray) -> Pieces:
        """Kinks, slopes and constants of the rows whose targets are ``y``."""

    def loss(self, y: FloatArray, score: FloatArray) -> FloatArray:
        """Loss of rows with targets ``y`` at their scores."""
        return self.pieces(np.asarray(y, dtype=float)).value(np.asarray(score, dtype=float))


def add_rows(
    hinge: Any, rows: Any, block: tuple[int, int, int, int], scale: float, work: Any
) -> float:
    """Add ``scale`` times the change of some rows' energy gradient to ``work.data`` (generic).

    Returns ``scale`` times the energy that belongs to it: the hinge minus the linear function that
    continues it from the reference, which is zero for every row whose state has not changed.

    ``block`` is ``(first, size, index, count)``: from the stratum of ``size`` rows that begins at
    ``first``, the ``count`` rows from ``index`` on, round the end. Whole blocks and not single rows
    cross this interface, since handing over arrays costs as much as a short inner product.
    """
    raise TypeError(f"{type(hinge).__name__} is not a hinge")


def row_log_psi(hinge: Any, rows: Any, index: int, weights: FloatArray, work: Any) -> float:
    """Log pseudo-likelihood of one row at weights in working precision (generic)."""
    raise TypeError(f"{type(hinge).__name__} is not a hinge")
