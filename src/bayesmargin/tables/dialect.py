"""How a text table is written: what stands between its fields, and decimal commas."""

from collections.abc import Collection
from typing import Any

SEPARATORS = {"csv": ",", "tsv": "\t"}
CANDIDATES = (";", "\t", "|", ",")
NUMBER = r"\s*[-+]?\d+(?:,\d+)?(?:[eE][-+]?\d+)?\s*"
NOT_THOUSANDS = r"[^,]*,(?!\d{3}(?:\D|$))\d+.*"


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


def with_decimal_points(frame: Any, as_text: Collection[str]) -> Any:
    """The frame with columns such as ``1,5`` and ``-2,25`` as numbers.

    ``1,234`` may be a thousand: a column is read as numbers only where some value has another
    number of digits after its comma. Columns in ``as_text`` are left alone.
    """
    import pandas

    for name in frame:
        column = frame[name]
        if name in as_text or not pandas.api.types.is_string_dtype(column.dropna()):
            continue
        words = column.dropna().astype(str)
        if words.str.fullmatch(NUMBER).all() and words.str.fullmatch(NOT_THOUSANDS).any():
            frame[name] = pandas.to_numeric(column.str.replace(",", "."))
    return frame
