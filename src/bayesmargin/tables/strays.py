"""Columns of numbers in which a few words have strayed, such as ``?`` or ``unknown``.

Read as they are, such columns would be categories with a level for each number.
"""

from collections.abc import Collection
from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.tables.table import count, listed

FEWEST_NUMBERS = 20  # different ones, from which a column is one of numbers
MOST_STRAYS = 0.1  # of its different values


def refuse_strays(frame: Any, source: str, categorical: Collection[str]) -> None:
    """Refuse words among numbers, with their row, unless the column is said to be categorical.

    Examples
    --------
    >>> import pandas
    >>> from bayesmargin.tables.strays import refuse_strays
    >>> ages = pandas.DataFrame({"age": [*map(str, range(30)), "?"]})
    >>> refuse_strays(ages, "people.csv", ())
    Traceback (most recent call last):
        ...
    bayesmargin.errors.DataError: column 'age' of people.csv holds numbers, but '?' in 1 row \
(first: row 31): mend the file, leaving cells without a value empty, or pass --categorical 'age'
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
        strays = values[~numeric]
        few = 0 < len(strays) <= MOST_STRAYS * len(values)
        if not few or numeric.sum() < FEWEST_NUMBERS:
            continue
        rows = np.flatnonzero(series.astype(str).isin(strays.tolist()) & series.notna())
        raise DataError(
            f"column {name!r} of {source} holds numbers, but {listed(strays)} in "
            f"{count(len(rows), 'row')} (first: row {rows[0] + 1}): mend the file, leaving cells "
            f"without a value empty, or pass --categorical {name!r}"
        )
