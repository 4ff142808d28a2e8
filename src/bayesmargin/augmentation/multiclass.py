r"""Augmentation Gibbs sampling: the hinge as a mixture of Gaussians, exact.

From :math:`e^{-c(\zeta)_+} = \int_0^\infty (2\pi\lambda)^{-1/2}
e^{-(\lambda + c\zeta/2)^2/(2\lambda)}\,d\lambda` a sweep alternates, with
:math:`\zeta_d = b_d(\rho_d - w \cdot x_d)`,

.. math:: 1/\lambda_d &\sim IG(2/(c_d|\zeta_d|), 1), \qquad \omega_d = c_d^2/(4\lambda_d), \\
          w &\sim N(P^{-1} v, P^{-1}), \quad P = \Lambda_0 + \sum_d \omega_d x_d x_d^T, \quad
          v = \Lambda_0\mu_0 + \sum_d (\tfrac{c_d}{2} b_d + \omega_d\rho_d)\,x_d .

Binary: :math:`b_d = y_d` and :math:`\rho_d = y_d \ell`. Multi-class: as a function of the weights
of one class, the others fixed, the hinge has the same form
(:func:`~bayesmargin.augmentation.mixing.class_law`), so the classes are drawn one after
another, each with fresh :math:`\lambda`; then the component common to all classes, which the labels
do not see, is redrawn from its exact conditional. A Laplace prior is a scale mixture as well:
:math:`1/\tau_j \sim IG(1/(b|w_j|), 1/b^2)` replaces the diagonal of :math:`\Lambda_0`.
"""

import math

import numpy as np

from bayesmargin.augmentation.blocks import block_scores
from bayesmargin.augmentation.mixing import add_blocks, augment
from bayesmargin.foundation.compiling import inner_borrowing_jit, inner_jit, jit
from bayesmargin.foundation.copying import copy_vector
from bayesmargin.foundation.random import inverse_gaussian


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
            if target.tilt.shape[0] > 0:
                work.linear[j] -= target.tilt[first + j]
            continue
        row = target.matrix[first + j]
        total = 0.0
        for i in range(row.shape[0]):
            inside = first <= i < first + size
            total += row[i] * (target.mean[i] if inside else target.mean[i] - state.weights[i])
        for i in range(j, size):
            work.gram[j, i] = row[first + i]
        work.linear[j] = total
        if target.tilt.shape[0] > 0:
            work.linear[j] -= target.tilt[first + j]


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
        copy_vector(state.weights, draws[k])
