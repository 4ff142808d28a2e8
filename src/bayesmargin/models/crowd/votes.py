"""Labels that workers gave to items, sorted by item."""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.types import BoolArray, FloatArray, IntArray

UNKNOWN = -1  #: number of a class that nobody has told


class Votes(NamedTuple):
    """Votes sorted by item: those of item i are ``start[i]`` to ``start[i + 1]``."""

    start: IntArray  #: (n_items + 1,)
    worker: IntArray  #: (n_votes,)
    label: IntArray  #: (n_votes,)


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
