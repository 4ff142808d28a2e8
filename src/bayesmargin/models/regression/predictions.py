"""What a fitted regression says of rows: values, and how well they are known."""

from typing import Any

import numpy as np

from bayesmargin.distributed import is_collection
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.linear.reading import LinearScores


class RegressionPredictions(LinearScores):
    """Predictions of values from the posterior of the weights.

    ``X`` is always a matrix, a sparse matrix, an opened file or a Dask collection of rows.
    """

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Posterior mean of the values, and with ``return_std`` its posterior sd.

        The deviation tells how well the line is known, and not how far values lie from it.

        Returns
        -------
        values : array of shape (n_samples,), or (n_samples, n_quantiles) of several
        std : array of the same shape, only with ``return_std=True``
        """
        if is_collection(X):
            return self._on_blocks("predict", X, return_std=return_std)
        found = self._scored(X, return_std)
        if not return_std:
            return self._in_order(found)
        return self._in_order(found[0]), found[1]

    def _in_order(self, values: FloatArray) -> FloatArray:
        """The values as they may be: quantiles rise with their levels."""
        return np.asarray(values)
