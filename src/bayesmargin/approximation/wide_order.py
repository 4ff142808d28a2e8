"""The order of weights in wide problems of several classes: interleaved.

A sparse row touches few features, but all classes of each; with the classes of one feature side by
side its weights lie together in memory.
"""

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import Belief, GaussianBelief, LaplaceBelief


def interleaved(weights: FloatArray, n_blocks: int) -> FloatArray:
    """Reorder the last axis from classes one after another to features one after another."""
    if n_blocks == 1:
        return weights
    parts = weights.reshape(*weights.shape[:-1], n_blocks, -1)
    return np.swapaxes(parts, -1, -2).reshape(weights.shape)


def by_class(weights: FloatArray, n_blocks: int) -> FloatArray:
    """Undo :func:`interleaved` along the last axis."""
    if n_blocks == 1:
        return weights
    parts = weights.reshape(*weights.shape[:-1], -1, n_blocks)
    return np.swapaxes(parts, -1, -2).reshape(weights.shape)


def reordered(prior: Belief, n_blocks: int) -> Belief:
    """Prior of interleaved weights, taken as independent of one another."""
    if isinstance(prior, LaplaceBelief):
        return LaplaceBelief(interleaved(prior.scale, n_blocks))
    precision = prior.precision if prior.precision.ndim == 1 else np.diag(prior.precision)
    return GaussianBelief(interleaved(prior.mean, n_blocks), interleaved(precision, n_blocks))
