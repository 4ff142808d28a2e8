r"""Augmentation Gibbs sampling: the hinge as a mixture of Gaussians, exact.

From :math:`e^{-c(\zeta)_+} = \int_0^\infty (2\pi\lambda)^{-1/2}
e^{-(\lambda + c\zeta/2)^2/(2\lambda)}\,d\lambda` a sweep alternates, with
:math:`\zeta_d = b_d(\rho_d - w \cdot x_d)`,

.. math:: 1/\lambda_d &\sim IG(2/(c_d|\zeta_d|), 1), \qquad \omega_d = c_d^2/(4\lambda_d), \\
          w &\sim N(P^{-1} v, P^{-1}), \quad P = \Lambda_0 + \sum_d \omega_d x_d x_d^T, \quad
          v = \Lambda_0\mu_0 + \sum_d (\tfrac{c_d}{2} b_d + \omega_d\rho_d)\,x_d .

Binary: :math:`b_d = y_d` and :math:`\rho_d = y_d \ell`. Multi-class: as a function of the weights
of one class, the others fixed, the hinge has the same form (:func:`class_law`), so the classes are
drawn one after another, each with fresh :math:`\lambda`; then the component common to all classes,
which the labels do not see, is redrawn from its exact conditional. A Laplace prior is a scale
mixture as well: :math:`1/\tau_j \sim IG(1/(b|w_j|), 1/b^2)` replaces the diagonal of
:math:`\Lambda_0`.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.compiling import inner_borrowing_jit, inner_jit, jit
from bayesmargin.random import augmentation_mean, inverse_gaussian, inverse_gaussian_from
from bayesmargin.samplers.augmentation_blocks import (
    Blocks,
    add_gram,
    add_heavy_rows,
    block_scores,
    scale_columns,
)
from bayesmargin.samplers.augmentation_variates import WORDS, fill_variates
from bayesmargin.types import FloatArray, IntArray

_HALF = np.float32(0.5)


class Augmented(NamedTuple):
    """What a sweep reads: ``n_classes`` is 1 for two classes, whose ``label`` is then -1 or +1.

    The prior has the diagonal precision ``state.precision``, unless ``matrix`` is not empty;
    ``inverse_scale`` is empty unless it is Laplace. ``heavy`` is the largest ``1/lambda`` that is
    added up in the precision of the blocks.
    """

    blocks: Blocks
    label: IntArray
    cost: FloatArray
    heavy: float
    margin: float
    n_classes: int
    mean: FloatArray
    matrix: FloatArray
    inverse_scale: FloatArray


class GibbsState(NamedTuple):
    """Weights, classes one after another; prior precisions; scores (block, class, row); sweeps.

    ``lanes`` are the generators of :mod:`~bayesmargin.samplers.augmentation_variates`.
    """

    weights: FloatArray
    precision: FloatArray
    scores: FloatArray
    lanes: IntArray
    clock: IntArray


class GibbsWork(NamedTuple):
    """Scratch arrays of one chain."""

    side: FloatArray
    level: FloatArray
    bits: IntArray
    square: FloatArray
    uniform: FloatArray
    omega: FloatArray
    pull: FloatArray
    root: FloatArray
    scaled: FloatArray
    product: FloatArray
    gram: FloatArray
    linear: FloatArray


def gibbs_work(target: Augmented) -> GibbsWork:
    """Scratch arrays for one chain over ``target``."""
    count, padded, size = target.blocks.values.shape
    dtype = target.blocks.values.dtype
    return GibbsWork(
        side=np.zeros(size, dtype),
        level=np.zeros(size, dtype),
        bits=np.zeros((WORDS, -(-size // 2)), np.uint32),
        square=np.zeros(size, dtype),
        uniform=np.zeros(size, dtype),
        omega=np.zeros((count, size), dtype),
        pull=np.zeros((count, size), dtype),
        root=np.zeros(size, dtype),
        scaled=np.zeros((padded, size), dtype),
        product=np.zeros((padded, padded), dtype),
        gram=np.zeros((padded, padded)),
        linear=np.zeros(target.blocks.n_columns),
    )


@inner_borrowing_jit
def binary_law(label, margin, side, level):  # type: ignore[no-untyped-def]
    r"""Write :math:`b_d` and :math:`\rho_d` of a block for two classes."""
    real = level.dtype.type
    size = real(margin)
    for k in range(side.shape[0]):
        sign = real(label[k])
        side[k] = sign
        level[k] = sign * size


@inner_borrowing_jit
def class_law(target, scores, block, chosen, side, level):  # type: ignore[no-untyped-def]
    r"""Write :math:`b_d` and :math:`\rho_d` of a block, as seen by the weights of class ``chosen``.

    Of another class's row the hinge is a constant plus :math:`(w \cdot x - \rho)_+` with
    :math:`\rho = s_y - \ell + (\ell + \max_{k \ne y, chosen} s_k - s_y)_+`.
    """
    if target.n_classes == 1:
        binary_law(target.label[block], target.margin, side, level)
        return
    for k in range(side.shape[0]):
        label = target.label[block, k]
        best = -np.inf
        for other in range(target.n_classes):
            if other != label and other != chosen:
                best = max(best, scores[other, k])
        if label == chosen:
            side[k] = 1.0
            level[k] = target.margin + best
        else:
            own = scores[label, k]
            side[k] = -1.0
            level[k] = own - target.margin + max(0.0, target.margin + best - own)


@inner_borrowing_jit
def augment(target, state, block, place, chosen, rng, work):  # type: ignore[no-untyped-def]
    """Draw the mixing variables of a block into ``work.omega[place]`` and ``work.pull[place]``."""
    scores, cost = state.scores[block], target.cost[block]
    class_law(target, scores, block, chosen, work.side, work.level)
    square, uniform = work.square, work.uniform
    side, level, score = work.side, work.level, scores[chosen]
    omega, pull = work.omega[place], work.pull[place]
    fill_variates(state.lanes, rng, work.bits, square, uniform)
    for k in range(square.shape[0]):
        half = _HALF * cost[k]
        mean = augmentation_mean(cost[k], level[k] - score[k])
        omega[k] = half * half * inverse_gaussian_from(square[k], uniform[k], mean)
        pull[k] = half * side[k] + omega[k] * level[k]


@inner_borrowing_jit
def accumulate(target, block, place, work):  # type: ignore[no-untyped-def]
    """Add a block to the Gram matrix and, beside it, to the linear term.

    Its mixing variables are in the given place: of the joint form only those of one block are kept.
    """
    values, size, cost = target.blocks.values[block], target.blocks.n_columns, target.cost[block]
    omega, pull, heavy = work.omega[place], work.pull[place], cost.dtype.type(target.heavy)
    n_heavy = scale_columns(values, size, omega, pull, cost, heavy, work.root, work.scaled)
    add_gram(work.scaled, work.product, work.gram)
    if n_heavy:
        add_heavy_rows(values, size, omega, pull, cost, heavy, work.gram)


@inner_borrowing_jit
def add_blocks(target, state, weights, chosen, rng, work):  # type: ignore[no-untyped-def]
    """Add all blocks to the Gram matrix, with fresh mixing variables given the weights."""
    for block in range(state.scores.shape[0]):
        block_scores(target.blocks.values[block], weights, state.scores[block, chosen])
        augment(target, state, block, 0, chosen, rng, work)
        accumulate(target, block, 0, work)


@inner_jit
def draw_gaussian(precision, linear, rng, out):  # type: ignore[no-untyped-def]
    """Draw from ``N(P^-1 v, P^-1)`` with the lower triangle of ``P`` given."""
    size = out.shape[0]
    lower = np.linalg.cholesky(precision)
    for i in range(size):
        total = linear[i]
        for j in range(i):
            total -= lower[i, j] * out[j]
        out[i] = total / lower[i, i]
    for i in range(size):
        out[i] += rng.standard_normal()
    for i in range(size - 1, -1, -1):
        out[i] /= lower[i, i]
        for j in range(i):
            out[j] -= lower[i, j] * out[i]


@inner_borrowing_jit
def prior_terms(target, state, chosen, work):  # type: ignore[no-untyped-def]
    """Start ``work.gram`` and ``work.linear`` with the prior of one class given the others."""
    size = target.blocks.n_columns
    first = chosen * size
    work.gram[:] = 0.0
    for j in range(size):
        if target.matrix.shape[0] == 0:
            precision = state.precision[first + j]
            work.gram[j, j] = precision
            work.linear[j] = precision * target.mean[first + j]
            continue
        row = target.matrix[first + j]
        total = 0.0
        for i in range(row.shape[0]):
            inside = first <= i < first + size
            total += row[i] * (target.mean[i] if inside else target.mean[i] - state.weights[i])
            if inside and i >= first + j:
                work.gram[j, i - first] = row[i]
        work.linear[j] = total


@jit
def shrink(target, state, rng):  # type: ignore[no-untyped-def]
    """Draw the prior precisions of a Laplace prior given the weights."""
    for j in range(target.inverse_scale.shape[0]):
        inverse = target.inverse_scale[j]
        mean = inverse / max(abs(state.weights[j]), 1e-150)
        state.precision[j] = inverse_gaussian(rng, mean, inverse * inverse)


@jit
def refresh_scores(target, state, chosen):  # type: ignore[no-untyped-def]
    """Scores of one class for all rows."""
    size = target.blocks.n_columns
    weights = state.weights[chosen * size : (chosen + 1) * size]
    for block in range(state.scores.shape[0]):
        block_scores(target.blocks.values[block], weights, state.scores[block, chosen])


@inner_jit
def draw_class(target, state, chosen, rng, work):  # type: ignore[no-untyped-def]
    """Draw the weights of one class jointly, from a Gram matrix over all rows."""
    size = target.blocks.n_columns
    prior_terms(target, state, chosen, work)
    weights = state.weights[chosen * size : (chosen + 1) * size]
    add_blocks(target, state, weights, chosen, rng, work)
    for i in range(size):
        work.linear[i] += work.gram[i, size]
        for j in range(i):
            work.gram[i, j] = work.gram[j, i]
    draw_gaussian(work.gram[:size, :size].copy(), work.linear, rng, weights)
    if target.n_classes > 1:
        refresh_scores(target, state, chosen)


@inner_jit
def draw_class_by_coordinate(target, state, chosen, rng, work):  # type: ignore[no-untyped-def]
    """Draw the weights of one class one at a time given the mixing variables, in O(rows) each."""
    size = target.blocks.n_columns
    prior_terms(target, state, chosen, work)
    refresh_scores(target, state, chosen)
    for block in range(state.scores.shape[0]):
        augment(target, state, block, block, chosen, rng, work)
    for j in range(size):
        place = chosen * size + j
        precision, linear = work.gram[j, j], work.linear[j]
        before = state.weights[place]
        for i in range(size):
            if i != j and target.matrix.shape[0] > 0:
                linear -= target.matrix[place, chosen * size + i] * state.weights[chosen * size + i]
        for block in range(state.scores.shape[0]):
            column = target.blocks.values[block, j]
            score = state.scores[block, chosen]
            omega, pull = work.omega[block], work.pull[block]
            for k in range(column.shape[0]):
                precision += omega[k] * column[k] * column[k]
                linear += column[k] * (pull[k] - omega[k] * (score[k] - before * column[k]))
        after = linear / precision + rng.standard_normal() / math.sqrt(precision)
        state.weights[place] = after
        for block in range(state.scores.shape[0]):
            column, score = target.blocks.values[block, j], state.scores[block, chosen]
            for k in range(column.shape[0]):
                score[k] += (after - before) * column[k]


@jit
def redraw_common(target, state, rng):  # type: ignore[no-untyped-def]
    r"""Redraw what is common to all classes, which the likelihood does not see.

    The shift :math:`m` added to every class has the Gaussian conditional of precision
    :math:`\sum_{kl} \Lambda_{kl}` and linear term :math:`-\sum_k [\Lambda(w - \mu_0)]_k`.
    """
    size = target.blocks.n_columns
    precision, linear, shift = np.zeros((size, size)), np.zeros(size), np.zeros(size)
    n_weights = state.weights.shape[0]
    for i in range(n_weights):
        if target.matrix.shape[0] == 0:
            precision[i % size, i % size] += state.precision[i]
            linear[i % size] -= state.precision[i] * (state.weights[i] - target.mean[i])
        else:
            for j in range(n_weights):
                precision[i % size, j % size] += target.matrix[i, j]
                linear[i % size] -= target.matrix[i, j] * (state.weights[j] - target.mean[j])
    draw_gaussian(precision, linear, rng, shift)
    for i in range(n_weights):
        state.weights[i] += shift[i % size]
    for k in range(target.n_classes):
        refresh_scores(target, state, k)


@inner_jit
def sweep(target, state, rng, work, by_coordinate):  # type: ignore[no-untyped-def]
    """One sweep over all unknowns."""
    shrink(target, state, rng)
    for chosen in range(target.n_classes):
        if by_coordinate:
            draw_class_by_coordinate(target, state, chosen, rng, work)
        else:
            draw_class(target, state, chosen, rng, work)
    if target.n_classes > 1:
        redraw_common(target, state, rng)
    state.clock[0] += 1


@jit
def record_sweeps(target, state, rng, work, by_coordinate, thin, draws):  # type: ignore[no-untyped-def]
    """Make ``len(draws)`` draws, ``thin`` sweeps apart."""
    for k in range(draws.shape[0]):
        for _ in range(thin):
            sweep(target, state, rng, work, by_coordinate)
        draws[k] = state.weights
