"""How often training rows share a component: the summary of partitions that labels leave alone."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray


def row_numbers(rows: Any, count: int) -> IntArray:
    """Numbers of the training rows that ``rows`` means: numbers, a mask of all rows, or None: all.

    Examples
    --------
    >>> from bayesmargin.models.infinite_svc.co_clustering import row_numbers
    >>> row_numbers([True, False, True], count=3), row_numbers(range(2), count=3)
    (array([0, 2]), array([0, 1]))
    """
    if rows is None:
        return np.arange(count)
    index = np.asarray(rows)
    if index.ndim != 1 or (index.size and index.dtype.kind not in "biu"):
        raise ValueError(
            f"rows={rows!r} is not allowed: pass a list of numbers of training rows, or a mask"
        )
    if index.dtype.kind == "b":
        if len(index) != count:
            raise ValueError(f"the mask has {len(index)} entries for {count} training rows")
        index = np.flatnonzero(index)
    if not index.size:
        raise ValueError("rows is empty: choose one training row at least")
    outside = index[(index < -count) | (index >= count)]
    if outside.size:
        raise ValueError(
            f"there is no training row {outside[0]}: {count} rows were fitted, counted from 0"
        )
    return index.astype(np.int64)


def shared_draws(partitions: list[IntArray], index: IntArray) -> FloatArray:
    """Share of the partitions in which each pair of the rows ``index`` is in one component."""
    total = np.zeros((len(index), len(index)))
    for labels in partitions:
        chosen = labels[index]
        total += chosen[:, None] == chosen[None, :]
    return total / len(partitions)
