"""Preparation of tables: categories to indicators, numbers standardised, missing values seen to."""

from dataclasses import asdict
from shlex import quote
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.errors import DataError
from bayesmargin.inputs.names import listed
from bayesmargin.tables.column_kinds import (
    Column,
    as_numbers,
    counts_rows,
    distinct_words,
    learn_column,
)
from bayesmargin.tables.preparation import Preparation
from bayesmargin.tables.strays import all_numbers, refuse_strays
from bayesmargin.tables.table import Table, count

MISSING = ("error", "median", "drop")
WIDE = 200  # columns of the matrix from which it is sparse, when categories make most of them


class ColumnPreparation(Preparation):
    """Turn named columns into a matrix.

    Numbers are standardised; columns of zeros and ones stay as they are; categories become one
    column a level (a level that training did not see is all zeros); constant columns are left out;
    dates are refused.

    Parameters
    ----------
    scale : bool
        Whether numbers are standardised.
    missing : {"error", "median", "drop"}
        Refuse missing values, fill in the median (categories: the most common), or drop the rows.
    categorical : sequence of str
        Columns of categories even where they hold numbers.

    Examples
    --------
    >>> import pandas
    >>> from bayesmargin.tables import ColumnPreparation, Table
    >>> flowers = Table("columns", pandas.DataFrame({"width": [1, 3], "colour": ["red", "blue"]}))
    >>> ColumnPreparation().fit(flowers).feature_names
    ['width', 'colour=blue', 'colour=red']
    >>> ColumnPreparation().fit(flowers).transform(flowers)
    array([[-1.,  0.,  1.],
           [ 1.,  1.,  0.]])
    """

    kind = "columns"

    def __init__(self, scale: bool = True, missing: str = "error", categorical: Any = ()) -> None:
        if missing not in MISSING:
            raise DataError(f"missing={missing!r} is not known: choose {', '.join(MISSING)}")
        self.scale, self.missing, self.categorical = scale, missing, tuple(categorical)
        self.columns: list[Column] = []
        self.sparse = False
        self.remarks: list[str] = []
        self._noted: list[str] | None = None  # by inspect, for the remarks

    def inspect(self, table: Table) -> None:
        """Refuse words among numbers, and missing values that are not to be filled or dropped."""
        frame = _frame(table)
        refuse_strays(frame, table.source, self.categorical)
        self._refuse_missing(frame, table.source, new=False)
        if self.missing == "drop" and not _full(frame).any():
            lacking = _counted(_missing_counts(frame), len(frame), new=False)
            raise DataError(
                f"every row of {table.source} has a missing value, so none is left: {lacking}"
            )
        self._noted = [*_notes_on_missing(frame, self.missing), *_notes_on_numbers(frame)]

    def fit(self, table: Table) -> "ColumnPreparation":
        """Learn kinds, levels, means and medians; inspects the table unless that has been done."""
        if self._noted is None:
            self.inspect(table)
        frame = _frame(table)
        if self.missing == "drop":
            frame = frame[_full(frame)]
        self.columns = [
            learn_column(frame[name], name, self.scale, name in self.categorical) for name in frame
        ]
        width = sum(column.width for column in self.columns)
        if width == 0:
            raise DataError(f"every column of {table.source} is constant: nothing can be learned")
        levels = sum(column.width for column in self.columns if column.kind == "category")
        self.sparse = width > WIDE and levels > width // 2
        self.remarks, self._noted = [*self._findings(), *(self._noted or ())], None
        return self

    def _findings(self) -> list[str]:
        found = []
        gone = [column.name for column in self.columns if column.kind == "constant"]
        if gone:
            found.append(f"constant columns left out: {listed(gone)}")
        return found + [
            f"column {column.name!r} holds numbers as text and is taken for categories "
            f"(--categorical {quote(column.name)} says that it is): make it numeric if it measures"
            for column in self.columns
            if column.name not in self.categorical and all_numbers(column.levels)
        ]

    def complete(self, table: Table) -> Any:
        """Mask of the rows that can be used; before the fit by all columns of the table."""
        if self.missing != "drop":
            return super().complete(table)
        used = [column.name for column in self.columns if column.name in table.data]
        return _full(table.data[used] if self.columns else _frame(table))

    def _refuse_missing(self, frame: Any, source: str, new: bool) -> None:
        lacking = _missing_counts(frame)
        if not lacking or self.missing == "median" or (self.missing == "drop" and not new):
            return
        advice = "pass --missing median or --missing drop, or mend the file (in CSV files NA, "
        advice += "None and null are missing values, too)"
        if new:
            advice = "fill them in, or fit the model with --missing median"
        told = _counted(lacking, len(frame), new)
        raise DataError(f"{source} has missing values: {told}; {advice}")

    def gaps(self, table: Table) -> list[str]:
        """Remarks on values of new rows that are filled in."""
        used = [c.name for c in self.columns if c.kind != "constant" and c.name in table.data]
        return _notes_on_missing(table.data[used], "median") if self.missing == "median" else []

    def transform(self, table: Table, remarks: list[str] | None = None) -> Any:
        """Matrix of rows, dense, or CSR when categories have many levels."""
        remarks = [] if remarks is None else remarks
        frame = _frame(table)
        used = [column for column in self.columns if column.kind != "constant"]
        lost = [column.name for column in used if column.name not in frame]
        if lost:
            raise DataError(f"{table.source} lacks columns that the model needs: {listed(lost)}")
        known = {column.name for column in self.columns}
        extra = [name for name in frame if name not in known]
        if extra:
            remarks.append(f"columns that the model does not know are ignored: {listed(extra)}")
        self._refuse_missing(frame[[column.name for column in used]], table.source, new=True)
        shape = (len(frame), sum(column.width for column in used))
        matrix = _Pieces(shape) if self.sparse else np.zeros(shape)
        first = 0
        for column in used:
            if column.kind == "category":
                rows, places = _encode(frame[column.name], column, remarks)
                matrix[rows, first + places] = 1.0
            else:
                numbers = as_numbers(frame[column.name], column.name, table.source)
                numbers = np.where(np.isnan(numbers), column.fill, numbers)
                matrix[:, first] = (numbers - column.center) / column.spread
            first += column.width
        return matrix.joined() if isinstance(matrix, _Pieces) else matrix

    @property
    def number_columns(self) -> list[str]:
        """Columns that hold numbers, also where a file writes them with decimal commas."""
        return [column.name for column in self.columns if column.kind == "number"]

    @property
    def text_columns(self) -> list[str]:
        """Columns whose values are words, to be read as such from CSV files."""
        return [column.name for column in self.columns if column.kind == "category"]

    @property
    def feature_names(self) -> list[str]:
        """Names such as ``width`` and ``colour=red``."""
        return [name for column in self.columns for name in column.outputs]

    def summary(self) -> dict[str, Any]:
        """What was done."""
        kinds = {kind: [c.name for c in self.columns if c.kind == kind]
                 for kind in ("number", "indicator", "category", "constant")}  # fmt: skip
        return {
            "features": len(self.feature_names),
            "numbers": len(kinds["number"]),
            "standardised": self.scale and bool(kinds["number"]),
            "indicators": len(kinds["indicator"]),
            "categories": {c.name: c.width for c in self.columns if c.kind == "category"},
            "constant": kinds["constant"],
            "missing": {c.name: c.missing for c in self.columns if c.missing},
            "sparse": self.sparse,
        }

    def to_json(self) -> dict[str, Any]:
        """Everything as JSON."""
        return {
            "kind": self.kind,
            "scale": self.scale,
            "missing": self.missing,
            "categorical": list(self.categorical),
            "sparse": self.sparse,
            "columns": [asdict(column) for column in self.columns],
        }

    @classmethod
    def restore(cls, stored: dict[str, Any]) -> "ColumnPreparation":
        """The preparation that :meth:`to_json` described."""
        made = cls(bool(stored["scale"]), stored["missing"], stored["categorical"])
        made.sparse = bool(stored["sparse"])
        made.columns = [Column(**column) for column in stored["columns"]]
        return made


class _Pieces:
    """Collects assignments to a matrix that is mostly zeros."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.shape = shape
        self.parts: list[tuple[Any, Any, Any]] = []

    def __setitem__(self, place: Any, values: Any) -> None:
        rows, columns = place
        rows = np.arange(self.shape[0]) if isinstance(rows, slice) else rows
        shape = (len(rows),)
        self.parts.append((rows, np.broadcast_to(columns, shape), np.broadcast_to(values, shape)))

    def joined(self) -> Any:
        """The CSR matrix."""
        rows, columns, values = (np.concatenate(part) for part in zip(*self.parts, strict=True))
        return sparse.csr_array((values, (rows, columns)), shape=self.shape)


def _encode(series: Any, column: Column, remarks: list[str]) -> tuple[Any, Any]:
    """Rows that have a known level, and which."""
    words, rows = distinct_words(series, column.name)
    known = {level: place for place, level in enumerate(column.levels)}
    places = np.array([_level(word, known) for word in [*words, column.fill]])[rows]
    new = places < 0
    if new.any():
        strange = [words[k] for k in np.unique(rows[new])]
        remarks.append(
            f"{count(int(new.sum()), 'row')} with categories of {column.name!r} that training "
            f"did not see ({listed(strange, 4)}): counted as none"
        )
    return np.flatnonzero(~new), places[~new]


def _level(word: str, known: dict[str, int]) -> int:
    """Place of a level, -1 if there is none; 7 is written as 7.0 in files with missing values."""
    other = word.removesuffix(".0") if word.endswith(".0") else f"{word}.0"
    return known.get(word, known.get(other, -1))


def _frame(table: Table) -> Any:
    if table.kind != "columns":
        raise DataError(
            f"{table.source} holds {table.kind}, but the model reads tables with named columns "
            "(CSV, Parquet)"
        )
    return table.data


def _full(frame: Any) -> Any:
    """Mask of the rows without a missing value."""
    return ~frame.isna().any(axis=1).to_numpy()


def _notes_on_missing(frame: Any, missing: str) -> list[str]:
    lacking = _missing_counts(frame)
    if not lacking:
        return []
    if missing == "median":
        return [f"missing values filled in: {_counted(lacking, len(frame))}"]
    dropped = int((~_full(frame)).sum())
    told = _counted(lacking, len(frame))
    return [f"{count(dropped, 'row')} with missing values dropped: {told}"]


def _notes_on_numbers(frame: Any) -> list[str]:
    return [
        f"column {name!r} counts the rows: if it only numbers them pass --id {quote(name)} or "
        f"--drop {quote(name)}, since the order of the rows would be learned"
        for name in frame
        if counts_rows(frame[name])
    ]


def _missing_counts(frame: Any) -> dict[str, int]:
    counts = frame.isna().sum()
    return {str(name): int(number) for name, number in counts.items() if number}


def _counted(lacking: dict[str, int], n_rows: int, new: bool = True) -> str:
    """Names and numbers; of columns of training rows without any value, what to do with them."""

    def told(name: str, number: int) -> str:
        all_of_them = " (all)" if new else f" (all: --drop {quote(name)})"
        return f"{name!r} {number:,}{all_of_them if number == n_rows else ''}"

    shown = ", ".join(told(name, number) for name, number in list(lacking.items())[:8])
    return shown if len(lacking) <= 8 else f"{shown} and {len(lacking) - 8} more columns"
