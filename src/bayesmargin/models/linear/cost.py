"""The cost of a linear model, chosen by rows left out of Gaussian fits."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy import linalg, sparse

from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.linear.choosing import (
    Candidate,
    Profile,
    part_of,
    searched,
)
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.linear.gaussian import GaussianFits, gaussian_fits
from bayesmargin.rows.files import FileRows

AUTO = "auto"
ROWS, WIDE_ROWS = 4000, 1000  # that decide, at most; of rows with more columns than these
COLUMNS = 300
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
    laplace = settings.prior == "laplace"
    scale = settings.prior_scale_ * (np.sqrt(2.0) if laplace else 1.0)
    features, rest = _spanned(part.values)
    rows = replace(part, values=features, unseen=scale**2 * rest)
    facts = (settings.margin, scale, bool(settings.fit_intercept))

    fits: dict[float, GaussianFits] = {}

    def losses(candidate: Candidate) -> FloatArray:
        cost = candidate[0]
        near = min(fits, key=lambda other: abs(np.log(other / cost)), default=cost)
        fits[cost] = gaussian_fits(rows, cost, *facts, fits.get(near), CLOSE_ENOUGH)
        return fits[cost].losses(fits[cost].left_out())

    return searched(["C"], (1.0,), STEPS, losses, part.weight, rounds=3)


def with_cost(settings: Any, cost: float) -> Any:
    """The settings of an estimator with a number for ``C``."""
    return SimpleNamespace(**{**vars(settings), "C": cost})


def _spanned(values: Any) -> tuple[FloatArray, FloatArray]:
    """Rows in the main directions of their span, and what these leave out of their squares."""
    if values.shape[1] <= COLUMNS:
        dense = values.toarray() if sparse.issparse(values) else values
        return np.asarray(dense, dtype=float), np.zeros(len(dense))
    gram = values @ values.T
    gram = np.asarray(gram.toarray() if sparse.issparse(gram) else gram, dtype=float)
    square, vectors = linalg.eigh(gram)
    kept = slice(max(0, len(square) - COLUMNS), None)
    inside = vectors[:, kept] * np.sqrt(np.maximum(square[kept], 0.0))
    rest = np.maximum(np.diag(gram) - np.square(inside).sum(axis=1), 0.0)
    return np.ascontiguousarray(inside), rest
