r"""A new component: evidence of one row for it, and the exact draw of its weights.

Under the prior the scores of a row are independent :math:`N(0, \rho)`, :math:`\rho = s^2\|x\|^2`.
With :math:`\sigma = \sqrt\rho` and the largest other score :math:`m`,

.. math::

   G(m) = \Phi\!\Big(-\frac{\ell+m}{\sigma}\Big)
        + e^{-c(\ell+m) + c^2\rho/2}\,\Phi\!\Big(\frac{\ell+m-c\rho}{\sigma}\Big), \qquad
   I(\rho) = \int (L-1)\,\varphi(u)\,\Phi(u)^{L-2}\, G(\sigma u)\, du .

Two classes are one binary score: :math:`I = G(0)`. The integrand is log-concave (a normal density,
a power of its distribution function, and :math:`G`, which is :math:`e^{-c(\cdot)_+}` smoothed by a
normal), so Devroye's rejection sampler with the known mode and area is exact for :math:`u`.
"""

import math

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import log_ndtr, logsumexp

from bayesmargin.foundation.compiling import inner_jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.infinite_svc.state import Hinge, Rows

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(400)
_HALF_WIDTH = 12.0
_TABLE_SIZE = 1500
_DENSITY = -0.5 * math.log(2.0 * math.pi)
_GOLDEN = 0.5 * (math.sqrt(5.0) - 1.0)


def _log_g(maximum: FloatArray, variance: FloatArray, hinge: Hinge) -> FloatArray:
    deviation = np.sqrt(variance)
    gap = hinge.margin + maximum
    above = log_ndtr(-gap / deviation)
    below = log_ndtr((gap - hinge.cost * variance) / deviation)
    value: FloatArray = np.logaddexp(
        above, below - hinge.cost * gap + 0.5 * hinge.cost**2 * variance
    )
    return value


def log_evidence(variance: FloatArray, hinge: Hinge, classes: int) -> FloatArray:
    r"""Log of :math:`I(\rho)`, the prior mean of the pseudo-likelihood of one row.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.infinite_svc.newcomer import log_evidence
    >>> from bayesmargin.models.infinite_svc.state import Hinge
    >>> log_evidence(np.array([4.0]), Hinge(1.0, 1.0), 27).round(7)
    array([-2.910723])
    """
    variance = np.maximum(np.asarray(variance, dtype=float), 1e-12)
    if classes == 2:
        return _log_g(np.zeros_like(variance), variance, hinge)
    low, high = variance.min(), variance.max()
    if variance.size > 2 * _TABLE_SIZE and high > low * (1 + 1e-9):
        # Smooth in log rho: a spline through this many nodes is exact to about 1e-10.
        grid = np.linspace(math.log(low), math.log(high), _TABLE_SIZE)
        spline = CubicSpline(grid, _quadrature(np.exp(grid), hinge, classes))
        value: FloatArray = spline(np.log(variance))
        return value
    return _quadrature(variance, hinge, classes)


def _quadrature(variance: FloatArray, hinge: Hinge, classes: int) -> FloatArray:
    u = _HALF_WIDTH * _NODES
    log_weight = (
        np.log(_HALF_WIDTH * _NODE_WEIGHTS)
        + math.log(classes - 1)
        + _DENSITY
        - 0.5 * u * u
        + (classes - 2) * log_ndtr(u)
    )
    rho = variance[:, None]
    value: FloatArray = logsumexp(log_weight + _log_g(np.sqrt(rho) * u, rho, hinge), axis=1)
    return value


@inner_jit
def log_normal_cdf(u: float) -> float:
    """Log of the standard normal distribution function, accurate in the left tail."""
    if u > -10.0:
        return math.log(0.5 * math.erfc(-u * math.sqrt(0.5)))
    square = 1.0 / (u * u)
    tail = 1.0 - square * (1.0 - 3.0 * square * (1.0 - 5.0 * square * (1.0 - 7.0 * square)))
    return -0.5 * u * u - math.log(-u) - 0.5 * math.log(2.0 * math.pi) + math.log(tail)


@inner_jit
def _normal_above(rng: np.random.Generator, lower: float) -> float:
    """Standard normal given that it exceeds ``lower`` (Robert's rejection in the tail)."""
    if lower < 0.5:
        while True:
            value = rng.standard_normal()
            if value > lower:
                return value
    rate = 0.5 * (lower + math.sqrt(lower * lower + 4.0))
    while True:
        value = lower + rng.standard_exponential() / rate
        if math.log(rng.random()) <= -0.5 * (value - rate) ** 2:
            return value


@inner_jit
def _label_score(rng: np.random.Generator, maximum: float, deviation: float, hinge: Hinge) -> float:
    """Score of the label given the largest other score: a mixture of two truncated normals."""
    gap = hinge.margin + maximum
    tilt = hinge.cost * deviation
    above = log_normal_cdf(-gap / deviation)
    below = log_normal_cdf(gap / deviation - tilt) - hinge.cost * gap + 0.5 * tilt * tilt
    if rng.random() < 1.0 / (1.0 + math.exp(min(below - above, 700.0))):
        return deviation * _normal_above(rng, gap / deviation)
    return deviation * (tilt - _normal_above(rng, tilt - gap / deviation))


@inner_jit
def _log_density(u: float, classes: int, deviation: float, hinge: Hinge) -> float:
    """Log of the integrand of I at u."""
    gap = hinge.margin + deviation * u
    tilt = hinge.cost * deviation
    above = log_normal_cdf(-gap / deviation)
    below = log_normal_cdf(gap / deviation - tilt) - hinge.cost * gap + 0.5 * tilt * tilt
    top = max(above, below)
    log_g = top + math.log(math.exp(above - top) + math.exp(below - top))
    power = (classes - 2) * log_normal_cdf(u)
    return math.log(classes - 1.0) + _DENSITY - 0.5 * u * u + power + log_g


@inner_jit
def _mode(classes: int, deviation: float, hinge: Hinge) -> float:
    """Where the integrand of I is largest, by golden section."""
    low, high = -_HALF_WIDTH - hinge.cost * deviation, _HALF_WIDTH
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left = _log_density(left, classes, deviation, hinge)
    at_right = _log_density(right, classes, deviation, hinge)
    while high - low > 1e-6:
        if at_left > at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = _log_density(left, classes, deviation, hinge)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = _log_density(right, classes, deviation, hinge)
    return 0.5 * (low + high)


@inner_jit
def _largest_other(
    rng: np.random.Generator,
    classes: int,
    deviation: float,
    log_area: float,
    mode: float,
    hinge: Hinge,
) -> float:
    """Exact draw of u by rejection from Devroye's envelope of a log-concave density."""
    peak = _log_density(mode, classes, deviation, hinge)
    height = math.exp(peak - log_area)
    while True:
        if rng.random() < 0.5:
            distance = rng.random()
            log_envelope = peak
        else:
            distance = 1.0 + rng.standard_exponential()
            log_envelope = peak + 1.0 - distance
        sign = 1.0 if rng.random() < 0.5 else -1.0
        u = mode + sign * distance / height
        value = _log_density(u, classes, deviation, hinge)
        if math.log(rng.random()) + log_envelope <= value:
            return u


@inner_jit
def draw_scores(
    rng: np.random.Generator,
    label: int,
    deviation: float,
    log_area: float,
    mode: float,
    hinge: Hinge,
    scores: FloatArray,
) -> None:
    r"""Scores of one row from the prior times its pseudo-likelihood, exactly.

    ``scores`` has one entry for two classes (then the label's sign is applied) and L otherwise.
    """
    classes = scores.shape[0]
    if classes == 1:
        score = _label_score(rng, 0.0, deviation, hinge)
        scores[0] = score if label == 1 else -score
        return
    u = _largest_other(rng, classes, deviation, log_area, mode, hinge)
    best = rng.integers(0, classes - 1)
    if best >= label:
        best += 1
    for y in range(classes):
        if y == best:
            scores[y] = deviation * u
        elif y == label:
            scores[y] = _label_score(rng, deviation * u, deviation, hinge)
        else:
            scores[y] = -deviation * _normal_above(rng, -u)


@inner_jit
def draw_weights(
    rng: np.random.Generator, d: int, rows: Rows, hinge: Hinge, scale: float, weights: FloatArray
) -> None:
    r"""Weights of a component born from row d:
    :math:`\eta_y = (s_y/\|x\|^2)\,x + s\,(I - x x^\top/\|x\|^2)\,\nu_y`.

    A row gives birth again and again, so the mode is looked for once.
    """  # noqa: D205
    row = rows.design[d]
    square = 0.0
    for j in range(row.shape[0]):
        square += row[j] * row[j]
    for y in range(weights.shape[0]):
        for j in range(row.shape[0]):
            weights[y, j] = scale * rng.standard_normal()
    if square <= 0.0:
        return
    deviation, scores = scale * math.sqrt(square), np.empty(weights.shape[0])
    if weights.shape[0] > 1 and math.isnan(rows.mode[d]):
        rows.mode[d] = _mode(weights.shape[0], deviation, hinge)
    label, log_area = rows.labels[d], rows.log_evidence[d]
    draw_scores(rng, label, deviation, log_area, rows.mode[d], hinge, scores)
    for y in range(weights.shape[0]):
        along = 0.0
        for j in range(row.shape[0]):
            along += row[j] * weights[y, j]
        correction = (scores[y] - along) / square
        for j in range(row.shape[0]):
            weights[y, j] += correction * row[j]
