"""Labels that workers gave to items, sorted by item."""

from typing import NamedTuple

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import BoolArray, FloatArray, IntArray

UNKNOWN = -1  #: number of a class that nobody has told


class Votes(NamedTuple):
    """Votes sorted by item: those of item i are ``start[i]`` to ``start[i + 1]``."""

    start: IntArray  #: (n_items + 1,)
    worker: IntArray  #: (n_votes,)
    label: IntArray  #: (n_votes,)


def sorted_votes(item: IntArray, worker: IntArray, label: IntArray, n_items: int) -> Votes:
    """Votes by item; a worker who labels an item twice is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.crowd.votes import sorted_votes
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


def share_of_votes(votes: Votes, n_classes: int) -> FloatArray:
    """Share of each class among the votes for each item; equal shares where there is none."""
    n_items = len(votes.start) - 1
    share = np.zeros((n_items, n_classes))
    np.add.at(share, (item_of(votes), votes.label), 1.0)
    share[share.sum(axis=1) == 0.0] = 1.0
    value: FloatArray = share / share.sum(axis=1, keepdims=True)
    return value


def item_of(votes: Votes) -> IntArray:
    """The item of every vote."""
    return np.repeat(np.arange(len(votes.start) - 1), np.diff(votes.start))


def is_known(known: IntArray) -> BoolArray:
    """Which items have a label that was told."""
    found: BoolArray = known != UNKNOWN
    return found
