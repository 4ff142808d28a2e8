"""How finely the values of a column were written down, below which no component can be narrow.

Values that were rounded repeat themselves, and the density of a component around one of them grows
without bound as it becomes narrower, whatever the other rows say: splits end in components of one
value each. What was rounded is known up to its unit, so no component is narrower than a uniform law
over that, and none of a column of 0 and 1 narrower than a tenth of its deviation.
"""

import math

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.dpmnl.state import NARROWEST

_WIDEST = 2.0 * math.log(0.1)


def least_log_variances(X: FloatArray) -> FloatArray:
    """Least log variance of each column in a component; ``X`` is standardised.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.dpmnl.resolution import least_log_variances
    >>> X = np.array([[0.1, 0.52], [0.2, 0.71], [0.1, -0.33]])
    >>> np.exp(0.5 * least_log_variances(X)).round(4)  # 0.1 / sqrt(12); no value comes twice
    array([0.0289, 0.    ])
    """
    least = np.full(X.shape[1], NARROWEST)
    for j, column in enumerate(X.T):
        values = np.unique(column)
        if 1 < len(values) < len(column):
            unit = float(np.diff(values).min())
            least[j] = min(max(2.0 * math.log(unit) - math.log(12.0), NARROWEST), _WIDEST)
    return least
