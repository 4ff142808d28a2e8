"""Which rows are meant: numbers, a mask or a slice, as users of arrays write them."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import IntArray

HOW = "rows[index] takes an array of row numbers, a mask with a value for each row, or a slice"


def row_numbers(chosen: Any, n_rows: int) -> IntArray:
    """Numbers, from 0 on, of the rows that ``chosen`` means out of ``n_rows``.

    Examples
    --------
    >>> from bayesmargin.rows.choosing import row_numbers
    >>> row_numbers(slice(-2, None), 5), row_numbers([True, False, True], 3)
    (array([3, 4]), array([0, 2]))
    """
    if isinstance(chosen, tuple):  # scikit-learn asks for rows[index, ...]
        chosen, *rest = chosen
        if any(part is not Ellipsis and part != slice(None) for part in rest):
            raise TypeError(f"{HOW}; columns of Parquet files are chosen by rows.select(names)")
    if isinstance(chosen, slice):
        return np.arange(n_rows)[chosen]
    index = np.asarray(chosen)
    if index.size == 0 and index.ndim == 1:
        return np.zeros(0, dtype=np.int64)
    if index.ndim == 0 and index.dtype.kind in "iu":
        raise TypeError(f"{HOW}: for one row write rows[[{index}]]")
    if index.ndim != 1 or index.dtype.kind not in "biu":
        raise TypeError(f"{HOW}, and not {chosen!r}")
    if index.dtype.kind == "b":
        if len(index) != n_rows:
            raise IndexError(f"the mask has {len(index)} values, but there are {n_rows} rows")
        return np.flatnonzero(index)
    index = index.astype(np.int64)
    outside = (index < -n_rows) | (index >= n_rows)
    if outside.any():
        raise IndexError(f"there is no row {index[outside][0]}: there are {n_rows} rows")
    return np.where(index < 0, index + n_rows, index)
