r"""A component of the base measure that no row has joined yet, with its parameters integrated out.

Covariates and logit model are independent under the base measure, so p(y, x) of such a component
is a product. The classes are exchangeable, so each has the probability 1/L, whatever x. The density
of x is a product over columns,

.. math:: \int N(x_l;\ \mu_{0l},\ \sigma_{0l}^2 + e^v)\, N(v;\ M_l, V_l^2)\, dv,

of smooth functions of v above a bound, which the trapezoidal rule integrates to many digits.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.dpmnl.state import Hyper

_NODES = 48  # from eight V below M, or from the bound, to eight above
# The log density of a column is smooth in the area sine of the distance from its centre, in units
# of its smallest standard deviation. For many rows it is read from a table of this step, with an
# error below 1e-9 of its size; up to this area sine, some two hundred units.
_STEP, _FARTHEST = 1.0 / 256.0, 6.0


@inner_jit
def _fill_nodes(hyper: Hyper, j: int, log_share: FloatArray, half_precision: FloatArray) -> float:
    """Normal laws that a column is a mixture of: log weights at the centre, 1 / (2 variance).

    Returns the smallest standard deviation.
    """
    spread = math.exp(0.5 * hyper.log_level_spread[j])
    total = 0.0
    low = -8.0
    if spread > 0.0:
        low = max(low, (hyper.narrowest[j] - hyper.level[j]) / spread)
    high = max(8.0, low + 8.0 / max(low, 1.0))
    for i in range(_NODES):
        place = low + (high - low) * i / (_NODES - 1.0)
        level = hyper.level[j] + spread * place
        share = math.exp(0.5 * (max(low, 0.0) ** 2 - place * place))
        share *= 0.5 if i == 0 else 1.0
        total += share
        variance = math.exp(hyper.log_spread[j]) + math.exp(level)
        half_precision[i] = 0.5 / variance
        log_share[i] = -0.5 * math.log(2.0 * math.pi * variance)
        log_share[i] += math.log(share) if share > 0.0 else -np.inf
    for i in range(_NODES):
        log_share[i] -= math.log(total)
    return math.sqrt(0.5 / half_precision[0])


@inner_jit
def _log_mixture(
    gap: float, log_share: FloatArray, half_precision: FloatArray, work: FloatArray
) -> tuple[float, float]:
    """Log of a mixture of centred normal densities, ``gap`` away from there, and its slope."""
    top = -np.inf
    for i in range(_NODES):
        work[i] = log_share[i] - gap * gap * half_precision[i]
        top = max(top, work[i])
    if top == -np.inf:
        return top, 0.0
    total = weighted = 0.0
    for i in range(_NODES):
        part = math.exp(work[i] - top)
        total += part
        weighted += part * half_precision[i]
    return top + math.log(total), -2.0 * gap * weighted / total


@inner_jit
def _read_table(area: float, value: FloatArray, slope: FloatArray) -> float:
    """Cubic between two entries with values and slopes (Hermite)."""
    i = min(int(area / _STEP), value.shape[0] - 2)
    t = area / _STEP - i
    change = value[i + 1] - value[i]
    first, second = _STEP * slope[i] - change, change - _STEP * slope[i + 1]
    return value[i] + t * change + t * (1.0 - t) * ((1.0 - t) * first + t * second)


@jit
def fresh_log_density(hyper: Hyper, X: FloatArray, log_density: FloatArray) -> None:
    """Log density of every row under the base measure, into ``log_density``."""
    log_share, half_precision, work = np.empty(_NODES), np.empty(_NODES), np.empty(_NODES)
    size = int(_FARTHEST / _STEP) + 1
    value, slope = np.empty(size), np.empty(size)
    log_density[:] = 0.0
    for j in range(X.shape[1]):
        unit = _fill_nodes(hyper, j, log_share, half_precision)
        widest = 0.0
        for d in range(X.shape[0]):
            widest = max(widest, abs(X[d, j] - hyper.mean[j]))
        farthest = min(math.asinh(widest / unit), _FARTHEST)
        used = min(int(farthest / _STEP) + 2, size)
        tabled = used < X.shape[0]
        for i in range(used if tabled else 0):
            gap = unit * math.sinh(i * _STEP)
            value[i], steep = _log_mixture(gap, log_share, half_precision, work)
            slope[i] = steep * unit * math.cosh(i * _STEP)
        for d in range(X.shape[0]):
            gap = abs(X[d, j] - hyper.mean[j])
            area = math.asinh(gap / unit) if tabled else np.inf
            if area <= farthest:
                log_density[d] += _read_table(area, value[:used], slope[:used])
            else:
                log_density[d] += _log_mixture(gap, log_share, half_precision, work)[0]
