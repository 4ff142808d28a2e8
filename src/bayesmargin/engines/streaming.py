"""Rows that stay with the host because the device has no room for them.

They stand where rows on the device would: whoever reads a tile gets it from the host, turned into
the coordinates of the others on its way. Compiled programs know the shapes alone, so that neither
they nor the caches of JAX keep data alive.
"""

import weakref
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.foundation.types import IntArray
from bayesmargin.rows.blocks import as_dense
from bayesmargin.rows.source import RowSource

RUN = 32  # rows that lie together and stay together in the order of a file


def order_in_runs(n_rows: int, rng: np.random.Generator) -> IntArray:
    """A random order of rows that a disk can follow: runs of neighbours stay together."""
    run = np.arange(n_rows) // RUN
    place = rng.permutation(int(run[-1]) + 1)[run]
    return np.argsort(place, kind="stable")


class Reader:
    """Tiles of a source in an order, zeros behind its last row."""

    def __init__(self, source: RowSource, order: IntArray, size: int, dtype: Any) -> None:
        self.source, self.order = weakref.ref(source), order
        self.shape, self.dtype = (size, source.n_columns), jnp.dtype(dtype)

    def at(self, index: Any) -> Any:
        """Rows at some places of the order."""
        source = self.source()
        assert source is not None, "whoever samples a problem holds its rows"
        index = np.asarray(index)
        tile = np.zeros((len(index), self.shape[1]), self.dtype)
        there = index < len(self.order)
        rows = source.take(self.order[index[there]])
        tile[there] = as_dense(rows, self.shape[1]).astype(np.float32)
        return tile

    def tile(self, first: Any, size: int) -> Any:
        """Some rows, one after another."""
        return self.at(int(first) + np.arange(size))


@jax.tree_util.register_pytree_node_class
class HostRows:
    """Rows of a reader, times a rotation once there is one."""

    def __init__(self, reader: Reader, basis: Any = None) -> None:
        self.reader, self.basis = reader, basis
        self.shape, self.dtype = reader.shape, reader.dtype

    def tree_flatten(self) -> tuple[tuple[Any], Reader]:
        """The rotation lies on the device, the reader with the host."""
        return (self.basis,), self.reader

    @classmethod
    def tree_unflatten(cls, reader: Reader, children: tuple[Any]) -> "HostRows":
        """The same rows."""
        return cls(reader, *children)

    def fetch(self, read: Any, where: Any, size: int) -> Any:
        """Rows from the host, in the coordinates asked for."""
        shape = jax.ShapeDtypeStruct((size, self.shape[1]), self.dtype)
        rows = jax.pure_callback(read, shape, where, vmap_method="sequential")
        if self.basis is None:
            return rows
        precision = jax.lax.Precision.HIGHEST
        turned = jnp.dot(rows.astype(jnp.float32), self.basis, precision=precision)
        return turned.astype(self.dtype)


def sliced(rows: Any, first: Any, size: int) -> Any:
    """Some rows one after another, of an array or from the host."""
    if isinstance(rows, HostRows):
        return rows.fetch(partial(rows.reader.tile, size=size), first, size)
    return jax.lax.dynamic_slice_in_dim(rows, first, size)


def gathered(rows: Any, index: Any) -> Any:
    """Some rows, wherever they are, of an array or from the host."""
    if isinstance(rows, HostRows):
        return rows.fetch(rows.reader.at, index, len(index))
    return rows[index]
