r"""Smoothed hinges, and how far the smoothed posterior can be from the exact one.

The kinks of the posterior lie on hyperplanes in the weights, so it is the *scalar* hinge that is
smoothed, on :math:`|u| < e`, and left alone outside:

.. math:: C^1:\; \phi_e(u) = \frac{(u+e)^2}{4e}, \qquad
          C^2:\; \phi_e(u) = \frac{3e}{16} + \frac{u}{2} + \frac{3u^2}{8e} - \frac{u^4}{16e^3} .

Both lie above the hinge, by at most :math:`e/4` and :math:`3e/16`, which they reach at the kink.
The samplers of this package need no smoothing; it serves comparisons and gradient-based tools that
do.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.arguments import require_positive
from bayesmargin.foundation.types import FloatArray
from bayesmargin.targets.problem import Problem, slacks

LARGEST_GAP = {1: 0.25, 2: 3.0 / 16.0}  # times the half width


def _checked(width: float, order: int) -> None:
    require_positive(width=width)
    if order not in LARGEST_GAP:
        raise ValueError(f"order={order!r} is not allowed: choose 1 (C1) or 2 (C2)")


def smoothed_hinge(slack: FloatArray, width: float, order: int = 2) -> FloatArray:
    """Hinge smoothed on ``|slack| < width``; ``order`` 1 or 2 counts continuous derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.validation.smoothing import smoothed_hinge
    >>> smoothed_hinge(np.array([-1.0, 0.0, 1.0]), width=0.4, order=1)
    array([0. , 0.1, 1. ])
    """
    _checked(width, order)
    u = np.asarray(slack, dtype=float)
    if order == 1:
        inside = (u + width) ** 2 / (4.0 * width)
    else:
        inside = 3.0 * width / 16.0 + u / 2.0 + 3.0 * u**2 / (8.0 * width)
        inside -= u**4 / (16.0 * width**3)
    return np.where(np.abs(u) < width, inside, np.maximum(u, 0.0))


def smoothed_slope(slack: FloatArray, width: float, order: int = 2) -> FloatArray:
    """Derivative of :func:`smoothed_hinge` in the slack."""
    _checked(width, order)
    u = np.asarray(slack, dtype=float)
    if order == 1:
        inside = (u + width) / (2.0 * width)
    else:
        inside = 0.5 + 3.0 * u / (4.0 * width) - u**3 / (4.0 * width**3)
    return np.where(np.abs(u) < width, inside, np.where(u > 0.0, 1.0, 0.0))


class SmoothingReport(NamedTuple):
    """Bounds of the total variation between the exact and the smoothed posterior.

    ``crude`` holds for any data; ``bound`` uses draws of the exact posterior, is usually far
    smaller, and has the Monte Carlo ``error``; ``rows_smoothed`` is the mean number of rows whose
    hinge a draw sees smoothed.
    """

    crude: float
    bound: float
    error: float
    rows_smoothed: float


def smoothing_report(
    problem: Problem, weights: FloatArray, width: float, order: int = 2
) -> SmoothingReport:
    r"""How far smoothing with half width ``width`` can move the posterior of ``problem``.

    With :math:`\Delta(w) = \sum_d c_d [\phi_e(\zeta_d) - (\zeta_d)_+] \ge 0` the smoothed density
    is the exact one times :math:`r = e^{-\Delta} \le 1`, normalised by :math:`E r`. Its total
    variation is :math:`E(1 - r/E r)_+ \le 1 - E r`, and, as :math:`\Delta \le c D e/4` (C1) or
    :math:`3cDe/16` (C2), also at most :math:`1 - e^{-cDe/4}`.

    Parameters
    ----------
    problem : Problem
        The posterior.
    weights : array of shape (n_draws, n_weights)
        Draws of the exact posterior, nearly independent.
    width : float
        Half width :math:`e` of the smoothing.
    order : {1, 2}
        Continuous derivatives of the smoothed hinge.
    """
    _checked(width, order)
    slack = slacks(problem, weights)
    gap = smoothed_hinge(slack, width, order) - np.maximum(slack, 0.0)
    ratio = np.exp(-(gap @ problem.cost))
    crude = -np.expm1(-LARGEST_GAP[order] * width * problem.cost.sum())
    return SmoothingReport(
        crude=float(crude),
        bound=float(1.0 - ratio.mean()),
        error=float(ratio.std() / np.sqrt(len(ratio))),
        rows_smoothed=float((np.abs(slack) < width).sum(axis=1).mean()),
    )
