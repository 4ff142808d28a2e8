"""Labels of workers as users hold them: tables, frames, sparse matrices and names."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import IntArray
from bayesmargin.inputs.checks import plain_labels
from bayesmargin.models.crowd.votes import UNKNOWN, Votes

COLUMNS = ("item", "worker", "label")


class Named(NamedTuple):
    """Votes as they were handed in, by names."""

    item: Any
    worker: Any
    label: Any


def read_named(labels: Any) -> Named:
    """Items, workers and labels of a table of three columns, or of a sparse matrix.

    Examples
    --------
    >>> from bayesmargin.models.crowd.reading import read_named
    >>> read_named([("a", "ann", "cat"), ("a", "bob", "dog")]).worker.tolist()
    ['ann', 'bob']
    """
    if sparse.issparse(labels):
        table = sparse.coo_array(labels)
        found = Named(table.row.astype(np.int64), table.col.astype(np.int64), table.data)
    elif hasattr(labels, "columns"):
        found = _read_frame(labels)
    else:
        found = _read_rows(labels)
    named = Named(*(_plain(values, name) for name, values in zip(COLUMNS, found, strict=True)))
    if len(named.item) == 0:
        raise DataError("there are no labels: pass a row (item, worker, label) for each")
    return named


def _read_frame(frame: Any) -> Named:
    names = list(frame.columns)
    if set(COLUMNS) <= set(names):
        return Named(*(frame[name] for name in COLUMNS))
    if len(names) != len(COLUMNS):
        raise DataError(
            f"the table of labels has the columns {', '.join(map(str, names))}: it has three, "
            "item, worker and label in this order, or these among others by their names"
        )
    return Named(*(frame[name] for name in names))


def _read_rows(rows: Any) -> Named:
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == len(COLUMNS):
        return Named(*rows.T)
    given = list(rows) if hasattr(rows, "__iter__") and not isinstance(rows, str) else [rows]
    for number, row in enumerate(given):
        if not isinstance(row, list | tuple | np.ndarray) or len(row) != len(COLUMNS):
            raise DataError(
                f"row {number} of the labels is {row!r:.60}: it is (item, worker, label); a "
                "matrix of items by workers is passed as a SciPy sparse one, which tells a label "
                "0 from no label"
            )
    return Named(*([row[place] for row in given] for place in range(len(COLUMNS))))


def _plain(values: Any, name: str) -> Any:
    """An array of names; what is missing is refused."""
    array = np.asarray(plain_labels(values) if name == "label" else values)
    lacking = [value is None or value != value for value in array.tolist()]
    if any(lacking):
        raise DataError(
            f"there is no {name} in row {lacking.index(True)} of the labels (counted from 0): "
            "leave such rows out"
        )
    if array.dtype.kind == "O":
        array = np.asarray(array.tolist())
    return array.astype(np.int64) if name == "label" and _is_whole(array) else array


def _is_whole(array: Any) -> bool:
    return array.dtype.kind == "f" and bool((array == np.floor(array)).all())


def classes_of(label: Any, known: Any, n_classes: int | None) -> Any:
    """The classes, in order: those that occur, or as many numbers from 0 on as are asked for."""
    found = np.unique(np.concatenate([label, known])) if len(known) else np.unique(label)
    if n_classes is None:
        if len(found) < 2:
            raise DataError(
                f"all labels are {found.tolist()[0]!r}: at least 2 classes are needed; pass "
                "n_classes where others are possible"
            )
        return found
    if found.dtype.kind in "iu" and found.min() >= 0 and found.max() < n_classes:
        return np.arange(n_classes)
    if len(found) == n_classes:
        return found
    raise DataError(
        f"n_classes={n_classes} does not fit the {len(found)} labels "
        f"{', '.join(map(repr, found.tolist()[:8]))}: leave it out, or number the classes from 0 on"
    )


def numbers_of(values: Any, among: Any) -> IntArray:
    """Places of names in a sorted list of them; :data:`UNKNOWN` where they are not in it."""
    place = np.minimum(np.searchsorted(among, values), len(among) - 1)
    return np.where(among[place] == values, place, UNKNOWN).astype(np.int64)


def sorted_votes(item: IntArray, worker: IntArray, label: IntArray, n_items: int) -> Votes:
    """Votes by item; a worker who labels an item twice is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.crowd.reading import sorted_votes
    >>> item, worker, label = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]])
    >>> sorted_votes(item, worker, label, 2).start.tolist()
    [0, 1, 3]
    """
    order = np.lexsort((worker, item))
    item, worker, label = item[order], worker[order], label[order]
    again = np.flatnonzero((item[1:] == item[:-1]) & (worker[1:] == worker[:-1]))
    if again.size:
        first, second = sorted(order[again[0] : again[0] + 2].tolist())
        raise DataError(
            f"rows {first} and {second} (counted from 0) are labels of the same worker for the "
            "same item: keep one of them"
        )
    start = np.searchsorted(item, np.arange(n_items + 1)).astype(np.int64)
    return Votes(start, worker.astype(np.int64), label.astype(np.int64))


def read_known(known: Any) -> tuple[Any, Any]:
    """Items and their true labels: of a mapping, a series, or a table of two columns."""
    if known is None:
        return np.empty(0), np.empty(0)
    series = hasattr(known, "index") and hasattr(known, "items") and not hasattr(known, "columns")
    if isinstance(known, Mapping) or series:
        pairs = list(known.items())
    elif hasattr(known, "columns"):
        names = ["item", "label"] if {"item", "label"} <= set(known.columns) else known.columns
        if len(names) != 2:
            raise DataError(
                f"the table of known labels has the columns {', '.join(map(str, names))}: it has "
                "two, item and label"
            )
        pairs = list(zip(*(known[name].tolist() for name in names), strict=True))
    else:
        pairs = list(known)
    if not pairs:
        return np.empty(0), np.empty(0)
    if any(not isinstance(pair, list | tuple | np.ndarray) or len(pair) != 2 for pair in pairs):
        raise DataError("known labels are a dictionary of items and labels, or pairs of them")
    items, label = (np.asarray([pair[place] for pair in pairs]) for place in (0, 1))
    if len(np.unique(items)) < len(items):
        raise DataError("an item occurs twice among the known labels: keep one of them")
    return items, label


def places_of(names: Any, among: Any, what: str = "item") -> Any:
    """Places of names in those of the fit; of others an error."""
    if (names.dtype.kind in "US") != (among.dtype.kind in "US"):
        raise DataError(
            f"a {what} is {names.tolist()[0]!r} here and {among.tolist()[0]!r} there: words or "
            "numbers, not both"
        )
    place = numbers_of(names, among)
    if (place == UNKNOWN).any():
        raise DataError(
            f"the {what} {names[place == UNKNOWN].tolist()[0]!r} has no labels in the fit: leave "
            f"such {what}s out"
        )
    return place
