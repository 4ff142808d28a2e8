"""Values that no model can use, found while rows are read and told with their place."""

from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.errors import DataError


def all_finite(values: Any) -> bool:
    """Whether no value is NaN or infinite.

    One sum tells, at the speed of memory; values are looked at one by one only where it overflows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.rows.finite import all_finite
    >>> all_finite(np.array([3e38, 3e38], dtype=np.float32)), all_finite(np.array([0.0, np.nan]))
    (True, False)
    """
    if values.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum()) or np.isfinite(values).all())


def unusable(path: Path, column: str | int, row: int, value: Any = None) -> DataError:
    """The error for one value, None where there is none; columns have a name or a number."""
    name = repr(column) if isinstance(column, str) else str(column)
    counted = "counted from 0" if isinstance(column, str) else "both counted from 0"
    if value is None:
        what = "has no value"
    elif np.isnan(value):
        what = "is NaN"
    elif np.isinf(value):
        what = f"is infinite ({float(value)})"
    else:
        what = f"is {float(value):g}, too large for the single precision in which it is read,"
    return DataError(
        f"{path}: column {name} {what} in row {row} ({counted}): features are finite numbers; mend "
        "the value or leave the row out"
    )


def require_finite(values: Any, path: Path, rows: Any) -> None:
    """Refuse a matrix with a value that is not finite; ``rows`` are the numbers of its rows."""
    if not all_finite(values):
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise unusable(path, int(column), int(rows[row]), values[row, column])
