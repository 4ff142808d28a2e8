"""What a fitted regression says of rows: values, and how well they are known."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from bayesmargin.calibration.residuals import LeftOut
from bayesmargin.distributed import is_collection
from bayesmargin.foundation.arguments import require_share
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.linear.reading import LinearScores
from bayesmargin.rows.files import FileRows


class RegressionPredictions(RegressorMixin, LinearScores):
    """Predictions of values from the posterior of the weights.

    ``X`` is always a matrix, a sparse matrix, an opened file or a Dask collection of rows.
    """

    left_out_: LeftOut

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Posterior mean of the values, and with ``return_std`` its posterior sd.

        The deviation tells how well the line is known, and not how far values lie from it.

        Returns
        -------
        values : array of shape (n_samples,), or (n_samples, n_quantiles or n_outputs) of several
        std : array of the same shape, only with ``return_std=True``
        """
        if is_collection(X):
            return self._on_blocks("predict", X, return_std=return_std)
        found = self._scored(X, return_std)
        if not return_std:
            return self._in_order(found)
        return self._in_order(found[0]), found[1]

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        """Intervals that hold new values as often as they say.

        Residuals of the training rows, each under the posterior without its row, say how far new
        values lie from a line; nothing is assumed of the noise, and no part of the rows is held
        out. Intervals of one line widen where rows are few; those of several quantiles are as wide
        as the distance of the lowest and the highest of them.

        Parameters
        ----------
        X : array-like, sparse matrix, FileRows or Dask collection of shape (n_samples, n_features)
        coverage : float
            Share of new values that shall lie inside.

        Returns
        -------
        array of shape (n_samples, 2), or (n_samples, n_outputs, 2) of several values a row
            Lower and upper ends.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesmargin import BayesianLinearSVR
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((2000, 3))
        >>> y = X[:, 0] + rng.exponential(size=2000)
        >>> model = BayesianLinearSVR(C="auto", n_draws=200, random_state=0).fit(X[:1000], y[:1000])
        >>> low, high = model.predict_interval(X[1000:], coverage=0.8).T
        >>> round(float(np.mean((low <= y[1000:]) & (y[1000:] <= high))), 1)
        0.8
        """
        require_share("coverage", coverage)
        if is_collection(X):
            return self._on_blocks("predict_interval", X, coverage=coverage)
        X = self._rows(X)
        parts = X.parts() if isinstance(X, FileRows) else [X]
        return np.concatenate([self._interval(part, coverage) for part in parts])

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Coefficient of determination; ``y`` may be left out when ``X`` is a file with values."""
        if is_collection(X):
            weight = None if sample_weight is None else np.asarray(sample_weight)
            found = np.asarray(self.predict(X))
            return float(r2_score(np.asarray(y), found, sample_weight=weight))
        y = X.checked_labels(y) if isinstance(X, FileRows) else y
        return float(r2_score(y, self.predict(X), sample_weight=sample_weight))

    def _on_blocks(self, method: str, X: Any, **options: Any) -> Any:
        from bayesmargin.distributed.predicting import on_blocks

        check_is_fitted(self)
        scores: tuple[int, ...] = np.shape(self.coef_)[:-1]
        if method == "predict_interval":
            columns = (2,) if "quantile" in self.posterior_.coords else (*scores, 2)
        else:
            columns = scores
        return on_blocks(self, method, X, (columns or None, np.dtype(float)), **options)

    def _interval(self, X: Any, coverage: float) -> FloatArray:
        values, deviation = self._decision(X, return_std=True)
        if values.ndim == 1:
            return np.column_stack(self.left_out_.around(values, deviation**2, coverage))
        ends = [
            self.left_out_.of_line(k).around(line, known**2, coverage)
            for k, (line, known) in enumerate(zip(values.T, deviation.T, strict=True))
        ]
        return np.stack([np.column_stack(pair) for pair in ends], axis=1)

    def _in_order(self, values: FloatArray) -> FloatArray:
        """The values as they may be: quantiles rise with their levels."""
        return np.asarray(values)
