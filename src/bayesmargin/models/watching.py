"""Accuracy on rows that somebody watches while a fit goes on; never part of the fit."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.running.progress import watched_rows

MOST_ROWS = 2000  # enough for a glance


class WatchedRows(NamedTuple):
    """Rows with the class numbers of their labels."""

    X: Any
    code: IntArray

    def accuracy(self, chosen: IntArray) -> str:
        """Share of right class numbers, for the display."""
        return f"validation accuracy {float((chosen == self.code).mean()):.3f}"


def watched(classes: Any) -> WatchedRows | None:
    """Rows that are watched, as far as their labels are among the classes; None without any."""
    found = watched_rows()
    if found is None:
        return None
    X, y = found
    y = np.asarray(y)
    known = np.flatnonzero(np.isin(y, classes))
    if len(known) > MOST_ROWS:
        known = known[np.linspace(0, len(known) - 1, MOST_ROWS).astype(int)]
    return WatchedRows(X[known], np.searchsorted(classes, y[known])) if len(known) else None


def linear_glance(classes: Any, intercept: bool) -> Callable[[FloatArray], str] | None:
    """What to show for the mean weights of a linear model so far."""
    rows = watched(classes)
    if rows is None:
        return None
    blocks = 1 if len(classes) == 2 else len(classes)

    def glance(weights: FloatArray) -> str:
        matrix = weights.reshape(blocks, -1)
        coef = matrix[:, :-1] if intercept else matrix
        scores = rows.X @ coef.T + (matrix[:, -1] if intercept else 0.0)
        chosen = (scores[:, 0] > 0).astype(int) if blocks == 1 else scores.argmax(axis=1)
        return rows.accuracy(chosen)

    return glance
