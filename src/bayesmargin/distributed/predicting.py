"""Predictions for Dask collections: lazy arrays, one block of rows at a time, on the workers."""

from typing import Any

import numpy as np


def on_blocks(
    model: Any, method: str, X: Any, shape: tuple[Any, Any] | None = None, **options: Any
) -> Any:
    """``model.method`` of every block of rows, as a lazy Dask array (or a tuple of them).

    ``shape`` is the number of columns of a result (None: one-dimensional; a tuple of further axes)
    and its type, where it is not what classifiers of one label a row give; ``options`` go to the
    method.
    """
    shape = shape or _shape(model, method)
    if options.get("return_std"):
        deviation = on_blocks(_Part(model, method, 1), "part", X, shape)
        return on_blocks(model, method, X, shape), deviation
    import dask.array as da
    from dask import delayed

    columns, dtype = shape
    shared = delayed(model)
    blocks, sizes = _blocks(X)
    parts = []
    for block, size in zip(blocks, sizes, strict=True):
        none = np.empty((0,) if columns is None else (0, *np.ravel(columns)), dtype)
        value = delayed(_call)(shared, method, block, options, none)
        extent = (size, *none.shape[1:])
        parts.append(da.from_delayed(value, shape=extent, dtype=dtype))
    return da.concatenate(parts, allow_unknown_chunksizes=True)


class _Part:
    """One of several results of a method, for blocks."""

    def __init__(self, model: Any, method: str, place: int) -> None:
        self.model, self.method, self.place = model, method, place

    def part(self, X: Any) -> Any:
        return getattr(self.model, self.method)(X, return_std=True)[self.place]


def _call(model: Any, method: str, block: Any, options: dict[str, Any], none: Any) -> Any:
    """The answers for a block; ``none`` for one without rows, which models refuse."""
    return getattr(model, method)(block, **options) if block.shape[0] else none


def accuracy(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Share of right predictions; labels and weights are collections, too, or in memory.

    Whoever computes them first need not know how many rows the partitions have.
    """
    from sklearn.metrics import accuracy_score

    weight = None if sample_weight is None else np.asarray(sample_weight)
    return float(accuracy_score(np.asarray(y), np.asarray(model.predict(X)), sample_weight=weight))


def _shape(model: Any, method: str) -> tuple[int | None, Any]:
    """Columns of a result (None: one-dimensional) and its type."""
    n_classes = len(model.classes_)
    if method == "predict":
        return None, model.classes_.dtype
    if method == "predict_lead":
        return None, np.dtype(float)
    if method == "decision_function":
        return (None if n_classes == 2 else n_classes), np.dtype(float)
    return n_classes, np.dtype(float)


def _blocks(X: Any) -> tuple[list[Any], list[float]]:
    """Blocks of whole rows and their lengths, NaN where not known."""
    if isinstance(X, list | tuple):
        return list(X), [np.nan] * len(X)
    if hasattr(X, "chunks"):
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        return list(X.to_delayed().ravel()), list(X.chunks[0])
    blocks = X.to_delayed()
    return list(blocks), [np.nan] * len(blocks)
