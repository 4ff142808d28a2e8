"""The cost of a linear model, chosen by rows that Gaussian fits to the others forecast."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.linear.choosing import (
    Candidate,
    Profile,
    part_of,
    searched,
)
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.linear.gaussian import GaussianFits, folds_of, gaussian_fits
from bayesmargin.models.linear.refitting import FOLDS, spanned
from bayesmargin.rows.files import FileRows

AUTO = "auto"
ROWS, WIDE_ROWS = 4000, 1000  # that decide, at most; of rows with more columns than these
COLUMNS = 100
CLOSE_ENOUGH = 0.1  # deviations of the posterior, of a candidate's Gaussian
STEPS = {"C": (10.0, 0.01, 100.0)}


def require_rows(values: Any) -> None:
    """Refuse rows that a choice cannot be made on."""
    if isinstance(values, FileRows):
        raise ValueError(
            "C='auto' is not known for rows from files: choose it on some rows in memory, and pass "
            "the number"
        )


def cost_profile(data: LinearData, settings: Any, rng: np.random.Generator) -> Profile:
    """What costs are worth on some of the rows, by the walk of :func:`.choosing.searched`."""
    require_rows(data.values)
    wide = data.values.shape[1] > COLUMNS
    part, _ = part_of(data, WIDE_ROWS if wide else ROWS, rng)
    scale = weight_scale(settings)
    rows, fold = spanned(part, scale), folds_of(part.label, FOLDS, rng)
    facts = (settings.margin, scale, bool(settings.fit_intercept))

    fits: dict[float, GaussianFits] = {}

    def losses(candidate: Candidate) -> FloatArray:
        cost = candidate[0]
        near = min(fits, key=lambda other: abs(np.log(other / cost)), default=cost)
        fits[cost] = gaussian_fits(rows, cost, *facts, fits.get(near), CLOSE_ENOUGH)
        return fits[cost].losses(fits[cost].held_out(fold, CLOSE_ENOUGH))

    return searched(["C"], (1.0,), STEPS, losses, part.weight, rounds=3)


def weight_scale(settings: Any) -> float:
    """Deviation of the prior of a weight."""
    return float(settings.prior_scale_ * (np.sqrt(2.0) if settings.prior == "laplace" else 1.0))


def with_cost(settings: Any, cost: float) -> Any:
    """The settings of an estimator with a number for ``C``."""
    return SimpleNamespace(**{**vars(settings), "C": cost})
