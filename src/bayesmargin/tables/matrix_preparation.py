"""Preparation of numeric matrices: dense ones standardised, sparse ones left as they are."""

from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.errors import DataError
from bayesmargin.tables.preparation import Preparation
from bayesmargin.tables.table import Table


class MatrixPreparation(Preparation):
    """Standardise a dense matrix; a sparse one would lose its zeros and is left alone.

    Parameters
    ----------
    scale : bool
        Whether to standardise.
    """

    kind = "matrix"

    def __init__(self, scale: bool = True) -> None:
        self.scale = scale
        self.center: Any = None
        self.spread: Any = None
        self.n_features = 0
        self.remarks: list[str] = []

    def fit(self, table: Table) -> "MatrixPreparation":
        """Learn the width and, for dense matrices, mean and deviation of every column."""
        matrix = self._checked(table)
        self.n_features = matrix.shape[1]
        self.remarks = []
        if sparse.issparse(matrix):
            if self.scale:
                self.remarks.append("sparse numbers are left as they are (not standardised)")
        elif self.scale:
            self.center = matrix.mean(axis=0, dtype=float)
            spread = matrix.std(axis=0, dtype=float)
            constant = np.flatnonzero(spread <= 1e-12 * (1.0 + np.abs(self.center)))
            if len(constant):
                places = ", ".join(str(j) for j in constant[:8])
                self.remarks.append(f"{len(constant)} constant columns (numbers {places})")
            spread[constant] = 1.0
            self.spread = spread
        return self

    def transform(self, table: Table, remarks: list[str] | None = None) -> Any:
        """The matrix, standardised as in training."""
        matrix = self._checked(table.widened(self.n_features))
        if matrix.shape[1] != self.n_features:
            raise DataError(
                f"{table.source} has {matrix.shape[1]} columns, but the model was fitted on "
                f"{self.n_features}"
            )
        if self.center is None:
            return matrix
        dense = matrix.toarray() if sparse.issparse(matrix) else matrix
        return (dense - self.center) / self.spread

    @staticmethod
    def _checked(table: Table) -> Any:
        if table.kind != "matrix":
            raise DataError(
                f"{table.source} holds {table.kind}, but the model reads numeric matrices "
                "(svmlight, .npz, .npy)"
            )
        values = table.data.data if sparse.issparse(table.data) else table.data
        bad = ~np.isfinite(values)
        if bad.any():
            where = ""
            if not sparse.issparse(table.data):
                row, column = np.argwhere(bad)[0]
                where = f" (first: row {row + 1}, column {column + 1})"
            raise DataError(
                f"{table.source} has {int(bad.sum()):,} missing or infinite values{where}: fill "
                "them in before fitting"
            )
        return table.data

    @property
    def feature_names(self) -> list[str]:
        """Numbers of the columns, from 1 as in svmlight files."""
        return [f"x{j + 1}" for j in range(self.n_features)]

    def summary(self) -> dict[str, Any]:
        """What was done."""
        return {"features": self.n_features, "standardised": self.center is not None}

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "kind": self.kind,
            "scale": self.scale,
            "n_features": self.n_features,
            "center": None if self.center is None else self.center.tolist(),
            "spread": None if self.spread is None else self.spread.tolist(),
        }

    @classmethod
    def restore(cls, stored: dict[str, Any]) -> "MatrixPreparation":
        """The preparation that :meth:`to_json` described."""
        made = cls(bool(stored["scale"]))
        made.n_features = int(stored["n_features"])
        if stored["center"] is not None:
            made.center = np.array(stored["center"], dtype=float)
            made.spread = np.array(stored["spread"], dtype=float)
        return made
