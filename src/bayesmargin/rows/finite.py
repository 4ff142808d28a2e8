"""Values that no model can use, found while rows are read and told with their place."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.errors import DataError

LARGEST = 1e19  # its square is a number in single precision


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


def too_large(values: Any, largest: float) -> tuple[int, int, float] | None:
    """Row, column and value of the first beyond ``largest`` in size of a matrix, dense or CSR.

    One sum of squares tells whether there is one, at the speed of memory.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.rows.finite import too_large
    >>> too_large(np.array([[1.0, 2.0], [3.0, -1e30]]), 1e19)
    (1, 1, -1e+30)
    """
    data = values.data if sparse.issparse(values) else values
    flat = data.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        if data.dtype.kind == "f" and np.dot(flat, flat) <= largest**2:
            return None
    beyond = np.abs(data) > largest
    if not beyond.any():
        return None
    if not sparse.issparse(values):
        row, column = (int(number) for number in np.argwhere(beyond)[0])
        return row, column, float(values[row, column])
    place = int(np.argmax(beyond))
    row = int(np.searchsorted(values.indptr, place, side="right")) - 1
    return row, int(values.indices[place]), float(data[place])


def require_squares(values: Any, path: Path, rows: Any, names: list[str] | None) -> None:
    """Refuse values whose square single precision cannot hold; ``rows`` are the rows' numbers."""
    found = too_large(values, LARGEST)
    if found is not None:
        row, column, value = found
        name = str(column) if names is None else repr(names[column])
        raise DataError(
            f"{path}: column {name} is {value:g} in row {rows[row]} (counted from 0): values "
            f"beyond {LARGEST:g} in size cannot be used; mend the value, or divide the column by a "
            "number of its size"
        )
