"""Columns that a linear model cannot use as they are, told before the fit takes long."""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin.errors import ScalingWarning
from bayesmargin.rows.files import FileRows

LARGEST_OFFSET = 1e5  # of a column's mean, in its standard deviations
ROWS = 10_000  # that are looked at


def warn_of_offsets(values: Any, names: Any = None) -> None:
    """Warn of columns far from zero for their width, such as times in seconds or serial numbers.

    The prior keeps a weight near zero beside an intercept that is near zero, too, so such a column
    can hardly tell rows apart; and the two together are so nearly the same direction that sampling
    takes long.
    """
    if sparse.issparse(values) or isinstance(values, FileRows):
        return  # sparse columns are mostly zero, and files are read no more often than needed
    rows = np.asarray(values[:: max(1, values.shape[0] // ROWS)], dtype=float)
    mean, deviation = np.abs(rows.mean(axis=0)), rows.std(axis=0)
    far = np.flatnonzero((mean > LARGEST_OFFSET * deviation) & (deviation > 1e-12 * mean))
    if not len(far):
        return
    shown = [f"{names[j]!r}" if names is not None else f"{j}" for j in far[:3]]
    more = f" and {len(far) - 3} more" if len(far) > 3 else ""
    centre, width = rows[:, far[0]].mean(), deviation[far[0]]
    warnings.warn(
        f"feature {', '.join(shown)}{more}: mean {centre:.3g} and standard deviation "
        f"{width:.3g} (the first). So far from zero a column can hardly be used and "
        "sampling takes long: standardise the features, for instance with StandardScaler",
        ScalingWarning,
        stacklevel=4,
    )
