"""What a column of a table is: numbers, indicators, categories, or something to refuse."""

import re
from dataclasses import dataclass, field
from shlex import quote
from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.tables.table import count, word

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
DATE = re.compile(
    r"\s*(?:\d{4}([-/.])\d{1,2}\1\d{1,2}([ T]\d{1,2}:\d{2}.*)?\s*$"
    r"|\d{1,2}([-./])\d{1,2}\3\d{4}|\d{1,2}/\d{1,2}/\d{2}\b"
    rf"|\d{{1,2}}[-/ .]*{_MONTH}[-/ ,]*\d{{2,4}}\b|{_MONTH} *\d{{1,2}}[ ,]+\d{{4}}\b)",
    re.IGNORECASE,
)
TRUTH = {"True": 1.0, "False": 0.0}
LARGEST = 1e100  # of a number, whose square is one too
FEWEST_NAMES = 20  # rows from which a column of all different words is taken for row names, and
# one that goes up by one with every row for their numbers


@dataclass
class Column:
    """One column of a table and what is done with it.

    Attributes
    ----------
    kind : {"number", "indicator", "category", "constant"}
        Standardised; kept as 0 and 1; one column a level; left out.
    center, spread : float
        What is taken away and divided by.
    fill : float or str or None
        What stands in for a missing value: the median, or the most common level.
    levels : list of str
        Categories in alphabetical order.
    missing : int
        Rows without a value in training.
    """

    name: str
    kind: str
    center: float = 0.0
    spread: float = 1.0
    fill: Any = None
    levels: list[str] = field(default_factory=list)
    missing: int = 0

    @property
    def width(self) -> int:
        """Columns of the matrix that it becomes."""
        return {"constant": 0, "category": len(self.levels)}.get(self.kind, 1)

    @property
    def outputs(self) -> list[str]:
        """Names of those columns."""
        if self.kind == "category":
            return [f"{self.name}={level}" for level in self.levels]
        return [] if self.kind == "constant" else [self.name]


def learn_column(series: Any, name: str, scale: bool, categorical: bool) -> Column:
    """Decide what a column is, from its type and its values."""
    import pandas

    types = pandas.api.types
    missing = int(series.isna().sum())
    if missing == len(series):
        return Column(name, "constant", missing=missing)
    if not categorical and _is_date(series):
        example = series.dropna().iloc[0]
        raise DataError(
            f"column {name!r} holds dates such as {example}: derive numbers or categories from it "
            f"(a year, a weekday, days since a start), leave it out with --drop {quote(name)}, or "
            f"pass --categorical {quote(name)} if few of them come again and again"
        )
    if not categorical and types.is_bool_dtype(series.dtype):
        return _learn_numbers(name, series.astype(float), missing, scale)
    if not categorical and types.is_numeric_dtype(series.dtype):
        return _learn_numbers(name, series, missing, scale)
    levels, places = distinct_words(series, name)
    present = places[places >= 0]
    if not categorical and set(levels) == set(TRUTH):
        truth = np.array([TRUTH[level] for level in levels])[present]
        return _learn_numbers(name, pandas.Series(truth), missing, scale)
    if len(levels) == len(present) >= FEWEST_NAMES and not categorical:
        raise DataError(
            f"column {name!r} has a different word in every row (such as {levels[0]!r}): if "
            f"it names the rows pass --id {quote(name)}, if it holds documents --text "
            f"{quote(name)}, or leave it out with --drop {quote(name)}"
        )
    if len(levels) == 1 and missing == 0:
        return Column(name, "constant")
    common = levels[int(np.bincount(present).argmax())]
    return Column(name, "category", fill=common, levels=levels, missing=missing)


def _learn_numbers(name: str, series: Any, missing: int, scale: bool) -> Column:
    values = series.to_numpy(dtype=float, na_value=np.nan)
    values = values[~np.isnan(values)]
    infinite = int(np.isinf(values).sum())
    if infinite:
        told = count(infinite, "infinite value")
        raise DataError(f"column {name!r} has {told}: mend or --drop it")
    largest = values[np.abs(values).argmax()]
    if abs(largest) > LARGEST:
        raise DataError(
            f"column {name!r} holds {largest:g}: values beyond {LARGEST:g} in size cannot be used; "
            "mend or --drop it"
        )
    low, high, middle = float(values.min()), float(values.max()), float(np.median(values))
    if low == high:
        return Column(name, "constant", fill=low, missing=missing)
    if np.isin(values, (0.0, 1.0)).all():
        return Column(name, "indicator", fill=middle, missing=missing)
    if not scale:
        return Column(name, "number", fill=middle, missing=missing)
    center, spread = float(values.mean()), float(values.std())
    return Column(name, "number", center, spread or 1.0, middle, missing=missing)


def counts_rows(series: Any) -> bool:
    """Whether a column of whole numbers goes up by one from row to row.

    Examples
    --------
    >>> import pandas
    >>> from bayesmargin.tables.column_kinds import counts_rows
    >>> counts_rows(pandas.Series(range(1, 31))), counts_rows(pandas.Series([3, 1, 2] * 10))
    (True, False)
    """
    import pandas

    if len(series) < FEWEST_NAMES or not pandas.api.types.is_integer_dtype(series.dtype):
        return False
    return bool((series.diff().iloc[1:] == 1).all())


def _is_date(series: Any) -> bool:
    import datetime

    import pandas

    types = pandas.api.types
    if _is_time(series.dtype):
        return True
    if types.is_numeric_dtype(series.dtype) or types.is_bool_dtype(series.dtype):
        return False
    some = series.dropna().iloc[:200]
    if any(isinstance(value, datetime.date | datetime.time) for value in some):
        return True
    return all(isinstance(value, str) and DATE.match(value) for value in some)


def _is_time(dtype: Any) -> bool:
    """Whether values are times or durations, of which pandas makes nanoseconds if asked to."""
    import pandas

    types = pandas.api.types
    return types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype)


def distinct_words(series: Any, name: str) -> tuple[list[str], Any]:
    """Different values as words in alphabetical order, and which of them every row has (-1: none).

    Whole numbers are words without a decimal point.

    Examples
    --------
    >>> import pandas
    >>> from bayesmargin.tables.column_kinds import distinct_words
    >>> distinct_words(pandas.Series([7.0, None, 10.0, 7.0]), "floor")
    (['10', '7'], array([ 1, -1,  0,  1]))
    """
    import pandas

    try:
        codes, found = pandas.factorize(series)
        values = found.tolist()
    except TypeError:  # values without a hash
        values = [[]]
    if any(isinstance(value, list | dict | tuple | set | np.ndarray | bytes) for value in values):
        raise DataError(f"column {name!r} holds lists or other structures: leave it out (--drop)")
    words = np.array([word(value) for value in values], dtype=object)
    levels, places = np.unique(words, return_inverse=True)
    return levels.tolist(), np.append(places, -1)[codes]


def as_numbers(series: Any, name: str, source: str) -> Any:
    """Values as numbers, missing ones NaN; anything else is an error that names the row."""
    import pandas

    if not pandas.api.types.is_numeric_dtype(series.dtype):
        levels, places = distinct_words(series, name)
        if set(levels) <= {*TRUTH, ""}:
            return np.array([*(TRUTH.get(level, np.nan) for level in levels), np.nan])[places]
    if _is_time(series.dtype):
        numbers = np.full(len(series), np.nan)
    else:
        numbers = pandas.to_numeric(series, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
    bad = np.flatnonzero(np.isnan(numbers) & ~series.isna().to_numpy())
    if len(bad):
        raise DataError(
            f"column {name!r} of {source} held numbers when the model was fitted; row "
            f"{bad[0] + 1} has {series.iloc[bad[0]]!r}"
        )
    huge = np.flatnonzero(np.abs(numbers) > LARGEST)
    if len(huge):
        raise DataError(
            f"column {name!r} of {source} holds {numbers[huge[0]]:g} in row {huge[0] + 1}: values "
            f"beyond {LARGEST:g} in size cannot be used"
        )
    return numbers
