r"""Updates of the parameters given the assignments: conjugate draws and slices.

Every positive parameter here is a log variance v with a normal prior and normal data,

.. math:: \log f(v) = -\frac{(v-M)^2}{2V^2} - \frac n2 v - \frac S2 e^{-v} + const,

so one univariate slice sampler (stepping out by 5, at most 40 steps) serves all of them. Those of
covariates have a lower bound, whose share :math:`\Phi` of the normal law is known to M and V.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.dpmnl.state import (
    CONCENTRATION_LOCATION,
    CONCENTRATION_SCALE,
    MEAN_SCALE,
    Experts,
    Hyper,
    log_share,
)
from bayesmargin.priors.shared import redraw_mean

_WIDTH, _STEPS_OUT = 5.0, 40
_LOG_VARIANCE, _CONCENTRATION = 0, 1


@inner_jit
def _log_target(kind: int, v: float, a: float, b: float, n: float, s: float) -> float:
    """Log density of a log variance (prior mean a, sd b) or of the log concentration.

    For the concentration n is the number of rows and s the number of components.
    """
    prior = -0.5 * ((v - a) / b) ** 2
    if kind != _CONCENTRATION:
        return prior - 0.5 * n * v - 0.5 * s * math.exp(-v)
    strength = math.exp(v)
    return prior + s * v + math.lgamma(strength) - math.lgamma(strength + n)


@inner_jit
def slice_update(
    rng: np.random.Generator,
    kind: int,
    v: float,
    a: float,
    b: float,
    n: float,
    s: float,
    least: float = -np.inf,
) -> float:
    """One slice-sampling update with stepping out and shrinkage, of a value above ``least``."""
    floor = _log_target(kind, v, a, b, n, s) - rng.standard_exponential()
    low = v - _WIDTH * rng.random()
    high = low + _WIDTH
    steps = int(rng.integers(0, _STEPS_OUT))
    for _ in range(steps):
        if low < least or _log_target(kind, low, a, b, n, s) <= floor:
            break
        low -= _WIDTH
    for _ in range(_STEPS_OUT - 1 - steps):
        if _log_target(kind, high, a, b, n, s) <= floor:
            break
        high += _WIDTH
    while True:
        candidate = low + rng.random() * (high - low)
        if candidate >= least and _log_target(kind, candidate, a, b, n, s) > floor:
            return candidate
        if candidate < v:
            low = candidate
        else:
            high = candidate


@inner_jit
def normal_mean(
    rng: np.random.Generator, mean: float, variance: float, n: float, total: float, noise: float
) -> float:
    """Draw the mean of n normal values with sum ``total``, variance ``noise``, normal prior."""
    precision = 1.0 / variance + n / noise
    centre = (mean / variance + total / noise) / precision
    return centre + rng.standard_normal() / math.sqrt(precision)


@inner_jit
def update_covariates(
    rng: np.random.Generator,
    slot: int,
    members: IntArray,
    X: FloatArray,
    experts: Experts,
    hyper: Hyper,
) -> None:
    """Means and log variances of the covariates of one component."""
    count = float(members.shape[0])
    for j in range(X.shape[1]):
        total = 0.0
        for i in range(members.shape[0]):
            total += X[members[i], j]
        prior = math.exp(hyper.log_spread[j])
        noise = math.exp(experts.log_variance[slot, j])
        mean = normal_mean(rng, hyper.mean[j], prior, count, total, noise)
        experts.mean[slot, j] = mean
        square = 0.0
        for i in range(members.shape[0]):
            square += (X[members[i], j] - mean) ** 2
        experts.log_variance[slot, j] = slice_update(
            rng, _LOG_VARIANCE, experts.log_variance[slot, j], hyper.level[j],
            math.exp(0.5 * hyper.log_level_spread[j]), count, square, hyper.narrowest[j],
        )  # fmt: skip


@inner_jit
def update_common(rng: np.random.Generator, slot: int, experts: Experts) -> None:
    """Means over the classes of intercepts and slopes, which no label says anything about."""
    features = experts.coefficients.shape[2] - 1
    for j in range(features + 1):
        spread = math.exp(0.5 * experts.log_scale[slot, 0 if j == features else 1])
        redraw_mean(rng, experts.coefficients[slot], j, spread)


@inner_jit
def update_scales(rng: np.random.Generator, slot: int, experts: Experts) -> None:
    """Log variances tau^2 and nu^2 of intercepts and slopes of one component."""
    coefficients = experts.coefficients[slot]
    features = coefficients.shape[1] - 1
    squares = np.zeros(2)
    for y in range(coefficients.shape[0]):
        squares[0] += coefficients[y, features] ** 2
        for j in range(features):
            squares[1] += coefficients[y, j] ** 2
    for i in range(2):
        count = float(coefficients.shape[0] * (1 if i == 0 else features))
        experts.log_scale[slot, i] = slice_update(
            rng, _LOG_VARIANCE, experts.log_scale[slot, i], 0.0, 1.0, count, squares[i]
        )


@inner_jit
def _update_level(
    rng: np.random.Generator,
    values: FloatArray,
    mean: float,
    log_variance: float,
    prior_scale: float,
    least: float,
) -> tuple[float, float]:
    """Mean and log variance of normal values, priors N(0, prior_scale^2) and N(0, 1).

    Of values that are all above ``least`` the plain updates are proposals: each is reversible by
    itself, so the ratio of the shares decides.
    """
    count, total = float(values.shape[0]), 0.0
    for i in range(values.shape[0]):
        total += values[i]
    new_mean = normal_mean(rng, 0.0, prior_scale**2, count, total, math.exp(log_variance))
    if least > -np.inf:
        gain = count * (
            log_share(mean, log_variance, least) - log_share(new_mean, log_variance, least)
        )
        new_mean = new_mean if math.log(rng.random()) < gain else mean
    square = 0.0
    for i in range(values.shape[0]):
        square += (values[i] - new_mean) ** 2
    wider = slice_update(rng, _LOG_VARIANCE, log_variance, 0.0, 1.0, count, square)
    if least > -np.inf:
        gain = count * (
            log_share(new_mean, log_variance, least) - log_share(new_mean, wider, least)
        )
        wider = wider if math.log(rng.random()) < gain else log_variance
    return new_mean, wider


@inner_jit
def update_hyper(rng: np.random.Generator, experts: Experts, hyper: Hyper, rows: int) -> None:
    """Base measure and concentration given the components in use."""
    slots = experts.order[: experts.size[0]]
    for j in range(hyper.mean.shape[0]):
        hyper.mean[j], hyper.log_spread[j] = _update_level(
            rng, experts.mean[slots, j], hyper.mean[j], hyper.log_spread[j], MEAN_SCALE, -np.inf
        )
        hyper.level[j], hyper.log_level_spread[j] = _update_level(
            rng, experts.log_variance[slots, j], hyper.level[j], hyper.log_level_spread[j], 1.0,
            hyper.narrowest[j],
        )  # fmt: skip
    hyper.log_concentration[0] = slice_update(
        rng, _CONCENTRATION, hyper.log_concentration[0], CONCENTRATION_LOCATION,
        CONCENTRATION_SCALE, float(rows), float(slots.shape[0]),
    )  # fmt: skip
