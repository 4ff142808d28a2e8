"""From Dask collections to shards on the workers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmargin.distributed.cluster import Cluster
from bayesmargin.distributed.columns import common_columns
from bayesmargin.distributed.shards import Facts, digest, encoded, facts_of, make_shard
from bayesmargin.errors import PartitionError
from bayesmargin.foundation.types import IntArray
from bayesmargin.inputs.checks import plain_labels

LABEL, WEIGHT = "bayesmargin label", "bayesmargin weight"
LOOKED = 4  # partitions at most that are read to see how large all of them are
KEEP = 0.6  # share of the workers' memory up to which partitions are kept between passes


class Shards:
    """The partitions of a data set on a cluster.

    They are read once and kept on the workers, unless they would take more than :data:`KEEP` of the
    workers' memory: then every pass reads them again.
    """

    def __init__(self, cluster: Cluster, parts: Sequence[Any], n_bytes: float) -> None:
        self.cluster = cluster
        if np.isnan(n_bytes):
            n_bytes = _estimated_bytes(cluster, parts)
        self.kept = n_bytes <= KEEP * cluster.memory()
        self._parts = cluster.read(parts) if self.kept else list(parts)
        self.facts: list[Facts] = cluster.gather(self.map("look", facts_of))
        wrong = [fact.problem for fact in self.facts if fact.problem]
        if wrong:
            raise ValueError(wrong[0])
        filled = [i for i, fact in enumerate(self.facts) if fact.n_rows > 0]
        if not filled:
            raise ValueError("the partitions hold no rows")
        self._parts = [self._parts[i] for i in filled]
        self.facts = [self.facts[i] for i in filled]
        widths, names = [f.n_columns for f in self.facts], [f.names for f in self.facts]
        self.n_columns, self.names = common_columns(widths, names, filled)

    @property
    def classes(self) -> Any:
        """All labels that occur."""
        found = [fact.classes for fact in self.facts]
        plain_labels(np.concatenate([part.astype(object) for part in found]))
        return np.unique(np.concatenate(found))

    @property
    def sizes(self) -> IntArray:
        """Rows of every shard that count."""
        return np.array([fact.n_rows for fact in self.facts])

    def encode(self, classes: Any) -> None:
        """Turn labels into class indices and leave out rows of weight zero, on the workers."""
        self.recode(encoded, classes)

    def recode(self, function: Any, *args: Any) -> None:
        """Let ``function(shard, *args)`` take the place of every shard, on the workers."""
        if self.kept:
            self._parts = self.map("encode", function, *args)
        else:
            from dask import delayed

            self._parts = [delayed(function, pure=False)(part, *args) for part in self._parts]

    def widen(self, function: Any, *args: Any, n_columns: int) -> None:
        """Like :meth:`recode` with a function that gives rows other columns, dense ones.

        Where these would take too much memory, every pass makes them anew.
        """
        if self.kept and 8.0 * float(self.sizes.sum()) * n_columns > KEEP * self.cluster.memory():
            self.kept = False
        self.recode(function, *args)
        self.n_columns, self.names = n_columns, None

    def digests(self) -> list[str]:
        """Hashes of the shards, by which a checkpoint knows its data; made on the workers."""
        return self.cluster.gather(self.map("look", digest))

    def map(self, label: str, function: Any, *args: Any) -> list[Any]:
        """Handles of ``function(shard, *args)`` for every shard."""
        return [self.at(k, label, function, *args) for k in range(len(self._parts))]

    def at(self, k: int, label: str, function: Any, *args: Any) -> Any:
        """Handle of ``function(shard, *args)`` for shard ``k``."""
        part = self._parts[k]
        if self.kept:
            return self.cluster.submit(label, function, part, *args)
        return self.cluster.submit_reading(label, function, part, *args)


def _estimated_bytes(cluster: Cluster, parts: Sequence[Any]) -> float:
    """Bytes of all partitions, from a few of them: the first alone may be empty, or the rest."""
    count = min(LOOKED, 1 + len(parts) // (2 * LOOKED))
    chosen = np.linspace(0, len(parts) - 1, count).astype(int)
    facts = cluster.gather([cluster.submit_reading("look", facts_of, parts[k]) for k in chosen])
    return float(np.mean([fact.n_bytes for fact in facts]) * len(parts))


def open_partitions(
    X: Any, y: Any, weight: Any, label_sets: bool = False
) -> tuple[list[Any], float]:
    """Delayed shards of a collection, and the bytes they take where that is known.

    With ``label_sets`` labels may also be 0/1 indicator matrices.
    """
    from dask import delayed
    from dask.delayed import Delayed

    if isinstance(X, list | tuple):
        if y is not None or weight is not None:
            raise ValueError(
                "a list of delayed partitions holds (X, y) or (X, y, sample_weight) pairs: pass "
                "no y and no sample_weight beside it"
            )
        opened = [delayed(_from_pair)(part, k, len(X), label_sets) for k, part in enumerate(X)]
        return opened, float("nan")
    if y is None:
        raise ValueError("y=None is not allowed: pass the labels as a Dask array or series")
    if hasattr(X, "assign") and hasattr(y, "to_frame"):
        return _of_frame(X, y, weight)
    blocks, n_bytes = _row_blocks(X)
    labels = _aligned(X, y, len(blocks), "y")
    weights = [None] * len(blocks) if weight is None else _aligned(X, weight, len(blocks), "weight")
    make = delayed(make_shard, pure=False)
    zipped = zip(blocks, labels, weights, strict=True)
    opened = [
        make(b, label, w, k, len(blocks), label_sets) for k, (b, label, w) in enumerate(zipped)
    ]
    assert all(isinstance(part, Delayed) for part in opened)
    return opened, n_bytes


def _of_frame(X: Any, y: Any, weight: Any) -> tuple[list[Any], float]:
    """Shards of a data frame with its labels as one more column.

    One frame and not two: Dask joins small files when few columns of them are wanted, so that the
    partitions of rows and labels need not match once they are read.
    """
    from dask import delayed

    extra = {LABEL: y} if weight is None else {LABEL: y, WEIGHT: weight}
    try:
        parts = X.assign(**extra).to_delayed()
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y and sample_weight do not match the partitions of X, take them from the same data "
            f"frame: {error}"
        ) from error
    make = delayed(_from_frame, pure=False)
    return [make(part, weight is not None, k, len(parts)) for k, part in enumerate(parts)], np.nan


def _from_frame(frame: Any, weighted: bool, number: int, count: int) -> Any:
    rows = frame.drop(columns=[LABEL, WEIGHT] if weighted else [LABEL])
    weight = frame[WEIGHT] if weighted else None
    return make_shard(rows, frame[LABEL], weight, number, count)


def _from_pair(pair: Any, number: int, count: int, label_sets: bool) -> Any:
    if not isinstance(pair, list | tuple) or len(pair) not in (2, 3):
        raise PartitionError(
            f"partition {number} of {count} (counted from 0) is not (X, y) or (X, y, sample_weight)"
            f" but a {type(pair).__name__}"
        )
    weight = pair[2] if len(pair) == 3 else None
    return make_shard(pair[0], pair[1], weight, number, count, label_sets)


def _row_blocks(X: Any) -> tuple[list[Any], float]:
    """Blocks of whole rows, and their size in bytes if known."""
    if hasattr(X, "chunks"):
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimension(s): rows and columns are 2")
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        return list(X.to_delayed().ravel()), float(X.nbytes)
    return list(X.to_delayed(optimize_graph=False)), float("nan")


def _has_known_rows(collection: Any) -> bool:
    """Whether a collection is an array that knows how many rows its blocks have."""
    return hasattr(collection, "chunks") and not np.isnan(sum(collection.chunks[0]))


def _aligned(X: Any, y: Any, count: int, name: str) -> list[Any]:
    """Blocks of labels or weights that match those of the rows."""
    if not hasattr(y, "to_delayed"):
        if not hasattr(X, "chunks") or np.isnan(X.shape[0]):
            raise ValueError(
                f"{name} is a {type(y).__name__}: with rows of unknown length pass a Dask array or "
                "series with the partitions of X"
            )
        import dask.array as da

        y = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
        if len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and {name} has {len(y)}")
        y = da.from_array(y, chunks=(X.chunks[0], *y.shape[1:]))
    elif _has_known_rows(X) and _has_known_rows(y):
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.shape[0] != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and {name} has {y.shape[0]}")
        y = y.rechunk((X.chunks[0], *y.shape[1:]))
    parts = y.to_delayed()
    parts = list(parts.ravel()) if hasattr(parts, "ravel") else list(parts)
    if len(parts) != count:
        raise ValueError(
            f"X has {count} partitions and {name} has {len(parts)}: give both the same partitions"
        )
    return parts
