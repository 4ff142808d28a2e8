"""Checks of the regressors' parameters, before any long work."""

import numbers
from typing import Any

import numpy as np

from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_flag,
    require_given,
    require_jobs,
)
from bayesmargin.models.settings import resolve_sampler
from bayesmargin.running.progress import require_verbosity
from bayesmargin.samplers.base import Sampler

AUTO = "auto"


def check_svr_settings(estimator: Any) -> Sampler:
    """Check the parameters of a support vector regression and return its sampler."""
    epsilon = estimator.epsilon
    if not _is_auto(epsilon):
        real = isinstance(epsilon, numbers.Real) and not isinstance(epsilon, bool)
        if not (real and 0.0 <= epsilon < np.inf):
            raise ValueError(
                f"epsilon={epsilon!r} is not allowed: it is 'auto', or a finite number of zero or "
                "more"
            )
    return _check_common(estimator)


def check_quantile_settings(estimator: Any) -> Sampler:
    """Check the parameters of a quantile regression and return its sampler."""
    quantile_levels(estimator.quantile)
    return _check_common(estimator)


def quantile_levels(quantile: Any) -> list[float]:
    """The levels that ``quantile`` names, each once and between 0 and 1.

    Examples
    --------
    >>> from bayesmargin.models.regression.settings import quantile_levels
    >>> quantile_levels([0.05, 0.95])
    [0.05, 0.95]
    """
    many = isinstance(quantile, list | tuple | np.ndarray)
    levels = list(np.ravel(np.asarray(quantile, dtype=object))) if many else [quantile]
    if not levels:
        raise ValueError("quantile=[] is not allowed: name at least one level between 0 and 1")
    for level in levels:
        real = isinstance(level, numbers.Real) and not isinstance(level, bool)
        if not (real and 0.0 < level < 1.0):
            raise ValueError(
                f"quantile={level!r} is not allowed: it lies between 0 and 1, both excluded"
            )
        if levels.count(level) > 1:
            raise ValueError(f"quantile={level!r} is given more than once: name every level once")
    return [float(level) for level in levels]


def _check_common(estimator: Any) -> Sampler:
    require_flag("fit_intercept", estimator.fit_intercept)
    require_verbosity(estimator.verbose)
    if not _is_auto(estimator.C):
        if isinstance(estimator.C, str):
            raise ValueError(
                f"C={estimator.C!r} is not allowed: it is 'auto' or a positive finite number"
            )
        require_given(C=estimator.C)
    require_given(prior_scale=estimator.prior_scale)
    require_choice("prior", estimator.prior, ("gaussian", "laplace"))
    require_count("n_chains", estimator.n_chains, 1)
    require_count("n_draws", estimator.n_draws, 2)
    require_jobs(estimator.n_jobs)
    return resolve_sampler(estimator.sampler)


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == AUTO
