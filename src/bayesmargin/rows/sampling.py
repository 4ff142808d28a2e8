"""Some rows at random, from memory or from a file."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import IntArray
from bayesmargin.rows.files import FileSource
from bayesmargin.rows.source import RowSource


def sampled(source: RowSource, count: int, rng: np.random.Generator) -> tuple[IntArray, Any]:
    """Indices and values of ``count`` rows chosen at random."""
    if isinstance(source, FileSource):
        return source.sample(count, rng)
    index = np.sort(rng.choice(source.n_rows, count, replace=False, shuffle=False))
    return index, source.take(index)
