"""An anchor whose classes vary along the same axes, in place of one with a block a class."""

from dataclasses import replace

import numpy as np
from scipy import linalg

from bayesmargin.approximation.gaussian import GaussianAnchor

LARGE = 1 << 21  # numbers in the blocks from which on reading them takes as long as the rows
NARROW = 8  # directions of a class that are undone
ALIKE, WIDE = 0.3, 2.5  # variances in the others, where those along the axes are one


def in_common_axes(anchor: GaussianAnchor) -> GaussianAnchor:
    """The same mean, with the axes of the mean covariance, where these suit every class.

    The deviations of a class along the axes are its own, and so are the few directions in which
    correlations between axes make it much narrower than these say. Where there are more of those,
    or blocks are small, the anchor stays as it is.
    """
    factor = anchor.factor
    if factor.ndim != 3 or factor.size <= LARGE:
        return anchor
    covariances = np.matmul(factor, factor.transpose(0, 2, 1))
    share = np.einsum("kii->k", covariances)
    axes = linalg.eigh(np.einsum("k,kij->ij", 1.0 / share, covariances))[1]
    turned = np.matmul(axes.T, np.matmul(covariances, axes))
    scale = np.sqrt(np.einsum("kii->ki", turned))
    n_classes, size = scale.shape
    count = min(NARROW, size - 1)
    narrow, gain = np.empty((n_classes, count, size)), np.empty((n_classes, count))
    for k in range(n_classes):
        unit = turned[k] / scale[k][:, None] / scale[k]
        values, vectors = linalg.eigh(unit, subset_by_index=(0, count))
        widest = np.linalg.norm(np.linalg.matrix_power(unit, 4)) ** 0.25  # no less than it is
        if values[count] < ALIKE or widest > WIDE * size**0.125:
            return anchor
        narrow[k], gain[k] = vectors[:, :count].T, np.sqrt(values[:count]) - 1.0
    inner = np.eye(size) + np.einsum("ki,kij,kil->kjl", gain, narrow, narrow, optimize=True)
    return replace(
        anchor,
        factor=np.matmul(axes * scale[:, None, :], inner),
        common=(axes, scale, narrow, gain),
    )
