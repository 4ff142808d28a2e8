"""Which columns the Gaussians see: words and flags among the features are left to the experts."""

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray


def continuous_columns(X: FloatArray) -> IntArray:
    """Numbers of the columns with more than two values.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.infinite_svc.columns import continuous_columns
    >>> continuous_columns(np.array([[0.1, 1.0, 3.0], [0.2, 0.0, 3.0], [0.3, 1.0, 3.0]]))
    array([0])
    """
    low, high = X.min(axis=0), X.max(axis=0)
    return np.flatnonzero(((low < X) & (high > X)).any(axis=0))


def columns_of_gaussians(covariates: bool | str, X: FloatArray) -> bool | IntArray:
    """All columns, none, or the numbers of those that the Gaussians are to see.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.infinite_svc.columns import columns_of_gaussians
    >>> columns_of_gaussians("auto", np.array([[0.1, 1.0], [0.2, 0.0], [0.3, 1.0]]))
    array([0])
    >>> columns_of_gaussians("auto", np.array([[0.1, 5.0], [0.2, 5.0], [0.3, 5.0]]))
    True
    """
    if not isinstance(covariates, str):
        return covariates
    columns = continuous_columns(X)
    varying = np.count_nonzero(X.min(axis=0) < X.max(axis=0))
    if covariates == "auto" and not 0 < len(columns) < varying:
        return True
    return columns


def views(
    X: FloatArray, covariates: bool | IntArray, intercept: bool
) -> tuple[FloatArray, FloatArray]:
    """Covariates, the columns that the Gaussians see, and design matrix, which the experts see."""
    design = np.column_stack([X, np.ones(len(X))]) if intercept else X
    if isinstance(covariates, np.ndarray):
        return np.ascontiguousarray(X[:, covariates]), design
    return (X if covariates else np.empty((len(X), 0))), design
