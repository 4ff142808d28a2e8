r"""The Indian buffet process (Griffiths and Ghahramani, 2011).

The first of N guests takes :math:`\mathrm{Poisson}(\alpha)` dishes. Guest i takes a dish that
:math:`m` guests before have taken with probability :math:`m / i`, and
:math:`\mathrm{Poisson}(\alpha / i)` new ones. Guests are rows, dishes features. The order of the
guests does not matter: of matrices that differ in the order of their columns alone, taken as one,

.. math:: P([Z]) = \frac{\alpha^K}{\prod_h K_h!}\, e^{-\alpha H_N}
          \prod_{k=1}^K \frac{(N - m_k)!\,(m_k - 1)!}{N!},
          \qquad H_N = \sum_{i=1}^N \frac 1i,

where :math:`K_h` columns are equal to each other. The number of features is
:math:`\mathrm{Poisson}(\alpha H_N)`.
"""

import numpy as np
from scipy.special import gammaln

from bayesmargin.foundation.types import IntArray


def harmonic(n_rows: int) -> float:
    r""":math:`H_N = 1 + 1/2 + \dots + 1/N`.

    Examples
    --------
    >>> from bayesmargin.models.buffet.prior import harmonic
    >>> harmonic(4)
    2.083333333333333
    """
    return float(np.sum(1.0 / np.arange(1, n_rows + 1)))


def log_prior(held: IntArray, concentration: float) -> float:
    """Log probability of a matrix (row, feature), whatever the order of its columns.

    Examples
    --------
    The chance that nobody takes anything:

    >>> import numpy as np
    >>> from bayesmargin.models.buffet.prior import harmonic, log_prior
    >>> log_prior(np.zeros((4, 0), int), 1.5) == -1.5 * harmonic(4)
    True
    """
    n_rows, size = held.shape
    holders = held.sum(axis=0)
    if (holders == 0).any():
        raise ValueError("held has a column without a one, which is no feature")
    _, equal = np.unique(held, axis=1, return_counts=True) if size else (None, np.zeros(0))
    each = gammaln(n_rows - holders + 1) + gammaln(holders) - gammaln(n_rows + 1)
    value = size * np.log(concentration) - concentration * harmonic(n_rows)
    return float(value + each.sum() - gammaln(equal + 1.0).sum())


def draw_buffet(rng: np.random.Generator, n_rows: int, concentration: float) -> IntArray:
    """A matrix (row, feature) of the process.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.buffet.prior import draw_buffet
    >>> draw_buffet(np.random.default_rng(0), 5, 2.0).shape
    (5, 7)
    """
    held = np.zeros((n_rows, 0), dtype=np.int64)
    for i in range(n_rows):
        held[i] = rng.random(held.shape[1]) < held[:i].sum(axis=0) / (i + 1)
        new = np.zeros((n_rows, rng.poisson(concentration / (i + 1))), dtype=np.int64)
        new[i] = 1
        held = np.hstack([held, new])
    return held


def draw_concentration(
    rng: np.random.Generator, size: int, n_rows: int, shape: float = 1.0, rate: float = 1.0
) -> float:
    r"""Draw :math:`\alpha \sim \mathrm{Gamma}(a + K, b + H_N)`, given K features.

    Its prior is :math:`\mathrm{Gamma}(a, b)`, of mean :math:`a / b`.
    """
    return float(rng.gamma(shape + size) / (rate + harmonic(n_rows)))
