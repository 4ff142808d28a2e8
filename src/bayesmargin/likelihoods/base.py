r"""What compiled code asks of a likelihood: the rows whose piece is not that of the reference.

A log pseudo-likelihood here is concave and piecewise linear in a few scores of its row, so that a
row is on one of its *pieces*, and its state is the number of that piece. Every family of such
functions is a NamedTuple with the facts of its rows and the two bodies below.
"""

from typing import Any

from bayesmargin.foundation.types import FloatArray


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
