r"""Centre and covariance of intervals that cover: the minimiser and its sandwich.

The hinge is a pseudo-likelihood. Its posterior says how far weights are determined by rows that
count :math:`C` each, and a frequency is nothing it knows. What further samples of the same size
would give is the law of the minimiser: with the Hessian :math:`H` of the expected energy, the
precision :math:`\Lambda` of the prior and the covariance :math:`J` of the summed subgradients
(:mod:`bayesmargin.uncertainty.scatter`)

.. math:: V = H^{-1} (J + \Lambda)\, H^{-1} .

:math:`\Lambda` stands beside :math:`J` because the prior, too, is off by a random amount: weights
of which the rows say nothing keep the width of the prior, and where the rows say much it is
negligible. :math:`C` cancels but for that.

A density of kinks has to be smoothed to be seen. The posterior's own width, which goes with
:math:`C`, is a poor ruler for that; here slacks are smoothed by the law that is sought,
:math:`N(\hat w, V)`, in turn. The centre is smoothed less: smoothing moves it. And it makes
curvature of what is rare too large, where densities rise away from the kink. Of what the square of
the width adds twice the Hessian less the one at :math:`2V` is free, which is what counts at last.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.newton import inverse_factor
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import Belief, LaplaceBelief
from bayesmargin.targets.problem import Problem
from bayesmargin.uncertainty.one_score import RoundRows
from bayesmargin.uncertainty.scatter import Sample, Several

ROUNDS = 30
SETTLED = 0.01  # root mean square of a change of the centre in standard deviations
SHARPER = 0.4  # deviations at which the centre is smoothed, in those of the sandwich
WIDER = np.sqrt(2.0)  # likewise, of the Hessian that corrects the other
LONGEST = 2.0  # a step, likewise
LEAST = 0.4  # of the Hessian's part in any direction that its correction leaves
FEWEST = 2.0  # active rows for each weight, below which the rows do not bound the minimiser


@dataclass(frozen=True)
class Sandwich:
    """Centre and covariance, and what speaks against relying on them."""

    centre: FloatArray
    covariance: FloatArray
    doubts: str


def sandwich(
    problem: Problem,
    number: FloatArray,
    start: GaussianAnchor,
    doubt: FloatArray | None = None,
    groups: IntArray | None = None,
) -> Sandwich:
    """Law of the minimiser over samples like this one.

    Parameters
    ----------
    problem : Problem
        Two classes, or several under one hinge.
    number : array of shape (n_rows,)
        Rows that each row stands for.
    start : GaussianAnchor
        Mean and factor of the posterior.
    doubt : array, optional
        What stands beside ``J`` in place of the prior's precision.
    groups : array of shape (n_rows,), optional
        Numbers of the groups of rows that belong together.
    """
    own = _information(problem.prior, problem.n_weights) if doubt is None else doubt
    times = problem.source.n_rows // len(number)  # terms of a row, of which one slope is not zero
    together = groups if groups is None else np.tile(groups, times)
    sample = Sample(problem, np.tile(number, times), together)
    rows = RoundRows(sample, start) if problem.is_binary else Several(sample)
    anchor, active, steps = start, 0.0, np.inf
    for turn in range(ROUNDS):
        seen = rows.under(anchor)
        sharper = SHARPER**2 * anchor.variances()
        slope = seen.slope(SHARPER) + problem.prior.expectation(anchor.mean, sharper)[1]
        factor, _ = inverse_factor(_with_prior(problem, anchor, seen.hessian()))
        inverse = factor @ factor.T
        spread, active = seen.scatter(inverse)
        wanted = inverse @ (spread + own) @ inverse
        before = anchor.factor @ anchor.factor.T
        if turn:  # where few kinks are near, the width would go up and down
            wanted = 0.5 * (wanted + before)
        root = _root(wanted)
        step = -inverse @ slope
        length = np.sqrt(np.mean(linalg.solve_triangular(root, step, lower=True) ** 2))
        steps = min(1.0, LONGEST / max(length, 1e-300)) * length
        anchor = GaussianAnchor(anchor.mean + steps / max(length, 1e-300) * step, root)
        change = np.abs(np.log(np.diag(wanted) / np.diag(before))).max()
        if turn > 1 and steps < SETTLED and change < 5.0 * SETTLED:
            break
    seen = rows.under(anchor)
    factor, _ = inverse_factor(_sharper_hessian(problem, anchor, seen))
    inverse = factor @ factor.T
    spread, active = seen.scatter(inverse)
    covariance = inverse @ (spread + own) @ inverse
    return Sandwich(anchor.mean, covariance, _doubts(problem, active, steps))


def _doubts(problem: Problem, active: float, last: float) -> str:
    """Why the law may be none."""
    columns = problem.source.n_columns * max(1, problem.n_blocks - 1)
    if active < FEWEST * columns and problem.terms is not None:
        return (
            f"only {active:.0f} values lie beyond the line on its rarer side, or outside the tube, "
            f"for {columns} weights: they hardly say where it runs"
        )
    if active < FEWEST * columns:
        return (
            f"only {active:.0f} rows reach into the margin, for {columns} weights: classes are "
            "separable or nearly so, and it is the prior that keeps the weights finite"
        )
    if last > 10.0 * SETTLED:
        return (
            "the minimum has no smooth neighbourhood: where a class is rare or hardly told from "
            "the others, the margin lies on all rows of the others at once"
        )
    return ""


def _information(prior: Belief, size: int) -> FloatArray:
    """Expected square of the slope of the log prior."""
    if isinstance(prior, LaplaceBelief):
        return np.diag(np.broadcast_to(prior.scale, (size,)) ** -2.0)
    return np.diag(prior.precision) if prior.precision.ndim == 1 else prior.precision


def _root(covariance: FloatArray) -> FloatArray:
    """Triangular root; a ``LinAlgError`` where rounding has left a variance that is none."""
    variances = np.diag(covariance)
    if not variances.min() > 0.0:
        raise linalg.LinAlgError(f"a variance of {variances.min():.3g} is not positive")
    scale = np.sqrt(variances)
    unit = covariance / np.outer(scale, scale) + 1e-10 * np.eye(len(scale))
    lower: FloatArray = scale[:, None] * linalg.cholesky(unit, lower=True)
    return lower


def _with_prior(problem: Problem, anchor: GaussianAnchor, hessian: FloatArray) -> FloatArray:
    """Hessian of the expected energy, from that of its hinges."""
    _, _, own = problem.prior.expectation(anchor.mean, anchor.variances())
    result: FloatArray = hessian + (np.diag(own) if own.ndim == 1 else own)
    return result


def _sharper_hessian(problem: Problem, anchor: GaussianAnchor, seen: Any) -> FloatArray:
    """The Hessian with a kernel of the fourth order, never far from that of the second."""
    near = _with_prior(problem, anchor, seen.hessian())
    wide = _with_prior(problem, replace(anchor, factor=WIDER * anchor.factor), seen.hessian(WIDER))
    root = linalg.cholesky(near, lower=True)
    relative = linalg.solve_triangular(root, wide, lower=True)
    relative = linalg.solve_triangular(root, relative.T, lower=True)
    values, axes = linalg.eigh(0.5 * (relative + relative.T))
    moved = root @ axes
    sharper: FloatArray = (moved * np.clip(2.0 - values, LEAST, 1.0 / LEAST)) @ moved.T
    return sharper
