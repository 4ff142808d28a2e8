"""From rows and values to draws: a problem for every score, one after another."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods import OneScore
from bayesmargin.models.linear.fitting import LinearData, joined, sample_one, source_of
from bayesmargin.models.regression.units import Units
from bayesmargin.priors.moments import Belief
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import Progress
from bayesmargin.running.run import Run
from bayesmargin.samplers.base import Sampler
from bayesmargin.targets.problem import Problem, posterior_of


class Head(NamedTuple):
    """One score of a row: its loss and cost, in the units of the values, and its prior."""

    likelihood: OneScore
    cost: float
    prior: Belief
    output: int = 0
    """Which of the values of a row it predicts."""


def problem_of(
    head: Head, data: LinearData, units: Units, likelihood: OneScore, intercept: bool
) -> Problem:
    """The posterior of the weights of a head, in ``units``, in which its likelihood is given."""
    prior = units.prior(head.prior, intercept)
    cost = head.cost * units.size * data.weight
    source = source_of(data.values, intercept)
    values = units.inside(value_of(data, head.output))
    return posterior_of(likelihood, source, values, cost, prior)


def value_of(data: LinearData, output: int) -> FloatArray:
    """One of the values of every row."""
    return data.label if data.label.ndim == 1 else data.label[:, output]


def sample_heads(
    data: LinearData,
    heads: Sequence[Head],
    units: Sequence[Units],
    settings: Any,
    sampler: Sampler,
    generators: Sequence[np.random.Generator],
    progress: Progress,
    journal: Journal,
) -> Run:
    """Draws of the weights of all heads, one head after another, in the units of the values.

    Units are those of the values of a row.
    """
    runs = []
    for head in heads:
        own = units[head.output]
        inside = scaled(head.likelihood, own.size)
        problem = problem_of(head, data, own, inside, settings.fit_intercept)
        run = sample_one(problem, settings, sampler, generators, progress, journal)
        runs.append(own.outside(run, settings.fit_intercept))
    return joined(runs)


def scaled(likelihood: OneScore, size: float) -> OneScore:
    """The same loss for values in units of ``size``, but for the factor ``size``."""
    epsilon = getattr(likelihood, "epsilon", 0.0)
    return replace(likelihood, epsilon=epsilon / size) if epsilon else likelihood  # type: ignore


def split_heads(weights: FloatArray, n_heads: int, intercept: bool) -> tuple[FloatArray, ...]:
    """Coefficients (..., head, feature) and intercepts (..., head); without the head if alone."""
    matrix = weights.reshape(*weights.shape[:-1], n_heads, -1)
    ends = matrix[..., -1] if intercept else np.zeros(matrix.shape[:-1], dtype=weights.dtype)
    coef = matrix[..., :-1] if intercept else matrix
    return (coef[..., 0, :], ends[..., 0]) if n_heads == 1 else (coef, ends)
