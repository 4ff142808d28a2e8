"""Labels of workers as users hold them: tables, frames, sparse matrices and names."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import IntArray
from bayesmargin.inputs.triples import numbers_of, read_columns, require_same_kind, rows_of
from bayesmargin.models.crowd.votes import UNKNOWN, Votes

COLUMNS = ("item", "worker", "label")


class Named(NamedTuple):
    """Votes as they were handed in, by names."""

    item: Any
    worker: Any
    label: Any


def read_named(labels: Any) -> Named:
    """Items, workers and labels of a table of three columns, or of a sparse matrix."""
    return Named(*read_columns(labels, COLUMNS, "labels"))


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


def sorted_votes(item: IntArray, worker: IntArray, label: IntArray, n_items: int) -> Votes:
    """Votes by item; a worker who labels an item twice is refused."""
    twice = "labels of the same worker for the same item"
    return Votes(*rows_of(item, worker, label, n_items, twice))


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
    require_same_kind(names, among, what)
    place = numbers_of(names, among)
    if (place == UNKNOWN).any():
        raise DataError(
            f"the {what} {names[place == UNKNOWN].tolist()[0]!r} has no labels in the fit: leave "
            f"such {what}s out"
        )
    return place
