"""Residuals of training rows under the posterior without them, for intervals of new values."""

from collections.abc import Sequence

import numpy as np

from bayesmargin.calibration.maps import MAX_ROWS
from bayesmargin.calibration.residuals import LeftOut
from bayesmargin.calibration.tilted import without_rows
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.linear.spread import score_variance
from bayesmargin.models.regression.noise import Residuals
from bayesmargin.models.regression.sampling import Head, scaled, split_heads, value_of
from bayesmargin.models.regression.units import Units


def left_out(
    rows: LinearData,
    heads: Sequence[Head],
    units: Sequence[Units],
    weights: FloatArray,
    intercept: bool,
) -> LeftOut:
    """Residuals of some training rows, a column a head.

    Parameters
    ----------
    rows : LinearData
        In memory; labels are values.
    units : sequence of Units
        Units of the values of a row.
    weights : array of shape (chain, draw, weight)
        Draws, in the units of the values.
    """
    draws = weights.reshape(-1, weights.shape[-1])
    residuals, variances, inflation = [], [], []
    for k, head in enumerate(heads):
        size, values = draws.shape[1] // len(heads), value_of(rows, head.output)
        unit = units[head.output].size
        own = draws[:, k * size : (k + 1) * size]
        coef, end = split_heads(own, 1, intercept)
        scores = rows.values @ coef.mean(axis=0) + end.mean()
        variance = score_variance(rows.values, coef[:, None], end[:, None])[:, 0]
        single = head.cost * rows.weight / np.maximum(rows.weight, 1.0)  # one of equal rows
        pieces = head.likelihood.pieces(values)
        scores, variance = without_rows(pieces, single, scores, variance)
        residual = values - scores
        inside = Residuals(residual / unit, rows.weight)
        ideal = inside.cost(scaled(head.likelihood, unit)) / unit
        residuals.append(residual)
        inflation.append(head.cost / ideal)
        variances.append(variance * inflation[-1])
    return LeftOut(
        np.stack(residuals, axis=1),
        np.stack(variances, axis=1),
        np.array(rows.weight, dtype=float),
        np.array(inflation),
    )


def together(before: LeftOut | None, now: LeftOut, rng: np.random.Generator) -> LeftOut:
    """Residuals of earlier rows and of these, or some of them where they are many."""
    if before is None:
        return now
    parts = zip(
        (before.residual, before.variance, before.weight),
        (now.residual, now.variance, now.weight),
        strict=True,
    )
    residual, variance, weight = (np.concatenate(part) for part in parts)
    if len(weight) > MAX_ROWS:
        some = rng.choice(len(weight), MAX_ROWS, replace=False)
        residual, variance, weight = residual[some], variance[some], weight[some]
    return LeftOut(residual, variance, weight, now.inflation)
