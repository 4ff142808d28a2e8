"""The Gaussian approximation of the contrasts between classes, without what they share.

Which is drawn from its own law (:mod:`bayesmargin.priors.shared`); the space of contrasts is
smaller by one class.
"""

from dataclasses import replace

import numpy as np
from scipy import linalg

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.priors.shared import SharedPart


def without_shared_part(anchor: GaussianAnchor, shared: SharedPart | None) -> GaussianAnchor:
    """The anchor of the contrasts; the factors of blocks and diagonals cannot tell them apart.

    Its factor (n, n - p) has a triangle of zeros: the weights of all classes but the first
    determine those of the first. Their factor is the triangle, and the first class has the rows
    above it.
    """
    if shared is None:
        return anchor
    if anchor.factor.ndim != 2:
        return replace(anchor, mean=shared.removed(anchor.mean))
    size = shared.mean.shape[1]
    columns = anchor.factor.T.reshape(-1, *shared.mean.shape)
    moved = shared.less_shift(columns).reshape(anchor.factor.shape).T
    triangle, rotation = linalg.rq(moved[size:], mode="economic")
    factor = np.vstack([moved[:size] @ rotation.T, triangle])
    return replace(anchor, mean=shared.removed(anchor.mean), factor=factor)
