"""Tables of three columns as users hold them: items, workers and labels; users, items and ratings.

A row is two names and a value. Tables come as data frames, arrays, sequences of rows, or as a SciPy
sparse matrix of the first name by the second that stores the values.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import IntArray
from bayesmargin.inputs.checks import plain_labels

UNKNOWN = -1  # place of a name that is not there


def read_columns(table: Any, columns: Sequence[str], of: str) -> list[Any]:
    """Arrays of the ``columns`` of a table ``of`` labels, say.

    Examples
    --------
    >>> from bayesmargin.inputs.triples import read_columns
    >>> rows = [("a", "ann", "cat"), ("a", "bob", "dog")]
    >>> read_columns(rows, ("item", "worker", "label"), "labels")[1].tolist()
    ['ann', 'bob']
    """
    if sparse.issparse(table):
        matrix = sparse.coo_array(table)
        found: Sequence[Any] = (
            matrix.row.astype(np.int64), matrix.col.astype(np.int64), matrix.data,
        )[: len(columns)]  # fmt: skip
    elif hasattr(table, "columns"):
        found = _read_frame(table, columns, of)
    else:
        found = _read_rows(table, columns, of)
    read = [_plain(values, name, of) for name, values in zip(columns, found, strict=True)]
    if len(read[0]) == 0:
        raise DataError(f"there are no {of}: pass a row ({', '.join(columns)}) for each")
    return read


def _listed(columns: Sequence[str]) -> str:
    return f"{', '.join(columns[:-1])} and {columns[-1]}"


def _read_frame(frame: Any, columns: Sequence[str], of: str) -> list[Any]:
    names = list(frame.columns)
    if set(columns) <= set(names):
        return [frame[name] for name in columns]
    if len(names) != len(columns):
        number = {2: "two", 3: "three"}[len(columns)]
        raise DataError(
            f"the table of {of} has the columns {', '.join(map(str, names))}: it has {number}, "
            f"{_listed(columns)} in this order, or these among others by their names"
        )
    return [frame[name] for name in names]


def _read_rows(rows: Any, columns: Sequence[str], of: str) -> list[Any]:
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == len(columns):
        return list(rows.T)
    given = list(rows) if hasattr(rows, "__iter__") and not isinstance(rows, str) else [rows]
    for number, row in enumerate(given):
        if not isinstance(row, list | tuple | np.ndarray) or len(row) != len(columns):
            raise DataError(
                f"row {number} of the {of} is {row!r:.60}: it is ({', '.join(columns)})"
                + (_of_matrices(columns) if len(columns) == 3 else "")
            )
    return [[row[place] for row in given] for place in range(len(columns))]


def _of_matrices(columns: Sequence[str]) -> str:
    first, second, value = columns
    return (
        f"; a matrix of {first}s by {second}s is passed as a SciPy sparse one, which tells a "
        f"{value} 0 from no {value}"
    )


def _plain(values: Any, name: str, of: str) -> Any:
    """An array of names; what is missing is refused."""
    labels = name == "label"
    array = np.asarray(plain_labels(values) if labels else values)
    lacking = [value is None or value != value for value in array.tolist()]
    if any(lacking):
        raise DataError(
            f"there is no {name} in row {lacking.index(True)} of the {of} (counted from 0): "
            "leave such rows out"
        )
    if array.dtype.kind == "O":
        array = np.asarray(array.tolist())
    return array.astype(np.int64) if labels and _is_whole(array) else array


def _is_whole(array: Any) -> bool:
    return array.dtype.kind == "f" and bool((array == np.floor(array)).all())


def numbers_of(values: Any, among: Any) -> IntArray:
    """Places of names in a sorted list of them; :data:`UNKNOWN` where they are not in it."""
    place = np.minimum(np.searchsorted(among, values), len(among) - 1)
    return np.where(among[place] == values, place, UNKNOWN).astype(np.int64)


def require_same_kind(names: Any, among: Any, what: str) -> None:
    """Refuse words where there were numbers, and numbers where there were words."""
    if (names.dtype.kind in "US") != (among.dtype.kind in "US"):
        raise DataError(
            f"a {what} is {names.tolist()[0]!r} here and {among.tolist()[0]!r} there: words or "
            "numbers, not both"
        )


def rows_of(
    first: IntArray, second: IntArray, value: Any, n_first: int, twice: str
) -> tuple[IntArray, IntArray, IntArray]:
    """Where each first name's rows start, then the second names and values of all, by first name.

    ``twice`` says what it is when a pair occurs in two rows, which is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.inputs.triples import rows_of
    >>> item, worker, label = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]])
    >>> rows_of(item, worker, label, 2, "labels of the same worker for the same item")[0].tolist()
    [0, 1, 3]
    """
    order = np.lexsort((second, first))
    first, second, value = first[order], second[order], value[order]
    again = np.flatnonzero((first[1:] == first[:-1]) & (second[1:] == second[:-1]))
    if again.size:
        one, other = sorted(order[again[0] : again[0] + 2].tolist())
        raise DataError(f"rows {one} and {other} (counted from 0) are {twice}: keep one of them")
    start = np.searchsorted(first, np.arange(n_first + 1)).astype(np.int64)
    return start, second.astype(np.int64), value.astype(np.int64)
