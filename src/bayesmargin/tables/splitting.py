"""Holding rows out: a share of every class, the same rows for the same seed."""

from typing import Any

import numpy as np

from bayesmargin.errors import DataError
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import IntArray


def split_rows(labels: Any, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """Numbers of the rows to learn from and of those held out, in order.

    Every class keeps at least one row to learn from.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.tables.splitting import split_rows
    >>> [len(part) for part in split_rows(np.repeat(["a", "b"], [80, 20]), 0.25, 0)]
    [75, 25]
    """
    if not 0.0 <= share < 1.0:
        raise DataError(f"a share of {share:g} cannot be held out: it is at least 0 and below 1")
    (rng,) = spawn_generators(seed, 1)
    held: list[Any] = []
    for label in np.unique(labels):
        own = rng.permutation(np.flatnonzero(labels == label))
        held.append(own[: min(len(own) - 1, round(share * len(own)))])
    chosen = np.zeros(len(labels), dtype=bool)
    chosen[np.concatenate(held)] = True
    return np.flatnonzero(~chosen), np.flatnonzero(chosen)
