r"""A component of the base measure that no row has joined yet, with its parameters integrated out.

Covariates and logit model are independent under the base measure, so p(y, x) of such a component
is a product. The classes are exchangeable, so each has the probability 1/L, whatever x. The density
of x is a product over columns,

.. math:: \int N(x_l;\ \mu_{0l},\ \sigma_{0l}^2 + e^v)\, N(v;\ M_l, V_l^2)\, dv,

of smooth functions of v above a bound, which the trapezoidal rule integrates to many digits.
"""

import math

import numpy as np

from bayesmargin.compiling import inner_jit, jit
from bayesmargin.models.dpmnl.state import Hyper
from bayesmargin.types import FloatArray

_NODES = 48  # from eight V below M, or from the bound, to eight above


@inner_jit
def _log_mixture(gap: float, log_share: FloatArray, variance: FloatArray) -> float:
    """Log of a mixture of centred normal densities, ``gap`` away from their centre."""
    top = -np.inf
    for i in range(variance.shape[0]):
        top = max(top, log_share[i] - 0.5 * gap * gap / variance[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(variance.shape[0]):
        total += math.exp(log_share[i] - 0.5 * gap * gap / variance[i] - top)
    return top + math.log(total)


@jit
def fresh_log_density(hyper: Hyper, X: FloatArray, log_density: FloatArray) -> None:
    """Log density of every row under the base measure, into ``log_density``."""
    log_share, variance = np.empty(_NODES), np.empty(_NODES)
    log_density[:] = 0.0
    for j in range(X.shape[1]):
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
            variance[i] = math.exp(hyper.log_spread[j]) + math.exp(level)
            log_share[i] = -0.5 * math.log(2.0 * math.pi * variance[i])
            log_share[i] += math.log(share) if share > 0.0 else -np.inf
        for d in range(X.shape[0]):
            gap = X[d, j] - hyper.mean[j]
            log_density[d] += _log_mixture(gap, log_share, variance) - math.log(total)
