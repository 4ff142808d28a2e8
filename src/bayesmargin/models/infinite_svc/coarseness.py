r"""How coarse the kinks of an expert are, and how long a step they allow.

When a row changes the state of its hinge the force jumps by :math:`c\,|W x_d|` in whitened
coordinates (:math:`\sqrt2` times that where two weight vectors meet in it). Many rows share the
curvature of a large component; their jumps are small and the energy is as good as smooth. In a
component of few rows a single one bends the energy, and a step h cuts the corner: rows then fit
their expert too badly, by about :math:`0.08\,(hJ)^2` of their mean loss, J the root mean square of
the jumps (measured with 1 to 64 rows of 22 features and 2, 3 and 20 classes).
"""

import math

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.infinite_svc.state import Hinge

#: Shortest step that coarse kinks may lead to, as a share of the longest: weights must move.
_SHORTEST = 0.2


@inner_borrowing_jit
def force_jump(hinge: Hinge, square: float, vectors: int) -> float:
    """Jump of the force for a mean ``square`` of whitened rows."""
    return hinge.cost * math.sqrt(square if vectors == 1 else 2.0 * square)


@inner_borrowing_jit
def mean_whitened_square(whitener: FloatArray, curvature: float, scale: float, count: int) -> float:
    r"""Mean of :math:`|W x_d|^2` over the rows that the whitener W was made from.

    :math:`W (I/s^2 + \kappa G) W^\top = I` gives the trace of :math:`W G W^\top`.
    """
    size = whitener.shape[0]
    total = 0.0
    for i in range(size):
        for j in range(i + 1):
            total += whitener[i, j] * whitener[i, j]
    return max(size - total / (scale * scale), 0.0) / (curvature * count)


@inner_borrowing_jit
def gentle_step(step: float, kick: float, jump: float) -> float:
    """Step in which one row changes the momentum by no more than ``kick``; not all too short."""
    return step if step * jump <= kick else max(kick / jump, _SHORTEST * step)
