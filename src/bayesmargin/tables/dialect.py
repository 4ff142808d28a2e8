"""How a text table is written: what stands between its fields, and decimal commas."""

from collections.abc import Collection
from typing import Any

SEPARATORS = {"csv": ",", "tsv": "\t"}
CANDIDATES = (";", "\t", "|", ",")
NUMBER = r"\s*[-+]?\d+(?:,\d+)?(?:[eE][-+]?\d+)?\s*"
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
