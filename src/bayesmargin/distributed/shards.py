"""A shard: some rows with labels and weights, on a worker; and what is asked of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesmargin.errors import DataError, PartitionError
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.inputs.checks import plain_labels, require_numbers
from bayesmargin.models.linear.fitting import LinearData, make_problem
from bayesmargin.models.magnitude import LARGEST_LINEAR, require_size
from bayesmargin.priors.moments import Belief
from bayesmargin.rows.finite import all_finite
from bayesmargin.rows.sparse import DENSE_COLUMNS, canonical
from bayesmargin.saving.fingerprint import data_fingerprint
from bayesmargin.targets.problem import Problem

MANY = 100_000  # classes beyond which labels are values


class Shard(NamedTuple):
    """Rows (a matrix or a canonical CSR matrix), labels, weights (None: ones), column names."""

    values: Any
    label: Any
    weight: FloatArray | None
    names: tuple[str, ...] | None = None

    def weights(self) -> FloatArray:
        """The weight of every row; ones take no memory."""
        return np.broadcast_to(1.0, self.label.shape[:1]) if self.weight is None else self.weight

    def take(self, index: IntArray) -> "Shard":
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[index]
        return Shard(self.values[index], self.label[index], weight, self.names)


class Facts(NamedTuple):
    """What the driver knows of a shard; rows of weight zero do not count."""

    n_rows: int
    n_columns: int
    n_bytes: int
    classes: Any
    names: tuple[str, ...] | None
    problem: str | None


def make_shard(
    values: Any, label: Any, weight: Any, number: int, count: int, label_sets: bool = False
) -> Shard:
    """Shard from a partition as it comes: array, data frame, or sparse matrix.

    With ``label_sets`` labels may also be a 0/1 indicator matrix.
    """
    where = f"partition {number} of {count} (counted from 0)"
    names = None
    if hasattr(values, "to_numpy"):
        names = tuple(map(str, values.columns))
        with _naming(where):
            require_numbers(values)
        values = _numbers(values)
    if sparse.issparse(values):
        values = canonical(values)
        entries = values.data
    else:
        kind = getattr(values, "dtype", None)
        wanted = np.float32 if kind == np.float32 else np.float64
        try:
            values = np.ascontiguousarray(values, dtype=wanted)
        except (TypeError, ValueError) as error:
            raise PartitionError(f"{where} does not hold numbers: {error}") from error
        entries = values
    if values.ndim != 2:
        raise PartitionError(f"{where} has {values.ndim} dimension(s) where rows and columns are 2")
    if entries.dtype not in (np.float32, np.float64):
        values, entries = values.astype(np.float64), entries.astype(np.float64)
    if not all_finite(entries):
        place = _first_not_finite(values, names)
        raise PartitionError(
            f"{where} holds NaN or infinity{place}: impute or drop such rows first"
        )
    with _naming(where):
        require_size(values, LARGEST_LINEAR, names)
    label = np.asarray(label.toarray() if sparse.issparse(label) else label)
    shape = label.shape[:1] if label_sets and label.ndim == 2 else label.shape
    if shape != (values.shape[0],):
        raise PartitionError(
            f"{where} has {values.shape[0]} rows and labels of shape {label.shape}"
        )
    if weight is not None:
        weight = np.asarray(weight, dtype=float)
        if weight.shape != shape or not np.isfinite(weight).all() or np.any(weight < 0.0):
            raise PartitionError(
                f"{where}: sample weights are non-negative finite numbers, one a row"
            )
    with _naming(where):
        _require_labels(label, weight)
    return Shard(values, label, weight, names)


def _numbers(frame: Any) -> Any:
    """Values of a data frame; missing ones of pandas' own types are NaN."""
    values = frame.to_numpy()
    return frame.to_numpy(dtype=float, na_value=np.nan) if values.dtype.kind == "O" else values


def _first_not_finite(values: Any, names: tuple[str, ...] | None) -> str:
    """Where the first such value of dense rows is."""
    if sparse.issparse(values):
        return ""
    row, column = np.argwhere(~np.isfinite(values))[0]
    name = repr(names[column]) if names is not None else str(column)
    return f" in row {row} (counted from 0), column {name}"


@contextmanager
def _naming(where: str) -> Iterator[None]:
    """Errors about data say which partition they are about."""
    try:
        yield
    except DataError as error:
        raise PartitionError(f"{where}: {error}") from error


def _require_labels(label: Any, weight: FloatArray | None) -> None:
    """Refuse rows that count and have no label, and labels of several types."""
    if weight is not None and np.any(weight == 0.0):
        if not np.any(weight > 0.0):
            return
        example = label[np.argmax(weight > 0.0)]
        label = label.copy()
        label[weight == 0.0] = example
    if label.dtype.kind == "f":
        label = np.where(np.isnan(label), None, label)
    plain_labels(label)


def facts_of(shard: Shard) -> Facts:
    """Sizes and classes of a shard."""
    kept = shard.label if shard.weight is None else shard.label[shard.weight > 0.0]
    n_columns = shard.values.shape[1]
    is_sparse = sparse.issparse(shard.values)
    entries = shard.values.data if is_sparse else shard.values
    problem = None
    if is_sparse and n_columns + 1 > DENSE_COLUMNS:
        problem = (
            f"sparse partitions of {n_columns} columns are too wide for a distributed fit, which "
            f"handles at most {DENSE_COLUMNS - 1}: reduce the columns, or fit on one machine"
        )
    n_bytes = int(entries.nbytes) + shard.label.nbytes
    if is_sparse:
        n_bytes += shard.values.indices.nbytes
    classes = np.unique(kept)
    return Facts(len(kept), n_columns, n_bytes, classes[:MANY], shard.names, problem)


def counted(shard: Shard) -> Shard:
    """The rows whose weight is not zero."""
    if shard.weight is None or np.all(shard.weight):
        return shard
    return shard.take(np.flatnonzero(shard.weight > 0.0))


def encoded(shard: Shard, classes: Any) -> Shard:
    """The same rows with class indices for labels, rows of weight zero left out."""
    shard = counted(shard)
    index = np.searchsorted(classes, shard.label).astype(np.min_scalar_type(len(classes)))
    return Shard(shard.values, index, shard.weight)


def digest(shard: Shard) -> str:
    """Hash of everything that a shard holds."""
    return data_fingerprint([shard.values, shard.label, shard.weight])


def joined(shards: list[Shard]) -> Shard:
    """Shards one after another."""
    stack = sparse.vstack if sparse.issparse(shards[0].values) else np.concatenate
    values = stack([shard.values for shard in shards])
    values = canonical(values) if sparse.issparse(values) else values
    weight = None
    if any(shard.weight is not None for shard in shards):
        weight = np.concatenate([shard.weights() for shard in shards])
    return Shard(values, np.concatenate([shard.label for shard in shards]), weight)


def sampled(shard: Shard, count: int, seed: np.random.SeedSequence) -> Shard:
    """Random rows of a shard, without replacement."""
    rng = np.random.Generator(np.random.PCG64(seed))
    chosen = np.sort(rng.choice(shard.values.shape[0], count, replace=False))
    return shard.take(chosen)


@dataclass(frozen=True)
class ProblemSettings:
    """The posterior, without its rows: what every task needs to know.

    ``own`` is the class that one-vs-rest sets against the others, or None.
    """

    cost: float
    margin: float
    intercept: bool
    prior: Belief
    n_classes: int
    own: int | None = None

    def problem(self, shard: Shard, factor: float = 1.0) -> Problem:
        """The posterior of the rows of a shard, each counted ``factor`` times."""
        label = shard.label
        if self.own is not None:
            label = (label == self.own).astype(label.dtype)
        data = LinearData(shard.values, label, shard.weights(), self.n_classes)
        return make_problem(data, self.prior, factor * self.cost, self.margin, self.intercept)
