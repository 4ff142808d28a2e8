"""Moments of a normal law that is tilted by a hinge."""

import numpy as np
from scipy.special import erfcx, log_ndtr

from bayesmargin.foundation.types import FloatArray


def with_hinge(mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Mean and variance of the law proportional to :math:`N(u; m, v)\, e^{-(u)_+}`.

    With the share :math:`r` of positive slacks and the density :math:`p` at zero they are
    :math:`m - v r` and :math:`v - v^2 (p - r (1 - r))`.
    """
    sd = np.sqrt(variance)
    log_density = -0.5 * np.square(mean / sd)
    below = (variance - mean) / sd  # of zero, where the slope of the hinge has moved the mean to
    positive = np.where(
        below > 0.0,
        log_density + np.log(0.5 * erfcx(np.maximum(below, 0.0) / np.sqrt(2.0))),
        0.5 * variance - mean + log_ndtr(-np.minimum(below, 0.0)),
    )
    total = np.logaddexp(log_ndtr(-mean / sd), positive)
    share = np.exp(positive - total)
    density = np.exp(log_density - total) / (np.sqrt(2.0 * np.pi) * sd)
    narrower = variance - variance**2 * (density - share * (1.0 - share))
    return mean - variance * share, np.maximum(narrower, 1e-9 * variance)
