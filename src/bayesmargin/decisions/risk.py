"""How the risk of an error grows with the share of rows that are answered."""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.decisions.checking import (
    checked_labels,
    checked_probabilities,
    checked_weights,
)
from bayesmargin.foundation.types import FloatArray


class RiskCurve(NamedTuple):
    """Rows answered in the order of their certainty: threshold, share answered, share of errors."""

    threshold: FloatArray
    answered: FloatArray
    risk: FloatArray

    def at(self, answered: float) -> float:
        """Share of errors where at least such a share of the rows is answered."""
        place = min(int(np.searchsorted(self.answered, answered - 1e-12)), len(self.risk) - 1)
        return float(self.risk[place])

    @property
    def area(self) -> float:
        """Mean risk over all shares: small where errors are among the least certain rows."""
        widths = np.diff(self.answered, prepend=0.0)
        return float(widths @ self.risk)


def risk_curve(probability: Any, label: Any, weight: Any = None) -> RiskCurve:
    """Share of errors among rows whose most probable class is likelier than a threshold.

    Parameters
    ----------
    probability : array-like of shape (n_rows, n_classes)
    label : array-like of shape (n_rows,)
        Class numbers.
    weight : array-like of shape (n_rows,), optional
        Rows that each stands for.

    Returns
    -------
    RiskCurve
        A place for every threshold that tells rows apart, the highest first.

    Examples
    --------
    >>> from bayesmargin.decisions import risk_curve
    >>> curve = risk_curve([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.45, 0.55]], [0, 1, 1, 1])
    >>> curve.at(0.5), curve.at(0.75)
    (0.0, 0.3333333333333333)
    """
    table = checked_probabilities(probability)
    labels = checked_labels(label, table)
    weights = checked_weights(weight, len(table))
    certainty = table.max(axis=1)
    order = np.argsort(-certainty, kind="stable")
    rows = np.cumsum(weights[order])
    errors = np.cumsum((weights * (table.argmax(axis=1) != labels))[order])
    last = np.flatnonzero(np.append(np.diff(certainty[order]) < 0.0, True))
    last = last[rows[last] > 0.0]
    if not len(last):
        raise ValueError("no row counts: give at least one row, of a weight above zero")
    rows, errors = rows[last], errors[last]
    return RiskCurve(certainty[order][last], rows / rows[-1], errors / rows)
