r"""Radii of rows in components, kept from earlier visits, and how much shorter they can be by now.

The radius :math:`\rho = \sqrt{(x-m)^\top\Psi^{-1}(x-m)}` of a row decides its density. A change of
one member, :math:`\Psi' = \Psi \pm vv^\top`, moves the centre by a known distance :math:`\delta`
and changes the radii of all rows at once, within bounds: with :math:`u = v^\top\Psi^{-1}v`

.. math::

   \text{a row joins: } \rho' \ge \frac{\rho - \delta}{\sqrt{1+u}}, \qquad
   \text{a row leaves: } \rho' \ge \rho - \delta.

Where columns are independent, :math:`\psi_j' = \psi_j \pm v_j^2`, no direction shrinks by more than
that of the largest :math:`u_j = v_j^2/\psi_j`, which then stands for u.

Such affine bounds compose, so two numbers a component (``shrink``) bound every radius that was
ever evaluated in it. A radius is kept (``reach``) as it would have had to be before all changes.
"""

import math

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.infinite_svc.state import Assignment, Components

_ROUNDING = 1.0 - 1e-6  # radii are kept in single precision, rounded to the safe side
_LARGEST = 1e30
_WORN = 1e-12  # a factor below this leaves too few powers of ten between it and the largest


@inner_borrowing_jit
def least_radius(d: int, slot: int, shrink: FloatArray, reach: FloatArray) -> float:
    """Lower bound of the radius of row d in a component."""
    return max(0.0, shrink[slot, 0] * reach[d, slot] - shrink[slot, 1])


@inner_borrowing_jit
def keep_radius(d: int, slot: int, radius: float, shrink: FloatArray, reach: FloatArray) -> None:
    """Keep the radius of row d in a component, if there is room for it."""
    if reach.shape[0] > 0:
        kept = (radius * _ROUNDING + shrink[slot, 1]) / shrink[slot, 0]
        reach[d, slot] = min(kept, _LARGEST)


@inner_borrowing_jit
def shrink_radii(
    shrink: FloatArray, square: float, largest: float, kappa: float, sign: float
) -> None:
    """Account for a row that joins (sign +1.0) or leaves (sign -1.0) a component.

    ``square`` is u, or the sum of all u_j with the ``largest`` of them; ``kappa`` is the strength
    of the centre before.
    """
    factor = 1.0 / math.sqrt(1.0 + largest) if sign > 0 else 1.0
    shrink[0] *= factor
    shrink[1] = factor * (shrink[1] + math.sqrt(max(square, 0.0) / (kappa * (kappa + sign))))


@inner_borrowing_jit
def forget_radii(assignment: Assignment, components: Components, slot: int) -> None:
    """Void the kept radii of a slot: zero bounds nothing."""
    components.shrink[slot, 0] = 1.0
    components.shrink[slot, 1] = 0.0
    if assignment.reach.shape[0] > 0:
        assignment.reach[:, slot] = 0.0


@inner_borrowing_jit
def renew_radii(assignment: Assignment, components: Components) -> None:
    """Take what has worn radii down over many sweeps into the radii themselves.

    Without that a component that many rows have joined would keep no radius any more: they would
    all be beyond the largest.
    """
    reach, shrink = assignment.reach, components.shrink
    for position in range(components.size[0]):
        slot = components.order[position]
        if shrink[slot, 0] < _WORN:
            for d in range(reach.shape[0]):
                reach[d, slot] = _ROUNDING * least_radius(d, slot, shrink, reach)
            shrink[slot, 0] = 1.0
            shrink[slot, 1] = 0.0
