"""Columns that a linear model cannot use as they are, told before the fit takes long."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.errors import ScalingWarning
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.magnitude import LARGEST_LINEAR, require_size
from bayesmargin.rows.files import FileRows

LARGEST_OFFSET = 1e5  # of a column's mean, in its standard deviations
LARGEST_OUTLIER = 1e4  # of a value, in the mean size of the others in its column
ROWS = 10_000  # that are looked at


def check_scales(values: Any, names: Any = None) -> None:
    """Refuse values that are too large to compute with, and warn of columns that are hard to use.

    Files are read no more often than needed, and check their values themselves.
    """
    if isinstance(values, FileRows):
        return
    if sparse.issparse(values):  # columns are mostly zero
        require_size(values, LARGEST_LINEAR, names)
        return
    largest = max(float(values.max()), -float(values.min()))
    if largest > LARGEST_LINEAR:
        require_size(values, LARGEST_LINEAR, names)
    rows = np.asarray(values[:: max(1, values.shape[0] // ROWS)], dtype=float)
    _warn_of_outliers(values, largest, rows, names)
    _warn_of_offsets(rows, names)


def _warn_of_outliers(values: Any, top: float, rows: FloatArray, names: Any) -> None:
    """Warn of a value that is out of all proportion to the others in its column.

    The likelihood of such a row has its kink where those of the others are flat: steps fit for one
    are thousands of times too short or too long for the other.
    """
    size = np.abs(rows)
    size[size == size.max(axis=0)] = 0.0  # outliers, if there are any among these rows
    typical = size.sum(axis=0) / np.maximum(np.count_nonzero(size, axis=0), 1)
    if top <= LARGEST_OUTLIER * np.min(typical, where=typical > 0.0, initial=np.inf):
        return
    largest = np.maximum(values.max(axis=0), -values.min(axis=0)).astype(float)
    far = np.flatnonzero((largest > LARGEST_OUTLIER * typical) & (typical > 0.0))
    if len(far):
        column = values[:, far[0]]
        row = int(np.argmax(np.abs(column)))
        _warn(
            far,
            names,
            f"{column[row]:.3g} in row {row} (counted from 0), but {typical[far[0]]:.3g} is the "
            "mean size of the others (the first). Sampling takes long for a value so far from the "
            "rest: mend it, or clip or transform the column",
        )


def _warn_of_offsets(rows: FloatArray, names: Any) -> None:
    """Warn of columns far from zero for their width, such as times in seconds or serial numbers.

    The prior keeps a weight near zero beside an intercept that is near zero, too, so such a column
    can hardly tell rows apart; and the two together are so nearly the same direction that sampling
    takes long.
    """
    mean, deviation = np.abs(rows.mean(axis=0)), rows.std(axis=0)
    far = np.flatnonzero((mean > LARGEST_OFFSET * deviation) & (deviation > 1e-12 * mean))
    if len(far):
        centre, width = rows[:, far[0]].mean(), deviation[far[0]]
        _warn(
            far,
            names,
            f"mean {centre:.3g} and standard deviation {width:.3g} (the first). So far from zero a "
            "column can hardly be used and sampling takes long: standardise the features, for "
            "instance with StandardScaler",
        )


def _warn(columns: IntArray, names: Any, what: str) -> None:
    """Warn whoever fits a model of some columns, of which three are named."""
    shown = [f"{names[j]!r}" if names is not None else f"{j}" for j in columns[:3]]
    more = f" and {len(columns) - 3} more" if len(columns) > 3 else ""
    warnings.warn(f"feature {', '.join(shown)}{more}: {what}", ScalingWarning, stacklevel=6)
