r"""Means and widths of a component that a split or merge proposes, and how well it fits its rows.

Given the log variance v of a column, its mean has a normal law and can be integrated out:

.. math::

   \log f(v) = -\frac{n-1}2 v - \frac S2 e^{-v} - \frac12 \log w - \frac{(\bar x-\mu_0)^2}{2w}
               - \frac{(v-M)^2}{2V^2} + const, \qquad w = \sigma_0^2 + e^v/n.

The proposal of v has the density :math:`q \propto \exp(-av - be^{-v})`, that of the log of an
inverse gamma variate, with the mode of f and about its curvature there. Then the mean is drawn from
its law, so all that is left of prior, likelihood and proposal is f/q.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.dpmnl.parameters import normal_mean
from bayesmargin.models.dpmnl.state import Experts, Hyper, log_share

_ITERATIONS = 12
_LONGEST = 2.0  # of a step towards the mode


@inner_jit
def fit_width(
    count: float, gap: float, square: float, spread: float, level: float, variance: float,
    least: float,
) -> tuple[float, float]:  # fmt: skip
    """Constants a and b of the proposal of a log variance.

    ``gap`` is the distance of the mean of the rows from that of the base measure, ``square`` the
    sum of their squares around it, ``spread`` is sigma_0^2, ``level`` M and ``variance`` V^2; no
    log variance is below ``least``.
    """
    v = math.log((square + math.exp(level)) / count)
    curvature = 1.0
    for _ in range(_ITERATIONS):
        tail, share = 0.5 * square * math.exp(-v), math.exp(v) / count
        w = spread + share
        slope = tail - 0.5 * (count - 1.0) - 0.5 * share / w - (v - level) / variance
        slope += 0.5 * gap * gap * share / (w * w)
        curvature = tail + 0.5 * share * spread / (w * w) + 1.0 / variance
        curvature -= 0.5 * gap * gap * share * (spread - share) / (w * w * w)
        curvature = max(curvature, 1.0 / variance)
        v += min(max(slope / curvature, -_LONGEST), _LONGEST)
        v = max(v, least)
    return curvature, curvature * math.exp(v)


@inner_jit
def log_fit(
    v: float, count: float, gap: float, square: float, spread: float, level: float,
    variance: float, least: float,
) -> float:  # fmt: skip
    """Log of prior and likelihood of a log variance, the mean integrated out."""
    w = spread + math.exp(v) / count
    value = -0.5 * (count + 1.0) * math.log(2.0 * math.pi) - 0.5 * math.log(count * variance)
    value -= 0.5 * (count - 1.0) * v + 0.5 * square * math.exp(-v)
    value -= 0.5 * math.log(w) + 0.5 * gap * gap / w + 0.5 * (v - level) ** 2 / variance
    return value - log_share(level, math.log(variance), least)


@inner_jit
def propose_covariates(
    rng: np.random.Generator,
    slot: int,
    members: IntArray,
    X: FloatArray,
    experts: Experts,
    hyper: Hyper,
    drawing: bool,
) -> float:
    """Log of prior times likelihood over proposal; the slot is filled by a proposal if drawing."""
    count, value = float(members.shape[0]), 0.0
    for j in range(X.shape[1]):
        total, square = 0.0, 0.0
        for i in range(members.shape[0]):
            total += X[members[i], j]
        for i in range(members.shape[0]):
            square += (X[members[i], j] - total / count) ** 2
        gap, spread = total / count - hyper.mean[j], math.exp(hyper.log_spread[j])
        level, variance = hyper.level[j], math.exp(hyper.log_level_spread[j])
        least = hyper.narrowest[j]
        a, b = fit_width(count, gap, square, spread, level, variance, least)
        if drawing:
            v = math.log(b) - math.log(rng.standard_gamma(a))
            if not least <= v < np.inf:
                return -np.inf
            experts.log_variance[slot, j] = v
            experts.mean[slot, j] = normal_mean(
                rng, hyper.mean[j], spread, count, total, math.exp(v)
            )
        v = experts.log_variance[slot, j]
        value += log_fit(v, count, gap, square, spread, level, variance, least)
        value -= a * math.log(b) - math.lgamma(a) - a * v - b * math.exp(-v)
    return value
