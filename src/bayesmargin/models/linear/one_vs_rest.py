"""One-vs-rest problems in one go: when that can be done, and the problem of all classes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bayesmargin.foundation.types import IntArray
from bayesmargin.priors.moments import Belief, GaussianBelief, LaplaceBelief
from bayesmargin.samplers.auto import Auto
from bayesmargin.samplers.base import Sampler
from bayesmargin.samplers.lazy_start import wants_lazy
from bayesmargin.samplers.stochastic import StochasticSampler
from bayesmargin.samplers.wide_start import is_wide
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.row_space import has_row_space

MOST_WEIGHTS = 1 << 23  # of all classes: every chain keeps some ten arrays of as many numbers


def all_classes(
    problem: Problem, label: IntArray, priors: Sequence[Belief], sampler: Sampler
) -> Problem | None:
    """The problem of all classes, where it is worth sampling in one go; else None.

    ``problem`` is that of one class, ``label`` holds the class of every row and ``priors`` those
    of every class.
    """
    small = len(priors) * problem.n_weights <= MOST_WEIGHTS
    prior = _stacked(priors) if small and _gains(problem, sampler) else None
    if prior is None:
        return None
    return replace(problem, label=label, n_classes=len(priors), prior=prior, separate=True)


def _gains(problem: Problem, sampler: Sampler) -> bool:
    """Whether reading a row once for all classes saves anything.

    Few rows have an exact reduction, plain minibatches and lazy chains touch few weights a step,
    and the exact samplers know one hinge at a time.
    """
    if sampler.takes_all_classes:
        return True
    if not is_wide(problem):
        return False
    if isinstance(sampler, Auto):
        return not has_row_space(problem)
    if not isinstance(sampler, StochasticSampler):
        return False
    anchored = sampler.control_variates or sampler.preconditioner == "hessian"
    return anchored and not wants_lazy(sampler, problem)


def _stacked(priors: Sequence[Belief]) -> Belief | None:
    """Priors of independent weights, classes one after another; None for any others."""
    gaussian = [p for p in priors if isinstance(p, GaussianBelief) and p.precision.ndim == 1]
    laplace = [p for p in priors if isinstance(p, LaplaceBelief)]
    if len(gaussian) == len(priors):
        means, precisions = [p.mean for p in gaussian], [p.precision for p in gaussian]
        return GaussianBelief(np.concatenate(means), np.concatenate(precisions))
    if len(laplace) == len(priors):
        return LaplaceBelief(np.concatenate([p.scale for p in laplace]))
    return None
