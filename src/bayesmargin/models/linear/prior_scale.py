r"""The scale of a prior by rule, for rows whose size tells nothing: embeddings above all.

A weight of prior scale :math:`\sigma` gives a row :math:`x` a score of standard deviation
:math:`\sigma |x|`. With

.. math:: \sigma = \ell \,\Big/ \sqrt{\overline{|x|^2}}

that is the margin :math:`\ell`, for a row of usual size, however many features there are: scores
of a thousand features do not start out thirty margins apart, and where rows are separable, which
embeddings of few rows a class are, the prior says how far the classes lie apart. Features in other
units give other weights and the same scores.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.foundation.types import FloatArray
from bayesmargin.rows.files import FileRows

AUTO = "auto"
BLOCK = 1 << 14  # rows that are squared together


def resolved_scale(
    scale: Any, X: Any, weight: FloatArray, margin: float, fit_intercept: bool
) -> float:
    """The scale itself, or that of the rule for rows that count as their weights say.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.linear.prior_scale import resolved_scale
    >>> X = np.array([[3.0, 4.0], [0.0, 5.0]])
    >>> float(resolved_scale("auto", X, np.ones(2), margin=1.0, fit_intercept=False))
    0.2
    """
    if not isinstance(scale, str):
        return float(scale)
    total, first = 0.0, 0
    for part in _blocks(X):
        squares = _squares(part)
        total += float(weight[first : first + len(squares)] @ squares)
        first += len(squares)
    usual = total / float(weight.sum()) + float(fit_intercept)
    return float(margin) / np.sqrt(usual) if usual > 0.0 else 1.0


def _blocks(X: Any) -> Iterator[Any]:
    if isinstance(X, FileRows):
        yield from X.parts()
        return
    for start in range(0, X.shape[0], BLOCK):
        yield X[start : start + BLOCK]


def _squares(part: Any) -> FloatArray:
    """Squared lengths of some rows."""
    if sparse.issparse(part):
        part = part.astype(float)
        return np.asarray(part.multiply(part).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", part, part, dtype=float)
