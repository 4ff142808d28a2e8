r"""The mixing variables of augmentation Gibbs, and what a sweep of it reads and keeps.

Given the weights, :math:`1/\lambda_d \sim IG(2/(c_d|\zeta_d|), 1)` row by row; a block of rows then
adds :math:`\omega_d x_d x_d^T` to the precision of the weights, and :math:`(\tfrac{c_d}{2} b_d +
\omega_d\rho_d)\,x_d` to their linear term. :mod:`bayesmargin.augmentation.multiclass` explains the
letters.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.augmentation.blocks import (
    Blocks,
    add_gram,
    add_heavy_rows,
    block_scores,
    scale_columns,
)
from bayesmargin.augmentation.law import gaussian_term, seen_by_class
from bayesmargin.augmentation.variates import WORDS, fill_variates
from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.random import augmentation_mean, inverse_gaussian_from
from bayesmargin.foundation.types import FloatArray, IntArray

_HALF = np.float32(0.5)


class Augmented(NamedTuple):
    """What a sweep reads: ``n_classes`` is 1 for one score a row, whose ``label`` is -1 or +1.

    ``kink`` is the score at which such a term is zero; it has one block where there are classes.
    ``tilt`` is the gradient of a linear part of the energy, which may be empty.

    The prior has the diagonal precision ``state.precision``, unless ``matrix`` is not empty;
    ``inverse_scale`` is empty unless it is Laplace. ``heavy`` is the largest ``1/lambda`` that is
    added up in the precision of the blocks.
    """

    blocks: Blocks
    label: IntArray
    cost: FloatArray
    heavy: float
    margin: float
    kink: FloatArray
    tilt: FloatArray
    n_classes: int
    mean: FloatArray
    matrix: FloatArray
    inverse_scale: FloatArray


class GibbsState(NamedTuple):
    """Weights, classes one after another; prior precisions; scores (block, class, row); sweeps.

    ``lanes`` are the generators of :mod:`~bayesmargin.augmentation.variates`.
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
def one_score_law(label, kink, side, level):  # type: ignore[no-untyped-def]
    r"""Write :math:`b_d` and :math:`\rho_d` of a block of terms of one score."""
    real = level.dtype.type
    for k in range(side.shape[0]):
        side[k] = real(label[k])
        level[k] = kink[k]


@inner_borrowing_jit
def class_law(target, scores, block, chosen, side, level):  # type: ignore[no-untyped-def]
    r"""Write :math:`b_d` and :math:`\rho_d` of a block, as seen by the weights of class ``chosen``.

    See :func:`~bayesmargin.augmentation.law.seen_by_class`.
    """
    if target.n_classes == 1:
        one_score_law(target.label[block], target.kink[block], side, level)
        return
    for k in range(side.shape[0]):
        label = target.label[block, k]
        best = -np.inf
        for other in range(target.n_classes):
            if other != label and other != chosen:
                best = max(best, scores[other, k])
        own = scores[label, k]
        side[k], level[k] = seen_by_class(label == chosen, own, best, target.margin)


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
        mixing = inverse_gaussian_from(square[k], uniform[k], mean)
        omega[k], pull[k] = gaussian_term(half, side[k], level[k], mixing)


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
