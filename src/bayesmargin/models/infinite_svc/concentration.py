r"""The concentration of the Dirichlet process given the number of components (Escobar and West)."""

import math

import numpy as np


def draw_concentration(
    rng: np.random.Generator,
    concentration: float,
    components: int,
    rows: int,
    shape: float,
    rate: float,
) -> float:
    r"""One Gibbs step for :math:`\alpha_0 \sim \mathrm{Gamma}(a, b)`.

    With :math:`\xi \sim \mathrm{Beta}(\alpha_0 + 1, D)` the conditional is a mixture of
    :math:`\mathrm{Gamma}(a + K, b - \log\xi)` and :math:`\mathrm{Gamma}(a + K - 1, b - \log\xi)`
    with odds :math:`(a + K - 1) : D (b - \log\xi)`.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.infinite_svc.concentration import draw_concentration
    >>> rng = np.random.default_rng(0)
    >>> draw_concentration(rng, 1.0, 5, 100, 1.0, 1.0) > 0
    True
    """
    log_auxiliary = math.log(max(rng.beta(concentration + 1.0, rows), 1e-300))
    new_rate = rate - log_auxiliary
    odds = (shape + components - 1.0) / (rows * new_rate)
    extra = 0.0 if rng.random() * (1.0 + odds) < odds else 1.0
    return max(float(rng.gamma(shape + components - extra, 1.0 / new_rate)), 1e-10)
