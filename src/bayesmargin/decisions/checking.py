"""What decisions are made from, checked: probabilities, classes of rows, shares."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray

OFF = 1e-3  # of one, that probabilities of a row may add up to


def checked_probabilities(probability: Any) -> FloatArray:
    """Probabilities (row, class), each row adding up to one."""
    table = np.asarray(probability, dtype=float)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"probability has the shape {table.shape}: it needs a row for each case and a column "
            "for each class, as predict_proba gives them"
        )
    if not np.all((table >= 0.0) & (np.abs(table.sum(axis=1, keepdims=True) - 1.0) < OFF)):
        raise ValueError(
            "probability holds rows that do not add up to one: decisions are made between classes "
            "of which one is true; decide on each label of a label set by itself"
        )
    return table


def checked_labels(label: Any, probability: FloatArray) -> IntArray:
    """Class numbers of the rows."""
    numbers = np.asarray(label)
    if numbers.shape != probability.shape[:1] or numbers.dtype.kind not in "iub":
        raise ValueError(
            f"label has the shape {numbers.shape} and the type {numbers.dtype}: give the class "
            f"number of each of the {len(probability)} rows, "
            "say np.searchsorted(model.classes_, y)"
        )
    if len(numbers) and not 0 <= int(numbers.min()) <= int(numbers.max()) < probability.shape[1]:
        raise ValueError(
            f"label holds class numbers from {numbers.min()} to {numbers.max()}, but probability "
            f"has {probability.shape[1]} columns: they count from 0"
        )
    return numbers.astype(np.int64)


def checked_weights(weight: Any, count: int) -> FloatArray:
    """Rows that each row stands for; one if nothing is said."""
    if weight is None:
        return np.ones(count)
    weights = np.asarray(weight, dtype=float)
    if weights.shape != (count,) or not np.all(weights >= 0.0):
        raise ValueError(
            f"weight has the shape {weights.shape}: it needs a number of at least zero for each of "
            f"the {count} rows"
        )
    return weights
