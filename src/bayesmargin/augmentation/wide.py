r"""Further forms of the augmentation sweep: wide, of columns nearly alike, and the shortcut.

With more columns than rows a Gaussian with precision :math:`\Lambda_0 + \Phi^T \Phi` and linear
term :math:`\Lambda_0\mu_0 + \Phi^T\alpha`, where :math:`\Phi` has the rows
:math:`\sqrt{\omega_d}\,x_d`, is drawn by solving a system in the number of rows (Bhattacharya,
Chakraborty and Mallick, 2016): :math:`u \sim N(\mu_0, \Lambda_0^{-1})`,
:math:`\delta \sim N(0, I)`, and

.. math:: w = u + \Lambda_0^{-1}\Phi^T q, \qquad
          (\Phi\Lambda_0^{-1}\Phi^T + I)\,q = \alpha - \Phi u - \delta .

Where columns are nearly alike and the prior is wide, the precision has lost what tells them apart:
:math:`\Phi^T\Phi` squares its numbers. Below the factor :math:`\Lambda_0 = L L^T`, as
:math:`L^T`, the rows :math:`\Phi` have a QR factorisation whose triangle :math:`R` is a factor of
the precision that was never squared; taken along as one column more, :math:`\alpha` becomes the
:math:`z` for which :math:`w = R^{-1}(z + \delta)`.
"""

import numpy as np
from scipy import linalg

from bayesmargin.augmentation.law import gaussian_terms
from bayesmargin.augmentation.mixing import Augmented, GibbsState, GibbsWork, augment
from bayesmargin.augmentation.multiclass import redraw_common, refresh_scores, shrink
from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.types import FloatArray, IntArray

PIECE = 8192  # rows taken into a triangle at a time


@jit
def augment_class(target, state, chosen, rng, work):  # type: ignore[no-untyped-def]
    """Draw the mixing variables of all rows as seen by one class."""
    refresh_scores(target, state, chosen)
    for block in range(state.scores.shape[0]):
        augment(target, state, block, block, chosen, rng, work)


def draw_wide(
    rows: FloatArray,
    omega: FloatArray,
    pull: FloatArray,
    prior_mean: FloatArray,
    prior_precision: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Weights given the mixing variables, at the price of a system in the number of rows."""
    root = np.sqrt(np.maximum(omega, 1e-300))
    factor = rows * root[:, None]
    start = prior_mean + rng.standard_normal(rows.shape[1]) / np.sqrt(prior_precision)
    wanted = pull / root - factor @ start - rng.standard_normal(len(rows))
    narrow = factor / prior_precision
    system = narrow @ factor.T
    system[np.diag_indices_from(system)] += 1.0
    return start + narrow.T @ linalg.solve(system, wanted, assume_a="pos", overwrite_a=True)


def draw_orthogonal(
    rows: FloatArray,
    omega: FloatArray,
    pull: FloatArray,
    precision: FloatArray,
    linear: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """Weights given the mixing variables and the terms of the prior, from rotations of the rows."""
    root = np.sqrt(np.maximum(omega, 1e-300))
    lower = linalg.cholesky(precision, lower=True)
    triangle = np.column_stack([lower.T, linalg.solve_triangular(lower, linear, lower=True)])
    for first in range(0, len(rows), PIECE):
        part = slice(first, first + PIECE)
        scaled = np.column_stack([rows[part] * root[part, None], pull[part] / root[part]])
        triangle = np.asarray(np.linalg.qr(np.vstack([triangle, scaled]), mode="r"))
    size = len(linear)
    wanted = triangle[:size, size] + rng.standard_normal(size)
    return linalg.solve_triangular(triangle[:size, :size], wanted)


def prior_of_class(
    target: Augmented, state: GibbsState, span: slice
) -> tuple[FloatArray, FloatArray]:
    """Precision and linear term of the prior of one class's weights given the others."""
    tilt = target.tilt[span] if target.tilt.size else 0.0
    if target.matrix.size == 0:
        own = state.precision[span]
        return np.diag(own), own * target.mean[span] - tilt
    away = target.mean - state.weights
    away[span] = target.mean[span]
    return target.matrix[span, span], target.matrix[span] @ away - tilt


def sweep_by_rows(
    target: Augmented,
    rows: FloatArray,
    state: GibbsState,
    work: GibbsWork,
    rng: np.random.Generator,
    orthogonal: bool,
) -> None:
    """One sweep over all unknowns, for more columns than rows or for columns nearly alike."""
    shrink(target, state, rng)
    n_rows, size = rows.shape
    for chosen in range(target.n_classes):
        augment_class(target, state, chosen, rng, work)
        span = slice(chosen * size, (chosen + 1) * size)
        omega, pull = work.omega.ravel()[:n_rows], work.pull.ravel()[:n_rows]
        if orthogonal:
            prior = prior_of_class(target, state, span)
            state.weights[span] = draw_orthogonal(rows, omega, pull, *prior, rng)
        else:
            precision = state.precision[span]
            tilt = target.tilt[span] if target.tilt.size else 0.0
            prior = target.mean[span] - tilt / precision, precision
            state.weights[span] = draw_wide(rows, omega, pull, *prior, rng)
        refresh_scores(target, state, chosen)
    if target.n_classes > 1:
        redraw_common(target, state, rng)
    state.clock[0] += 1


def frozen_argmax_sweep(
    label: IntArray,
    cost: FloatArray,
    margin: float,
    rows: FloatArray,
    prior_mean: FloatArray,
    prior_precision: FloatArray,
    weights: FloatArray,
    rng: np.random.Generator,
) -> FloatArray:
    """One step of the shortcut found in the literature, which does NOT sample the posterior.

    It takes the runner-up class of every row at the current weights for granted, augments once and
    draws all classes jointly. The runner-up depends on the weights, so this is no Gibbs step; the
    law it reaches can be far too wide. Kept to reproduce published baselines.
    """
    size = rows.shape[1]
    n_classes = weights.size // size
    scores = rows @ weights.reshape(n_classes, size).T
    place = np.arange(len(rows))
    others = scores.copy()
    others[place, label] = -np.inf
    rival = others.argmax(axis=1)
    slack = margin + scores[place, rival] - scores[place, label]
    mean = 2.0 / np.maximum(cost * np.abs(slack), 1e-12)
    omega, pull = gaussian_terms(0.5 * cost, 1.0, margin, rng.wald(mean, 1.0))
    contrast = np.zeros((len(rows), n_classes))
    contrast[place, label], contrast[place, rival] = 1.0, -1.0
    design = (contrast[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    precision = np.diag(prior_precision) + design.T @ (omega[:, None] * design)
    linear = prior_precision * prior_mean + design.T @ pull
    lower = linalg.cholesky(precision, lower=True)
    centre = linalg.cho_solve((lower, True), linear)
    noise = linalg.solve_triangular(lower, rng.standard_normal(linear.size), lower=True, trans="T")
    return centre + noise
