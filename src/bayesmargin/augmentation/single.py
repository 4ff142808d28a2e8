r"""Which precision the augmentation sweep needs: single where it changes nothing.

A sweep takes half the time in single precision: its matrix products, and the mixing variables,
which are made of 32 random bits each (:mod:`bayesmargin.augmentation.variates`). Rounding
the rows and the sums over a block changes the precision matrix :math:`P` of the weights to
:math:`P + E`. What matters is :math:`E` beside :math:`P`: with :math:`P = LL^T`, no variance of a
draw changes by more than the norm of :math:`L^{-1} E L^{-T}`. :func:`loss_in_single` measures that
norm at mixing variables of one, and :func:`single_is_enough` asks for less than
:data:`LARGEST_LOSS`, which no Monte Carlo estimate of fewer than :math:`10^{10}` draws could see.
Nearly collinear columns, or columns with a mean far above their spread, fail this test and stay in
double precision.

The mixing variables have heavy tails: now and then a row close to its kink gets
:math:`1/\lambda` of millions, and its rounding would drown the others in its block. Rows with
:math:`1/\lambda` above :data:`HEAVY` (about one in a thousand) are therefore added up in double
precision.

Double precision does not always suffice either. Where a column is a sum of others but for one part
in :math:`10^9`, and the prior is too wide to tell them apart, a Cholesky factorisation of :math:`P`
has lost the digits that matter (:func:`loses_digits`).
"""

from typing import Any

import numpy as np
from scipy import linalg

from bayesmargin.augmentation.blocks import Blocks, blocked
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.targets.problem import Problem

HEAVY = 1e3
LARGEST_LOSS = 1e-5
SMALLEST_PIVOT = 1e-9  # of a unit diagonal; mixing variables of millions take six digits more
WORTHWHILE = 100_000  # numbers in the rows below which the choice is not worth its pass


def in_single(blocks: Blocks) -> Blocks:
    """The same rows in single precision."""
    return blocks._replace(values=blocks.values.astype(np.float32))


def heavy_limit(blocks: Blocks) -> float:
    r"""Largest :math:`1/\lambda` that the blocks' precision adds up."""
    return 1e300 if blocks.values.dtype == np.float64 else HEAVY


def _precision_of_rows(problem: Problem, blocks: Blocks, real: Any) -> FloatArray:
    """Precision that the rows give the weights of a class at mixing variables of one."""
    total = np.zeros((blocks.n_columns, blocks.n_columns))
    root = 0.5 * blocked(blocks, problem.cost.astype(float))
    for values, scale in zip(blocks.values, root, strict=True):
        scaled = values[: blocks.n_columns].astype(real, copy=False) * scale.astype(real)
        total += scaled @ scaled.T
    return total


def loses_digits(problem: Problem, blocks: Blocks) -> bool:
    """Whether a column is so nearly a sum of others that a Gram matrix cannot tell."""
    precision = _precision_of_rows(problem, blocks, np.float64)
    diagonal = np.arange(len(precision))
    precision[diagonal, diagonal] += _least_precision(problem)
    scale = 1.0 / np.sqrt(precision[diagonal, diagonal])
    try:
        factor = linalg.cholesky(precision * scale[:, None] * scale, lower=True)
    except linalg.LinAlgError:
        return True
    return bool(factor[diagonal, diagonal].min() ** 2 < SMALLEST_PIVOT)


def loss_in_single(problem: Problem, blocks: Blocks) -> float:
    r"""Norm of :math:`L^{-1} E L^{-T}`, a bound on relative errors of the weights' variances."""
    exact = _precision_of_rows(problem, blocks, np.float64)
    error = _precision_of_rows(problem, blocks, np.float32) - exact
    if not np.isfinite(error).all():
        return np.inf
    diagonal = np.arange(len(exact))
    exact[diagonal, diagonal] += _least_precision(problem)
    try:
        factor = linalg.cholesky(exact, lower=True)
    except linalg.LinAlgError:
        return np.inf
    half = linalg.solve_triangular(factor, error, lower=True)
    return float(np.linalg.norm(linalg.solve_triangular(factor, half.T, lower=True)))


def _least_precision(problem: Problem) -> float:
    """Smallest precision of the prior, the same for all weights."""
    prior = problem.prior
    if not isinstance(prior, GaussianBelief):
        return float(np.min(1.0 / np.asarray(prior.scale) ** 2))
    if prior.precision.ndim == 1:
        return float(prior.precision.min())
    return float(np.linalg.eigvalsh(prior.precision)[0])


def single_is_enough(problem: Problem, blocks: Blocks) -> bool:
    """Whether a large problem can be swept in single precision without a visible change."""
    if blocks.n_rows * blocks.n_columns < WORTHWHILE:
        return False
    with np.errstate(over="ignore"):
        return loss_in_single(problem, blocks) <= LARGEST_LOSS
