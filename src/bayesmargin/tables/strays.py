"""Columns of numbers that are written as words: ``?`` among them, or all like ``$1,200``.

Read as they are, such columns would be categories with a level for each number.
"""

import re
from collections.abc import Collection
from shlex import quote
from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.inputs.names import listed
from bayesmargin.tables.table import count

FEWEST_NUMBERS = 20  # different ones, from which a column is one of numbers
MOST_STRAYS = 0.1  # of its different values
_UNIT = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR)"
DRESSED = re.compile(  # numbers with separators of thousands, decimal commas, currencies, percents
    rf"[-+(]?\s?{_UNIT}?\s?[-+]?\d+(?:[.,'\u2019\u00a0\u202f ]\d{{3}})*(?:[.,]\d+)?\s?"
    rf"(?:%|{_UNIT})?\)?"
)


def refuse_strays(frame: Any, source: str, categorical: Collection[str]) -> None:
    """Refuse words among numbers, with their row, and numbers that are written as words.

    Columns that are said to be categorical may hold them.

    Examples
    --------
    >>> import pandas
    >>> from bayesmargin.tables.strays import refuse_strays
    >>> ages = pandas.DataFrame({"age": [*map(str, range(30)), "?"]})
    >>> refuse_strays(ages, "people.csv", ())
    Traceback (most recent call last):
        ...
    bayesmargin.errors.DataError: column 'age' of people.csv holds numbers, but '?' in 1 row \
(first: row 31): mend the file, leaving cells without a value empty, or pass --categorical age
    """
    import pandas

    types = pandas.api.types
    for name in frame:
        series = frame[name]
        plain = types.is_numeric_dtype(series.dtype) or types.is_datetime64_any_dtype(series.dtype)
        if plain or name in categorical:
            continue
        words = series.dropna().astype(str)
        values = np.array(words.unique(), dtype=object)
        numeric = pandas.to_numeric(pandas.Series(values), errors="coerce").notna().to_numpy()
        dressed = [DRESSED.fullmatch(value.strip()) is not None for value in values]
        dressed = np.array(dressed, dtype=bool) & ~numeric
        strays = values[~numeric & ~dressed]
        if len(strays) > MOST_STRAYS * len(values) or len(values) - len(strays) < FEWEST_NUMBERS:
            continue
        if len(strays):
            rows = np.flatnonzero(series.astype(str).isin(strays.tolist()) & series.notna())
            raise DataError(
                f"column {name!r} of {source} holds numbers, but {listed(strays)} in "
                f"{count(len(rows), 'row')} (first: row {rows[0] + 1}): mend the file, leaving "
                f"cells without a value empty, or pass --categorical {quote(name)}"
            )
        if dressed.any():
            raise DataError(
                f"column {name!r} of {source} holds numbers written as {listed(values[dressed], 2)}"
                f": write them plainly (as 1234.5), or pass --categorical {quote(name)}"
            )


def all_numbers(levels: list[str]) -> bool:
    """Whether many different words are all numbers."""
    import pandas

    if len(levels) < FEWEST_NUMBERS:
        return False
    return bool(pandas.to_numeric(pandas.Series(levels), errors="coerce").notna().all())
