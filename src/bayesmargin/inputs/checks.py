"""Rows and labels as people have them in data frames, and what cannot be used of them.

What scikit-learn checks is left to it; here is what it would let through to an error of NumPy.
"""

from datetime import date, timedelta
from datetime import time as clock
from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import IntArray
from bayesmargin.inputs.tensors import host_array

NUMBERS = "biuf"  # kinds of types that are numbers, or true and false
ENCODE = "encode it, for instance with OneHotEncoder in a ColumnTransformer, or leave it out"


def require_numbers(X: Any, advice: str = ENCODE) -> None:
    """Refuse a data frame with a column of words, dates or other objects, and name it.

    ``advice`` says what to do with words.

    Examples
    --------
    >>> import pandas
    >>> from bayesmargin.inputs.checks import require_numbers
    >>> require_numbers(pandas.DataFrame({"age": [3, 4], "job": ["nurse", "pilot"]}))
    Traceback (most recent call last):
        ...
    bayesmargin.errors.DataError: column 'job' of X holds words, such as 'nurse': encode it, for \
instance with OneHotEncoder in a ColumnTransformer, or leave it out
    """
    if callable(getattr(X, "collect", None)):
        raise DataError(f"X is a {type(X).__name__}, which holds no rows yet: pass X.collect()")
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return
    for name in X.columns:
        column = X[name]
        if getattr(getattr(column, "dtype", None), "kind", "O") in NUMBERS:
            continue
        values = np.asarray(column)
        if values.ndim != 1:  # several columns of one name
            continue
        odd = values[:1] if values.dtype.kind in "mM" else filter(_is_no_number, values)
        for value in odd:
            raise DataError(f"column {name!r} of X holds {_what(value, advice)}")


def _is_no_number(value: Any) -> bool:
    if isinstance(value, str):
        return not is_number(value)
    if value is None or _is_missing_sign(value) or isinstance(value, np.complexfloating):
        return False  # scikit-learn has words for these
    try:
        float(value)
    except (TypeError, ValueError):
        return True
    return hasattr(value, "__len__")  # of an array with one number, too


def _what(value: Any, advice: str) -> str:
    """What a column holds whose values are no numbers, and what to do."""
    if isinstance(value, str):
        return f"words, such as {str(value)!r}: {advice}"
    time = isinstance(value, date | clock | timedelta | np.datetime64 | np.timedelta64)
    if time or type(value).__name__ == "Period":
        return (
            f"times, such as {str(value)!r}: derive numbers from it (a year, hours since the "
            "start), or leave it out"
        )
    return (
        f"no numbers, but objects of the type {type(value).__name__}, such as {value!r:.40}: "
        "derive numbers from it, or leave it out"
    )


def is_number(text: str) -> bool:
    """Whether a text can be read as a number.

    Examples
    --------
    >>> from bayesmargin.inputs.checks import is_number
    >>> is_number("1e3"), is_number("high")
    (True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def plain_labels(y: Any) -> Any:
    """The labels with NumPy's types where pandas has its own, or an error if some are missing.

    Examples
    --------
    >>> import pandas
    >>> from bayesmargin.inputs.checks import plain_labels
    >>> plain_labels(pandas.Series([True, False], dtype="boolean"))
    array([ True, False])
    >>> plain_labels(["moon", None, "sun"])
    Traceback (most recent call last):
        ...
    bayesmargin.errors.DataError: y has no label in row 1 (counted from 0): leave such rows out
    """
    y = host_array(y)
    dtype = getattr(y, "dtype", None)
    if y is None or (isinstance(dtype, np.dtype) and dtype.kind != "O"):
        return y
    kind = getattr(dtype, "kind", None)
    if hasattr(y, "isna") and hasattr(y, "to_numpy"):
        _require_all(np.asarray(y.isna()))
        if kind in ("b", "i", "u"):
            return y.to_numpy(dtype={"b": bool, "i": np.int64, "u": np.uint64}[kind])
    if not isinstance(y, list | tuple) and dtype is None:
        return y
    values = _as_array(y)
    if values.ndim == 1 and values.dtype.kind == "O" and set(map(type, values)) != {str}:
        _require_all(np.array([_is_missing(value) for value in values]))
        _require_one_type(values)
    return y


def _is_missing(value: Any) -> bool:
    """Whether a label is None, not a number, or pandas' own sign, which compares with nothing."""
    return value is None or _is_missing_sign(value) or bool(value != value)


def _is_missing_sign(value: Any) -> bool:
    return type(value).__name__ == "NAType"


def _as_array(y: Any) -> Any:
    """The labels as an array; of objects where they are not of one type, or lists."""
    if isinstance(y, list | tuple) and any(value is None for value in y):
        return np.array([*y, None], dtype=object)[:-1]
    try:
        return np.asarray(y)
    except ValueError:  # lists of different lengths
        return np.zeros(0)


def _require_all(missing: Any) -> None:
    rows = np.flatnonzero(missing if missing.ndim < 2 else missing.any(axis=1))
    if len(rows):
        more = f" and in {len(rows) - 1} more" if len(rows) > 1 else ""
        raise DataError(
            f"y has no label in row {rows[0]}{more} (counted from 0): leave such rows out"
        )


def _require_one_type(values: Any) -> None:
    """Refuse words among other labels: they have no order, and 1 and '1' would be two classes."""
    words = np.array([isinstance(value, str) for value in values])
    if words.any() and not words.all():
        word, other = values[np.argmax(words)], values[np.argmin(words)]
        raise DataError(
            f"y holds words and other labels, such as {word!r} and {other!r}: make all of them "
            "words or all of them numbers"
        )


def class_numbers(y: Any, classes: Any) -> IntArray:
    """Numbers of labels among the classes of a model.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.inputs.checks import class_numbers
    >>> class_numbers(["tide", "moon"], np.array(["moon", "star", "tide"]))
    array([2, 0])
    """
    labels = np.asarray(plain_labels(y))
    unknown = np.setdiff1d(labels, classes)
    if len(unknown):
        raise ValueError(
            f"y holds the labels {unknown.tolist()[:5]!r}, which are not among the classes "
            f"{classes.tolist()[:8]!r}"
        )
    numbers: IntArray = np.searchsorted(classes, labels)
    return numbers
