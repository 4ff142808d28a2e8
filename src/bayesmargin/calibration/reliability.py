"""Whether forecasts come true as often as they say: the reliability curve and its error."""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray

BINS = 10
FEWEST_IN_A_BIN = 5
SIMULATIONS = 400


class ReliabilityCurve(NamedTuple):
    """Bins of equally many rows: mean forecast, observed frequency, its standard error, rows."""

    forecast: FloatArray
    observed: FloatArray
    error: FloatArray
    cases: FloatArray

    @property
    def calibration_error(self) -> float:
        """Mean distance between forecast and frequency, weighted by the rows in each bin."""
        gap = np.abs(self.forecast - self.observed)
        return float(np.average(gap, weights=self.cases))


def bins_of(chance: FloatArray, wanted: int | None = None) -> list[IntArray]:
    """Rows in bins of equally many, in the order of their forecasts."""
    wanted = wanted or max(1, min(BINS, len(chance) // FEWEST_IN_A_BIN))
    order = np.argsort(chance, kind="stable")
    return [part for part in np.array_split(order, wanted) if len(part)]


def curve_of(chance: FloatArray, event: FloatArray, bins: int | None = None) -> ReliabilityCurve:
    """The reliability curve of forecasts of an event (0 or 1).

    ``bins`` is their number; by default ten, fewer where that would leave fewer than five in each.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.calibration.reliability import curve_of
    >>> round(curve_of(np.full(5, 0.3), np.array([1.0, 0.0, 0.0, 0.0, 0.0])).calibration_error, 6)
    0.1
    """
    parts = bins_of(chance, bins)
    count = np.array([len(part) for part in parts], dtype=float)
    forecast = np.array([chance[part].mean() for part in parts])
    observed = np.array([event[part].mean() for part in parts])
    error = np.array([error_of(o, n) for o, n in zip(observed.tolist(), count, strict=True)])
    return ReliabilityCurve(forecast, observed, error, count)


def error_of(share: float, count: float) -> float:
    """Standard error of a share of cases.

    Where all or none are counted, the formula would claim certainty: one case of each kind more
    is counted then.
    """
    if share in (0.0, 1.0):
        share, count = (share * count + 1.0) / (count + 2.0), count + 2.0
    return math.sqrt(share * (1.0 - share) / count)


def events_and_chances(
    y: Any, probability: Any, pos_label: Any = None
) -> tuple[FloatArray, FloatArray]:
    """Events (0 or 1) and their forecasts from labels and probabilities as people have them.

    Examples
    --------
    >>> from bayesmargin.calibration.reliability import events_and_chances
    >>> events_and_chances(["spam", "ham"], [0.9, 0.2], pos_label="spam")
    (array([1., 0.]), array([0.9, 0.2]))
    """
    labels, chance = np.asarray(y), np.asarray(probability, dtype=float)
    if chance.ndim != 1:
        raise ValueError(
            f"probability has the shape {chance.shape}: give the probability of one label, for "
            "example predict_proba(X)[:, 1]"
        )
    if labels.shape != chance.shape or not len(chance):
        raise ValueError(
            f"y has the shape {labels.shape} and probability {chance.shape}: both need one number "
            "for each of the same rows, and at least one row"
        )
    if not np.all((chance >= 0.0) & (chance <= 1.0)):
        strange = chance[~((chance >= 0.0) & (chance <= 1.0))][0]
        raise ValueError(f"probability holds {strange:g}: it must lie between 0 and 1")
    found = np.unique(labels).tolist()
    if pos_label is not None and pos_label not in found:
        raise ValueError(f"pos_label={pos_label!r} is not among the labels {found[:5]} of y")
    if pos_label is None and not set(found) <= {0, 1}:
        raise ValueError(
            f"y holds the labels {found[:5]} and not 0 and 1: say by pos_label whose probability "
            "was forecast"
        )
    return (labels == (1 if pos_label is None else pos_label)).astype(float), chance


def expected_error(chance: FloatArray, seed: int = 0) -> tuple[float, float]:
    """Mean and 95% quantile of the calibration error that perfect forecasts would show."""
    rng = np.random.default_rng(seed)
    parts = bins_of(chance)
    count = np.array([len(part) for part in parts], dtype=float)
    total = np.zeros(SIMULATIONS)
    for part in parts:
        p = chance[part]
        # The number of events among many is close to normal; few are drawn one by one.
        if len(part) > 200:
            hits = rng.normal(p.sum(), np.sqrt((p * (1.0 - p)).sum()), SIMULATIONS)
        else:
            hits = (rng.random((SIMULATIONS, len(part))) < p).sum(axis=1).astype(float)
        total += np.abs(hits - p.sum())
    error = total / count.sum()
    return float(error.mean()), float(np.quantile(error, 0.95))
