"""Values that a regression is to predict, as people have them, and what cannot be used of them."""

from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.tensors import host_array

LARGEST = 1e100  # its square, times many rows, is a number


def plain_values(y: Any) -> FloatArray:
    """The values as finite numbers in double precision, or an error that names the first other.

    Examples
    --------
    >>> from bayesmargin.inputs.values import plain_values
    >>> plain_values([1, 2.5])
    array([1. , 2.5])
    >>> plain_values(["low", "high"])
    Traceback (most recent call last):
        ...
    bayesmargin.errors.DataError: y holds 'low' in row 0 (counted from 0): a regression predicts \
numbers; BayesianLinearSVC predicts words
    """
    given = np.asarray(host_array(y))
    if given.dtype.kind == "c":
        raise DataError("Complex data not supported: y holds complex numbers")
    try:
        if given.dtype.kind in "USmM":
            raise ValueError
        values: FloatArray = given.astype(float)
    except (TypeError, ValueError):
        row, odd = next(
            (i, one) for i, one in enumerate(given.ravel().tolist()) if not _is_real(one)
        )
        raise DataError(
            f"y holds {odd!r} in row {row} (counted from 0): a regression predicts numbers; "
            "BayesianLinearSVC predicts words"
        ) from None
    wrong = np.flatnonzero(~(np.abs(values) <= LARGEST))
    if len(wrong):
        row = int(wrong[0])
        value = values.ravel()[row]
        what = {True: "NaN", False: "infinity"}.get(bool(np.isnan(value)), "")
        what = what if not np.isfinite(value) else f"{value:g}"
        raise DataError(
            f"Input y contains {what}, first in row {row} (counted from 0): values are finite "
            f"numbers of at most {LARGEST:g} in size; mend them, or leave such rows out"
        )
    return values


def _is_real(value: Any) -> bool:
    if isinstance(value, str):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
