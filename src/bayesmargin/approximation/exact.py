r"""Targets of the exact samplers: every row counts, in double precision.

Inside the ball :math:`|u| \le R` of whitened coordinates a row whose kink is farther than
:math:`R` standard deviations cannot change its state: its slack is
:math:`\mu_d + a_d \cdot u` with :math:`|a_d| = \sigma_d`, and
:math:`|a_d \cdot u| \le R \sigma_d < |\mu_d|` (Cauchy and Schwarz). Such rows are exactly linear
there and enter through the drift alone. They form the second stratum, which is read only at
positions outside the ball, so nothing is approximated.
"""

import numpy as np

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.row_states import row_states
from bayesmargin.approximation.targets import (
    PreparedTarget,
    gathered,
    hinge_of,
    prior_in_weights,
    rows_can_be_whitened,
    whitened_coordinates,
    whitened_rows,
)
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.one_score import BinaryHinge
from bayesmargin.rows.layout import SparseRows
from bayesmargin.targets.coordinates import Identity
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import Strata, Target

ROUNDING = 1e-6  # rows this close to the ball, relatively, still count as inside its reach


def require_finite(problem: Problem) -> None:
    """Raise a clear error when rows, costs or the margin would make the energy NaN or infinite."""
    if not np.isfinite(problem.margin):
        raise ValueError(f"margin={problem.margin!r} is not allowed: it is a finite number")
    if problem.terms is not None and not np.isfinite(problem.terms.level).all():
        raise ValueError("a target is NaN or infinite: impute or drop such rows first")
    bad = np.flatnonzero(~np.isfinite(problem.cost))
    if bad.size:
        raise ValueError(
            f"the cost of row {bad[0]} is {problem.cost[bad[0]]!r}: C and the sample weights must "
            "be finite"
        )
    for span, values in problem.source.blocks():
        if isinstance(values, SparseRows):
            continue  # sparse matrices are checked where they come in
        finite = np.isfinite(values).all(axis=1)
        if not finite.all():
            row = span.start + int(np.argmin(finite))
            raise ValueError(
                f"row {row} holds NaN or infinity, so the energy of the target is not a number: "
                "impute or drop such rows first"
            )


def complete_target(problem: Problem, index: IntArray | None = None) -> PreparedTarget:
    """All rows in raw coordinates, with no reference: the definition of the posterior itself."""
    if index is None:
        index = np.arange(problem.source.n_rows)
    rows = gathered(problem, index, float)
    size = np.array([index.size], dtype=np.int64)
    target = Target(
        rows=rows,
        hinge=hinge_of(problem, index, None, False),
        prior=prior_in_weights(problem.prior, problem.n_weights),
        coordinates=Identity(),
        strata=Strata(np.concatenate([[0], size]).astype(np.int64), size),
        drift=problem.tilt,
    )
    return PreparedTarget(target, Identity(), 0.0, index.size)


def exact_target(problem: Problem, anchor: GaussianAnchor, radius: float) -> PreparedTarget:
    """All rows in the coordinates of an anchor; those in reach of the ball come first."""
    states = row_states(problem, anchor)
    near = np.abs(states.distance) <= radius * (1.0 + ROUNDING)
    index = np.concatenate([np.flatnonzero(near), np.flatnonzero(~near)])
    start = np.array([0, int(near.sum()), index.size], dtype=np.int64)
    strata = Strata(start, np.diff(start))
    states = states.ordered(index)
    if rows_can_be_whitened(problem, anchor):
        hinge = hinge_of(problem, index, states, centred=True)
        assert isinstance(hinge, BinaryHinge)
        whitened = whitened_rows(
            problem, anchor, index, hinge, strata, states.drift, 0.0, row_type=np.float64
        )
        target = whitened.target._replace(reach=radius)
        return PreparedTarget(target, whitened.coordinates, 0.0, int(start[1]))
    coordinates = whitened_coordinates(anchor)
    target = Target(
        rows=gathered(problem, index, float),
        hinge=hinge_of(problem, index, states, centred=False),
        prior=prior_in_weights(problem.prior, problem.n_weights),
        coordinates=coordinates,
        strata=strata,
        drift=states.drift,
        reach=radius,
    )
    return PreparedTarget(target, coordinates, 0.0, int(start[1]))


def safe_radius(n_weights: int) -> float:
    """Radius that a standard normal position of ``n_weights`` coordinates hardly ever leaves."""
    return float(np.sqrt(n_weights) + 4.0)


def unit_anchor(factor: FloatArray) -> GaussianAnchor:
    """Anchor at the origin, which makes ``weights = factor @ position``."""
    return GaussianAnchor(np.zeros(factor.shape[-1]), np.ascontiguousarray(factor))
