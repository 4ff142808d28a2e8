"""From rows as people keep them to the numbers that a model reads, and back from JSON."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.tables.table import Table


class Preparation(ABC):
    """What is learned from training rows to turn rows into a matrix; plain numbers and words.

    Saved with a model as JSON, so that new rows are treated like those that it was fitted on.
    """

    kind: str

    @abstractmethod
    def fit(self, table: Table) -> "Preparation":
        """Learn from training rows; ``remarks`` then says what was found."""

    def inspect(self, table: Table) -> None:  # noqa: B027
        """Refuse a table that cannot be prepared, before rows are held out."""

    @abstractmethod
    def transform(self, table: Table, remarks: list[str] | None = None) -> Any:
        """Matrix of rows, dense or CSR; what is odd about them is added to ``remarks``."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Everything as JSON."""

    @classmethod
    @abstractmethod
    def restore(cls, stored: dict[str, Any]) -> "Preparation":
        """What :meth:`to_json` of this kind described."""

    @property
    @abstractmethod
    def feature_names(self) -> list[str]:
        """Name of every column of the matrix."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """What was done, for people and for JSON."""

    def gaps(self, table: Table) -> list[str]:
        """Remarks on values of new rows that are filled in; nothing is unless columns are."""
        return []

    def complete(self, table: Table) -> Any:
        """Mask of the rows that can be used; all of them unless rows are dropped."""
        return np.ones(len(table), dtype=bool)

    @staticmethod
    def from_json(stored: dict[str, Any]) -> "Preparation":
        """The preparation that :meth:`to_json` described.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesmargin.tables import MatrixPreparation, Preparation, Table
        >>> rows = Table("matrix", np.array([[0.0, 5.0], [2.0, 9.0]]))
        >>> learned = MatrixPreparation().fit(rows)
        >>> Preparation.from_json(learned.to_json()).transform(rows)
        array([[-1., -1.],
               [ 1.,  1.]])
        """
        kind = stored.get("kind") if isinstance(stored, dict) else None
        found = next((known for known in Preparation.__subclasses__() if known.kind == kind), None)
        if found is None:
            raise DataError(f"the model holds a preparation of unknown kind {kind!r}")
        try:
            return found.restore(stored)
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"the preparation stored with the model is damaged: {error}") from error
