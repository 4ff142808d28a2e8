"""How a text table is written: what stands between its fields, and decimal commas."""

import re
from collections.abc import Collection
from typing import Any

SEPARATORS = {"csv": ",", "tsv": "\t"}
CANDIDATES = (";", "\t", "|", ",")
NUMBER = r"\s*[-+]?\d+(?:,\d+)?(?:[eE][-+]?\d+)?\s*"
WHOLE = re.compile(r"\s*[-+]?\d+\s*")
NOT_THOUSANDS = r"[^,]*,(?!\d{3}(?:\D|$))\d+.*|\s*[-+]?(?:0\d*|\d{4,}),\d+.*"


def separator_of(header: str) -> str | None:
    """What separates the names of a first line, or None when it seems to hold one name.

    Examples
    --------
    >>> from bayesmargin.tables.dialect import separator_of
    >>> separator_of("id;age;churn")
    ';'
    """
    best = max(CANDIDATES, key=header.count)
    return best if best in header else None


def with_decimal_points(
    frame: Any, as_text: Collection[str], numeric: Collection[str] = ()
) -> tuple[Any, list[str]]:
    """The frame with columns such as ``1,5`` and ``-2,25`` as numbers, and what is odd about it.

    ``1,234`` may be a thousand: a column is read as numbers only where some value cannot be one,
    or where the column is known to be ``numeric`` and another has decimal commas. Columns in
    ``as_text`` are left alone.
    """
    import pandas

    possible, certain = [], []
    for name in frame:
        column = frame[name].dropna()
        if name in as_text or not pandas.api.types.is_string_dtype(column):
            continue
        words = column.astype(str)
        if len(words) and words.str.fullmatch(NUMBER).all():
            possible.append(name)
            if words.str.fullmatch(NOT_THOUSANDS).any():
                certain.append(name)
    if not certain:
        return frame, []
    doubtful = [name for name in frame if _perhaps_thousands(frame[name])]
    for name in possible:
        if name in certain or name in numeric:
            frame[name] = pandas.to_numeric(frame[name].str.replace(",", "."))
    return frame, [
        f"column {name!r} has decimal points where {certain[0]!r} has decimal commas: 1.234 is "
        "read as a little more than one; write thousands without points"
        for name in doubtful
    ]


def with_long_numbers(
    frame: Any, as_text: Collection[str], missing: Collection[str], target: str | None = None
) -> Any:
    """The frame with numbers in columns that pandas left as they are written.

    It does so where a whole number needs more than 64 bits, or 64 beside a missing value or a
    negative number, and then does not see the missing values either. Labels stay words.
    """
    import pandas

    for name in frame:
        column = frame[name]
        if name in as_text or pandas.api.types.is_numeric_dtype(column.dtype):
            continue
        first = next((value for value in column if not _is_missing(value, missing)), "")
        if not WHOLE.fullmatch(str(first)):
            continue
        words = column.where(~column.isin(missing)).astype(object)
        there = words.notna()
        if not all(WHOLE.fullmatch(str(word)) for word in words[there]):
            continue
        frame[name] = words if name == target else words[there].map(_as_float).reindex(words.index)
    return frame


def _is_missing(value: Any, missing: Collection[str]) -> bool:
    return value != value or value in missing


def _as_float(whole: Any) -> float:
    return float(str(whole))  # of many hundred digits infinite, and not an error


def _perhaps_thousands(column: Any) -> bool:
    """Whether a column of numbers with points may be one of thousands, such as ``1.234``."""
    import pandas

    if not pandas.api.types.is_float_dtype(column.dtype):
        return False
    values = column.dropna().abs().to_numpy()
    fractions = values[values % 1.0 != 0.0]
    small = (fractions >= 1.0) & (fractions < 1000.0)
    thousands = 1000.0 * fractions
    return len(fractions) > 0 and bool(
        small.all() and (abs(thousands - thousands.round()) < 1e-6).all()
    )
