"""The adjustment of a linear model's posterior, from the training rows that calibration reads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.calibration.maps import MAX_ROWS
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.linear.fitting import LinearData, make_problem
from bayesmargin.posterior import Posterior
from bayesmargin.priors.moments import FULL_COVARIANCE, Belief, GaussianBelief, LaplaceBelief
from bayesmargin.rows.blocks import narrow_blas
from bayesmargin.targets.problem import Problem
from bayesmargin.uncertainty.adjustment import Adjustment, stretch_between
from bayesmargin.uncertainty.sandwich import Sandwich, sandwich

WORK = 1e9  # products of two columns that a pass takes, about, unless rows would be too few
ROWS = 20  # for each weight, at least, as far as there are


@dataclass(frozen=True)
class Earlier:
    """What earlier rows of the same model tell of the minimiser, a part a prior.

    The precision of a prior that summarises rows is the curvature of their energies, whose minimum
    is where the adjustment puts it; ``scatter`` are the covariances of their subgradients.
    """

    priors: Sequence[Belief]
    scatter: Sequence[FloatArray]
    doubts: str


def earlier_rows(posterior: Posterior, priors: Sequence[Belief]) -> Earlier | None:
    """What a posterior hands on beside its summary; None where it has no adjustment."""
    adjustment = posterior.adjustment
    if adjustment is None:
        return None
    parts = zip(
        priors,
        np.split(adjustment.centre, len(priors)),
        np.split(adjustment.applied(adjustment.joint(posterior)), len(priors), axis=1),
        strict=True,
    )
    centred, scatter = [], []
    for prior, centre, draws in parts:
        if not isinstance(prior, GaussianBelief):
            return None
        precision = prior.precision if prior.precision.ndim == 2 else np.diag(prior.precision)
        centred.append(GaussianBelief(centre, precision))
        scatter.append(precision @ np.atleast_2d(np.cov(draws.T)) @ precision)
    return Earlier(centred, scatter, adjustment.doubts)


def adjust(
    data: LinearData,
    weights: FloatArray,
    settings: Any,
    priors: Sequence[Belief],
    rng: np.random.Generator,
    earlier: Earlier | None = None,
) -> Adjustment | None:
    """The map that makes intervals cover; None where there are too many weights for it.

    Parameters
    ----------
    data : LinearData
        Training rows, or some of them.
    weights : array of shape (chain, draw, weight)
    priors : sequence of beliefs
        One for all classes, or one a class (one-vs-rest).
    earlier : Earlier, optional
        Takes the place of priors that summarise earlier rows.
    """
    facts = (settings.C, settings.margin, settings.fit_intercept)

    def problem(part: LinearData, k: int, prior: Belief) -> Problem:
        if len(priors) > 1:
            part = part.of_label(k)
        return make_problem(part, prior, *facts)

    return adjustment_of(data, weights, problem, priors, rng, earlier)


def adjustment_of(
    data: LinearData,
    weights: FloatArray,
    problem_of: Callable[[LinearData, int, Belief], Problem],
    priors: Sequence[Belief],
    rng: np.random.Generator,
    earlier: Earlier | None = None,
) -> Adjustment | None:
    """The same for problems of any kind, one a prior.

    Parameters
    ----------
    problem_of : callable
        The problem of some rows, the number of their prior, and that prior, weakened with the rows.
    """
    priors = priors if earlier is None else earlier.priors
    flat = weights.reshape(-1, weights.shape[-1])
    size = flat.shape[1] // len(priors)
    if size > FULL_COVARIANCE or len(flat) < 2 * (size + 2):
        return None
    data, share = _fewer(data, size, rng)
    number = data.counts
    found, covariances = [], []
    for k, prior in enumerate(priors):
        problem = problem_of(data, k, _of_a_share(prior, share))
        draws = flat[:, k * size : (k + 1) * size].astype(float)
        covariance = np.atleast_2d(np.cov(draws.T))
        beside = None if earlier is None else share * earlier.scatter[k]
        try:
            with narrow_blas(size):
                mean = draws.mean(axis=0)
                one = _one(problem, number, mean, covariance, share, beside, data.groups)
        except linalg.LinAlgError:  # columns are copies of one another, to within rounding
            return None
        found.append(one)
        covariances.append(covariance)
    stretch = [
        stretch_between(before, one.covariance)
        for before, one in zip(covariances, found, strict=True)
    ]
    doubts = next((one.doubts for one in found if one.doubts), "")
    if earlier is not None:  # which bound the weights unless they did not do so before
        doubts = doubts and earlier.doubts
    return Adjustment(
        flat.mean(axis=0, dtype=float),
        np.concatenate([one.centre for one in found]),
        stretch[0] if len(stretch) == 1 else np.stack(stretch),
        doubts,
    )


def _one(
    problem: Problem,
    number: FloatArray,
    mean: FloatArray,
    covariance: FloatArray,
    share: float,
    beside: FloatArray | None,
    groups: IntArray | None,
) -> Sandwich:
    """Law of the minimiser, of which the problem may hold a share of the rows.

    A share of the rows finds the minimiser less well than all; the centre is then that of the
    posterior, which is narrow beside the kinks when rows are as many.
    """
    scale = np.sqrt(np.diag(covariance))
    root = linalg.cholesky(covariance / np.outer(scale, scale) + 1e-10 * np.eye(len(scale)))
    start = GaussianAnchor(mean, scale[:, None] * root.T / np.sqrt(share))
    found = sandwich(problem, number, start, beside, groups)
    if share == 1.0:
        return found
    return replace(found, centre=mean, covariance=share * found.covariance)


def _of_a_share(prior: Belief, share: float) -> Belief:
    """The prior that leaves a share of the rows the part in the posterior that all have."""
    if share == 1.0:
        return prior
    if isinstance(prior, GaussianBelief):
        return GaussianBelief(prior.mean, share * prior.precision)
    return LaplaceBelief(prior.scale / share)


def _fewer(data: LinearData, size: int, rng: np.random.Generator) -> tuple[LinearData, float]:
    """Rows, or whole groups of them, that a few passes can afford, and their share of all."""
    share = data.values.shape[0] / (data.n_all or data.values.shape[0])
    if not np.all(data.weight):
        data = data.at(np.flatnonzero(data.weight))
    n_rows = data.values.shape[0]
    most = max(ROWS * size, min(MAX_ROWS, int(WORK / size**2)))
    if n_rows <= most:
        return data, share
    units = np.arange(n_rows) if data.groups is None else data.groups
    names, place = np.unique(units, return_inverse=True)
    wanted = max(2, round(len(names) * most / n_rows))
    chosen = np.zeros(len(names), dtype=bool)
    chosen[rng.choice(len(names), wanted, replace=False)] = True
    index = np.flatnonzero(chosen[place])
    return data.at(index), share * wanted / len(names)
