"""Components in the units of the user: where each lives, and how its expert separates classes."""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.infinite_svc.fitting import Problem
from bayesmargin.models.infinite_svc.prediction import Draw


class Expert(NamedTuple):
    """One component of one draw; all figures belong to the features as they were passed."""

    size: int  #: training rows
    centre: FloatArray  #: (feature,) centre of its Gaussian; NaN for features that it does not see
    coef: FloatArray  #: (1, feature), or (class, feature) for more than two classes
    intercept: FloatArray  #: (1,), or (class,)


def read_experts(draw: Draw, problem: Problem) -> list[Expert]:
    """Components of a draw in the order of their numbers, without the one that is empty."""
    centres = np.full((len(draw.weights), len(problem.scaling.centre)), np.nan)
    seen = problem.with_covariates
    columns = np.flatnonzero(np.full(centres.shape[1], seen)) if isinstance(seen, bool) else seen
    for centre, form in zip(centres, draw.form, strict=False):
        centre[columns] = _centre(form, len(columns), problem.base.diagonal)
    scaling = problem.scaling
    experts = []
    for size, centre, weights in zip(draw.population, centres, draw.weights, strict=False):
        slopes = weights[:, : centres.shape[1]]
        constant = weights[:, -1] if problem.with_intercept else np.zeros(len(weights))
        coef = slopes / scaling.width
        place = scaling.centre + np.where(np.isinf(scaling.width), 0.0, scaling.width) * centre
        experts.append(Expert(int(size), place, coef, constant - coef @ scaling.centre))
    return experts


def _centre(form: FloatArray, size: int, diagonal: bool) -> FloatArray:
    """Where the squared radius of a component is zero."""
    if diagonal:
        return form[size : 2 * size]
    matrix = np.zeros((size, size))
    matrix[np.tril_indices(size)] = form[: size * (size + 1) // 2]
    slope = form[size * (size + 1) // 2 :][:size]
    point: FloatArray = -np.linalg.solve(matrix + matrix.T, slope)
    return point
