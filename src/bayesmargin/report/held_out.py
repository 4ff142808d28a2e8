"""Forecasts for rows that took no part in the fit, and what is known about these rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bayesmargin.foundation.types import FloatArray, IntArray

MOST_ROWS = 50_000  # held-out rows that are forecast; more would hardly change a figure


@dataclass(frozen=True)
class HeldOut:
    """Forecasts for rows that the model has not seen, with what is known about the rows."""

    X: Any
    rows: IntArray  #: places of these rows in the data that were given
    total: int  #: rows that were given
    probability: FloatArray  #: (row, class)
    predicted: Any  #: class numbers (row,), or for label sets an indicator (row, class)
    truth: Any  #: likewise, -1 for a label that the model does not know; None without labels
    ids: list[str]
    texts: list[str] | None

    @property
    def known(self) -> IntArray:
        """Places of rows whose label is one of the model's classes."""
        if self.truth is None:
            return np.empty(0, np.int64)
        if self.truth.ndim == 2:
            return np.arange(len(self.truth))
        return np.flatnonzero(self.truth >= 0)

    def take(self, rows: IntArray) -> Any:
        """Some of the rows, in the form in which all were given."""
        return self.X.iloc[rows] if hasattr(self.X, "iloc") else self.X[rows]

    @property
    def label_sets(self) -> bool:
        """Whether a row may carry several labels."""
        return np.ndim(self.predicted) == 2


class Given(NamedTuple):
    """Rows as they were given, or a random part of very many; labels are those of all."""

    X: Any
    rows: IntArray
    total: int
    y: Any
    ids: list[str]
    texts: list[str] | None


def rows_given(data: Any, remarks: list[str]) -> Given:
    """Rows with what is known about them, a random part of very many."""
    data = _rows_and_labels(data)
    X = data.X
    sliceable = isinstance(X, np.ndarray) or hasattr(X, "iloc") or hasattr(X, "parts")
    if sparse.issparse(X):
        X = X.tocsr()  # of some forms no rows can be taken
    elif not sliceable:
        X = np.asarray(X)
    total = int(X.shape[0])
    y, ids, texts = (_known(data, name, total) for name in ("y", "ids", "texts"))
    rows = np.arange(total)
    if total > MOST_ROWS and not hasattr(X, "parts"):
        rows = np.sort(np.random.default_rng(0).choice(total, MOST_ROWS, replace=False))
        X = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        remarks.append(
            f"The forecasts are of {MOST_ROWS:,} rows chosen at random from the {total:,} given."
        )
    return Given(
        X, rows, total, y,
        [f"row {k}" for k in rows] if ids is None else [str(ids[k]) for k in rows],
        None if texts is None else [str(texts[k]) for k in rows],
    )  # fmt: skip


def forecast(estimator: Any, data: Any, remarks: list[str]) -> HeldOut:
    """Probabilities and predictions for the held-out rows, a random part of very many."""
    X, rows, total, y, ids, texts = rows_given(data, remarks)
    probability = np.asarray(estimator.predict_proba(X), dtype=float)
    if np.allclose(probability.sum(axis=1), 1.0, atol=1e-5):
        # The most probable class is what ``predict`` gives, for every model of the library.
        predicted = probability.argmax(axis=1)
        truth = None if y is None else _codes(_column(y)[rows], estimator.classes_)
    else:  # label sets: every label has a probability of its own
        predicted = np.asarray(estimator.predict(X))
        truth = None if y is None else _indicator(y, len(estimator.classes_))[rows]
    if truth is not None and len(truth) and truth.ndim == 1 and (truth < 0).any():
        strange = int((truth < 0).sum())
        remarks.append(
            f"{strange:,} of {len(truth):,} rows carry a label that the model was never shown; "
            "they count as wrong in the accuracy and are left out elsewhere."
        )
    return HeldOut(
        X=X,
        rows=rows,
        total=total,
        probability=probability,
        predicted=predicted,
        truth=truth,
        ids=ids,
        texts=texts,
    )


def _rows_and_labels(data: Any) -> Any:
    """Data as an object with ``X`` and ``y``, whichever way they were given."""
    found = data if hasattr(data, "X") else None
    if isinstance(data, tuple) and len(data) == 2:
        found = SimpleNamespace(X=data[0], y=data[1])
    elif isinstance(data, Mapping) and "X" in data:
        found = SimpleNamespace(**data)
    if found is not None and found.X is None:
        raise TypeError("data holds no rows: its X is None; leave data out if there are none")
    if found is not None:
        return found
    raise TypeError(
        f"data is a {type(data).__name__}, from which rows and labels cannot be told apart: give "
        "a tuple (X, y), with None for labels that are not known, or an object with X and y"
    )


def _known(data: Any, name: str, total: int) -> Any:
    """What is known about the rows under a name: an array for labels, else a list; or None."""
    value = getattr(data, name, None)
    if value is None:
        return None
    if name == "y":
        value = value.toarray() if sparse.issparse(value) else np.atleast_1d(np.asarray(value))
    else:
        value = list(value)
    if len(value) != total:
        raise ValueError(
            f"{name} holds {len(value):,} items, but X has {total:,} rows: both must be of the "
            "same rows, in the same order"
        )
    return value


def _column(y: Any) -> Any:
    """Labels (row,), where there is one a row."""
    if y.ndim == 2 and y.shape[1] == 1:
        return y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y has the shape {y.shape}: this model gives every row one label")
    return y


def _indicator(y: Any, n_classes: int) -> Any:
    """Label sets as zeros and ones (row, class)."""
    if y.shape[1:] != (n_classes,):
        raise ValueError(
            f"y has the shape {y.shape}: this model gives every row a set of labels, so it needs "
            f"{n_classes} columns of 0 and 1"
        )
    return y.astype(int)


def _codes(labels: Any, classes: Any) -> IntArray:
    """Class numbers; labels that agree with none are -1. Text is compared when types differ."""
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    codes = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if len(codes) and (codes < 0).all():
        place = {str(label): k for label, k in place.items()}
        codes = np.array([place.get(str(label), -1) for label in labels.tolist()], dtype=np.int64)
    return codes
