"""Where the draws of a wide model live: memory, a memory-mapped file, or a thinned file.

A model of 20,958 features has 168 MB of draws for every thousand in double precision and every
chain has its own. Draws of wide models are therefore kept in single precision, and

* up to :data:`MEMORY_LIMIT` bytes in memory,
* beyond it in a ``.npy`` file that is mapped into memory and removed with the posterior,
* and beyond :data:`DISK_LIMIT` bytes (or a third of the free disk) only every k-th draw is kept,
  which the posterior's attributes state.

Means and variances are accumulated from every draw, in double precision, whatever is kept.
"""

import contextlib
import os
import shutil
import tempfile
import weakref
from pathlib import Path

import numpy as np

from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.types import FloatArray

MEMORY_LIMIT = 1 << 30
DISK_LIMIT = 1 << 34
DRAW_TYPE = np.float32


def draws_folder() -> Path:
    """Folder for draws on disk: ``BAYESMARGIN_DRAWS``, else the system's temporary folder."""
    return Path(os.environ.get("BAYESMARGIN_DRAWS") or tempfile.gettempdir())


def draw_interval(n_chains: int, n_draws: int, n_weights: int) -> int:
    """Every how many draws one is kept, so that they fit on the disk.

    Examples
    --------
    >>> from bayesmargin.foundation.storage import draw_interval
    >>> draw_interval(4, 1000, 20_958)
    1
    """
    size = n_chains * n_draws * n_weights * np.dtype(DRAW_TYPE).itemsize
    if size <= MEMORY_LIMIT:
        return 1
    limit = min(DISK_LIMIT, shutil.disk_usage(draws_folder()).free // 3)
    return max(1, -(-size // max(1, limit)))


def draw_array(shape: tuple[int, ...]) -> FloatArray:
    """Array for draws, in memory or mapped from a file that disappears with it."""
    size = int(np.prod(shape)) * np.dtype(DRAW_TYPE).itemsize
    if size <= MEMORY_LIMIT:
        return np.zeros(shape, dtype=DRAW_TYPE)
    handle, name = tempfile.mkstemp(prefix="bayesmargin-", suffix=".npy", dir=draws_folder())
    os.close(handle)
    array = np.lib.format.open_memmap(name, mode="w+", dtype=DRAW_TYPE, shape=shape)
    # Of the map, not of one array that reads it: Windows removes no file that is still mapped.
    weakref.finalize(array._mmap, _remove, name)  # type: ignore[attr-defined]
    return array


def _remove(name: str) -> None:
    with contextlib.suppress(OSError):  # at the end of a process that has it mapped, on Windows
        Path(name).unlink(missing_ok=True)


class Moments:
    """Running mean and variance of vectors (Welford), in double precision.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.foundation.storage import Moments
    >>> moments = Moments(2)
    >>> for row in np.array([[1.0, 2.0], [3.0, 2.0]]):
    ...     moments.add(row)
    >>> moments.mean, moments.variance()
    (array([2., 2.]), array([2., 0.]))
    """

    def __init__(self, size: int) -> None:
        self.count = 0
        self.mean = np.zeros(size)
        self.squares = np.zeros(size)

    def add(self, vector: FloatArray) -> None:
        """Take in one vector."""
        self.count += 1
        _take_in(vector, 1.0 / self.count, self.mean, self.squares)

    def merge(self, other: "Moments") -> None:
        """Take in everything that ``other`` has seen."""
        total = self.count + other.count
        if other.count == 0:
            return
        change = other.mean - self.mean
        self.mean += change * (other.count / total)
        self.squares += other.squares + change**2 * (self.count * other.count / total)
        self.count = total

    def variance(self) -> FloatArray:
        """Unbiased variance."""
        return self.squares / max(1, self.count - 1)


@jit
def _take_in(vector, share, mean, squares):  # type: ignore[no-untyped-def]
    for j in range(mean.shape[0]):
        change = vector[j] - mean[j]
        mean[j] += share * change
        squares[j] += change * (vector[j] - mean[j])


class DrawStore:
    """Draws of all chains, written one at a time: ``array`` has shape (chain, draw, weight)."""

    def __init__(self, n_chains: int, n_draws: int, n_weights: int) -> None:
        self.interval = draw_interval(n_chains, n_draws, n_weights)
        kept = -(-n_draws // self.interval)
        self.array = draw_array((n_chains, kept, n_weights))

    def put(self, chain: int, draw: int, weights: FloatArray) -> None:
        """Keep draw number ``draw`` of a chain, if it is one of those that are kept."""
        if draw % self.interval == 0:
            self.array[chain, draw // self.interval] = weights

    def halve(self, chain: int, made: int) -> None:
        """Keep every second of the first ``made`` draws of a chain."""
        kept = -(-made // self.interval)
        for place in range(-(-kept // 2)):
            self.array[chain, place] = self.array[chain, 2 * place]
