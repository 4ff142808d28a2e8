r"""Weights proposed for one side of a split, with their density.

The proposal is the last pass of a short augmentation chain that starts at zero weights: given the
augmentation each weight vector is Gaussian, so the density of the pass is known. The chain sees
the rows of the side and nothing else.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_jit
from bayesmargin.foundation.linear_algebra import dot, solve_lower, solve_lower_transposed
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.experts import log_psi, log_psi_of_scores
from bayesmargin.models.infinite_svc.state import Hinge, Rows
from bayesmargin.models.infinite_svc.weights_augmentation import (
    conditional,
    gibbs_pass,
    member_scores,
)

_LAUNCH_PASSES = 4


@inner_jit
def propose_expert(
    rng: np.random.Generator,
    members: IntArray,
    rows: Rows,
    hinge: Hinge,
    scale: float,
    weights: FloatArray,
    given: bool,
) -> float:
    """Log of prior times pseudo-likelihood over proposal density.

    With ``given`` the weights are those that a merge would drop and stay as they are; otherwise
    they are drawn and written into ``weights``.
    """
    size = weights.shape[1]
    launch = np.zeros_like(weights)
    scores = member_scores(members, rows, launch)
    for _ in range(_LAUNCH_PASSES):
        gibbs_pass(rng, members, rows, hinge, scale, launch, scores)
    precision, linear = np.empty((size, size)), np.empty(size)
    log_density, log_prior = 0.0, 0.0
    noise = np.empty(size)
    for y in range(weights.shape[0]):
        conditional(rng, y, members, rows, scores, hinge, scale, precision, linear)
        solve_lower(precision, linear)
        if given:
            for j in range(size):
                noise[j] = -linear[j]
                for i in range(j, size):
                    noise[j] += precision[i, j] * weights[y, i]
        else:
            for j in range(size):
                noise[j] = rng.standard_normal()
                weights[y, j] = linear[j] + noise[j]
            solve_lower_transposed(precision, weights[y])
        for j in range(size):
            log_density += math.log(precision[j, j]) - 0.5 * noise[j] * noise[j]
            log_prior -= 0.5 * (weights[y, j] / scale) ** 2 + math.log(scale)
        for i in range(members.shape[0]):
            scores[i, y] = dot(weights[y], rows.design[members[i]])
    fit = 0.0
    for i in range(members.shape[0]):
        fit += log_psi_of_scores(scores[i], rows.labels[members[i]], hinge)
    return log_prior + fit - log_density


@inner_jit
def total_log_psi(members: IntArray, rows: Rows, hinge: Hinge, weights: FloatArray) -> float:
    """Log pseudo-likelihood of all rows in ``members`` under one expert."""
    scores = np.empty(weights.shape[0])
    total = 0.0
    for i in range(members.shape[0]):
        d = members[i]
        total += log_psi(weights, rows.design[d], rows.labels[d], hinge, scores)
    return total
