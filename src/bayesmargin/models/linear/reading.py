"""Rows as a fitted linear model reads them, and their scores under its posterior."""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesmargin.diagnostics.convergence import Diagnostics
from bayesmargin.errors import DataError
from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.checks import require_numbers
from bayesmargin.inputs.tensors import host_array
from bayesmargin.models.linear.scores import mean_scores
from bayesmargin.models.linear.spread import score_variance, scores_with_variance
from bayesmargin.posterior import Posterior
from bayesmargin.rows.files import FileRows
from bayesmargin.rows.matching import matched_rows
from bayesmargin.rows.sparse import canonical

ROW_TYPES = [np.float64, np.float32]


def label_sets(y: Any) -> FloatArray | None:
    """Label sets, an indicator of zeros and ones (row, label); None where a row has one label."""
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    if len(shape) != 2 or shape[1] < 2:
        return None
    table = np.asarray(y.toarray() if sparse.issparse(y) else y)
    if table.dtype.kind not in "biuf" or not np.isin(table, (0, 1)).all():
        raise DataError(
            f"y has the shape {table.shape} and holds more than zeros and ones: several labels a "
            "row are an indicator (row, label); one label a row is a vector"
        )
    for k, share in enumerate(table.mean(axis=0)):
        if share in (0.0, 1.0):
            raise DataError(
                f"y has label {k} (counted from 0) in {'all' if share else 'no'} rows: leave the "
                "column out, there is nothing to tell apart"
            )
    return table.astype(np.int64)


class LinearScores(BaseEstimator):
    """Scores of rows in memory, in files or on a cluster, from the posterior of the weights."""

    coef_: FloatArray
    intercept_: FloatArray
    posterior_: Posterior
    diagnostics_: Diagnostics

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a fit was completed: one that failed leaves the number of columns behind."""
        return hasattr(self, "posterior_")

    @abstractmethod
    def _n_blocks(self) -> int:
        """Number of scores of a row."""

    def _draws(self) -> tuple[FloatArray, FloatArray]:
        """Draws of coefficients (draw, block, feature) and intercepts (draw, block)."""
        coef, blocks = self.posterior_.flat("coef"), self._n_blocks()
        intercept = self.posterior_.flat("intercept").reshape(len(coef), blocks)
        return (coef[:, None] if coef.ndim == 2 else coef), intercept

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if isinstance(X, FileRows):
            return matched_rows(X, self, reset=False)
        X = host_array(X)
        require_numbers(X)
        X = validate_data(self, X, dtype=ROW_TYPES, accept_sparse="csr", reset=False)
        return canonical(X) if sparse.issparse(X) else X

    def _scored(self, X: Any, return_std: bool) -> Any:
        """Mean scores, and with ``return_std`` their deviations, of rows in memory or in a file."""
        X = self._rows(X)
        if isinstance(X, FileRows):
            parts = [self._decision(part, return_std) for part in X.parts()]
            joint = [np.concatenate(part) for part in zip(*parts, strict=True)]
        else:
            joint = list(self._decision(X, return_std))
        return tuple(joint) if return_std else joint[0]

    def _decision(self, X: Any, return_std: bool) -> tuple[FloatArray, ...]:
        mean = np.atleast_2d(self.coef_), self.intercept_
        if return_std:
            scores, variance = scores_with_variance(X, mean, *self._draws())
            found = [scores, np.sqrt(variance, out=variance)]
        else:
            found = [mean_scores(X, *mean)]
        return tuple(part[:, 0] if self._n_blocks() == 1 else part for part in found)

    def _score_sd(self, X: Any) -> FloatArray:
        deviations = np.sqrt(score_variance(X, *self._draws()))
        return deviations[:, 0] if self._n_blocks() == 1 else deviations

    def _on_blocks(self, method: str, X: Any, **options: Any) -> Any:
        """A lazy Dask array: ``method`` on every block of rows."""
        from bayesmargin.distributed.predicting import on_blocks

        check_is_fitted(self)
        return on_blocks(self, method, X, **options)
