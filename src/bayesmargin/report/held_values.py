"""Values and intervals for rows that took no part in the fit of a regression."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.inputs.values import plain_values
from bayesmargin.report.held_out import rows_given

LEVELS = (0.5, 0.8, 0.9, 0.95)
SHOWN = 2  # place of the level whose intervals are listed


@dataclass(frozen=True)
class HeldValues:
    """Predictions of a regression for rows that it has not seen."""

    rows: IntArray  #: places of these rows in the data that were given
    predicted: FloatArray  #: (row, value); of several quantiles the middle line
    deviation: FloatArray  #: likewise: how well the line is known
    ends: FloatArray  #: (level, row, value, end) of the intervals
    truth: FloatArray | None  #: (row, value); None without values
    names: list[str]  #: of the values
    ids: list[str]
    texts: list[str] | None

    def inside(self, level: int) -> Any:
        """Which intervals of a level hold their values (row, value)."""
        assert self.truth is not None
        low, high = self.ends[level, ..., 0], self.ends[level, ..., 1]
        return (low <= self.truth) & (self.truth <= high)


def forecast_values(estimator: Any, data: Any, remarks: list[str]) -> HeldValues:
    """Values and intervals for the held-out rows, a random part of very many."""
    given = rows_given(data, remarks)
    values, deviation = estimator.predict(given.X, return_std=True)
    if "quantile" in estimator.posterior_.coords:
        middle = estimator.central(values)
        values, deviation = middle, np.abs(estimator.central(deviation))
    values, deviation = values.reshape(len(given.rows), -1), deviation.reshape(len(given.rows), -1)
    ends = [estimator.predict_interval(given.X, level) for level in LEVELS]
    truth = None
    if given.y is not None:
        truth = plain_values(given.y[given.rows]).reshape(len(given.rows), -1)
    if truth is not None and truth.shape != values.shape:
        raise ValueError(
            f"y holds {truth.shape[1]} values a row, but the model predicts {values.shape[1]}"
        )
    count = values.shape[1]
    return HeldValues(
        rows=given.rows,
        predicted=values,
        deviation=deviation,
        ends=np.stack(ends).reshape(len(LEVELS), *values.shape, 2),
        truth=truth,
        names=["value"] if count == 1 else [f"output {k}" for k in range(count)],
        ids=given.ids,
        texts=given.texts,
    )
