"""What a regression says about rows: values with intervals, and how good they are."""

from typing import Any

import numpy as np

COVERAGE = 0.9  # of the intervals that tables show


def value_columns(estimator: Any, X: Any) -> dict[str, Any]:
    """Columns of a table of predictions.

    ``predicted`` and ``sd``, of several quantiles one of each with the level in its name, and the
    ends of an interval that holds new values nine times in ten.
    """
    values, deviation = estimator.predict(X, return_std=True)
    columns: dict[str, Any] = {}
    if values.ndim == 1:
        columns["predicted"], columns["sd"] = values, deviation
    else:
        columns["predicted"] = estimator.central(values)
        for k, level in enumerate(estimator.quantile):
            columns[f"q{level:g}"], columns[f"q{level:g}_sd"] = values[:, k], deviation[:, k]
    columns["low_90"], columns["high_90"] = estimator.predict_interval(X, COVERAGE).T
    return columns


def value_scores(estimator: Any, X: Any, truth: Any) -> dict[str, float]:
    """Mean absolute error, share of variance explained, and how often intervals hold the value."""
    values = estimator.predict(X)
    values = values if values.ndim == 1 else estimator.central(values)
    low, high = estimator.predict_interval(X, COVERAGE).T
    truth = np.asarray(truth, dtype=float)
    spread = float(np.square(truth - truth.mean()).mean())
    error = float(np.square(truth - values).mean())
    return {
        "mean_absolute_error": float(np.abs(truth - values).mean()),
        "r2": 1.0 - error / spread if spread else 0.0,
        "coverage_90": float(np.mean((low <= truth) & (truth <= high))),
        "width_90": float(np.mean(high - low)),
    }


def told_scores(found: dict[str, float]) -> str:
    """The scores in a sentence."""
    return (
        f"mean absolute error {found['mean_absolute_error']:.4g}, R2 {found['r2']:.4f}, "
        f"{100.0 * found['coverage_90']:.1f}% inside intervals of 90%, whose mean width is "
        f"{found['width_90']:.4g}."
    )
