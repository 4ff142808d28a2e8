"""Checks of estimator parameters, before any long work, and samplers by name."""

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesmargin.engines.choosing import require_engine
from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_flag,
    require_given,
    require_jobs,
)
from bayesmargin.inputs.tensors import host_array
from bayesmargin.running.progress import require_verbosity
from bayesmargin.samplers import (
    SGHMC,
    SSGLD,
    SSGNHT,
    Anchor,
    AugmentationGibbs,
    AusterityMetropolis,
    Auto,
    LangevinMC,
    Sampler,
    SubgradientHMC,
)

SAMPLERS: dict[str, type[Sampler]] = {
    "auto": Auto,
    "ssgnht": SSGNHT,
    "ssgld": SSGLD,
    "sghmc": SGHMC,
    "hmc": SubgradientHMC,
    "lmc": LangevinMC,
    "gibbs": AugmentationGibbs,
    "srwm": AusterityMetropolis,
    "anchor": Anchor,
}


def resolve_sampler(sampler: Any) -> Sampler:
    """Sampler object for a name or an object.

    Examples
    --------
    >>> from bayesmargin.models.settings import resolve_sampler
    >>> type(resolve_sampler("ssgld")).__name__
    'SSGLD'
    """
    if isinstance(sampler, Sampler):
        return sampler
    if isinstance(sampler, str) and sampler in SAMPLERS:
        return SAMPLERS[sampler]()
    names = ", ".join(repr(name) for name in SAMPLERS)
    raise ValueError(
        f"sampler={sampler!r} is not allowed: choose one of {names}, or pass a sampler object "
        "such as bayesmargin.samplers.SSGNHT(step=0.1)"
    )


def check_linear_settings(estimator: Any) -> Sampler:
    """Check the parameters of a linear estimator and return its sampler."""
    require_flag("fit_intercept", estimator.fit_intercept)
    require_verbosity(estimator.verbose)
    if not (isinstance(estimator.C, str) and estimator.C == "auto"):
        require_given(C=estimator.C)
    require_given(margin=estimator.margin)
    _require_scale(estimator.prior_scale)
    require_choice("prior", estimator.prior, ("gaussian", "laplace"))
    require_choice("multi_class", estimator.multi_class, ("crammer_singer", "ovr"))
    require_count("n_chains", estimator.n_chains, 1)
    require_count("n_draws", estimator.n_draws, 2)
    require_jobs(estimator.n_jobs)
    check_class_weight(getattr(estimator, "class_weight", None))
    require_engine(getattr(estimator, "engine", "numba"))
    return resolve_sampler(estimator.sampler)


def _require_scale(scale: Any) -> None:
    if isinstance(scale, str) and scale == "auto":
        return
    if isinstance(scale, str):
        raise ValueError(
            f"prior_scale={scale!r} is not allowed: it is a positive finite number or 'auto'"
        )
    require_given(prior_scale=scale)


def check_class_weight(class_weight: Any) -> None:
    """Raise ``ValueError`` unless it is None, "balanced" or a mapping to positive numbers."""
    if class_weight is None or (isinstance(class_weight, str) and class_weight == "balanced"):
        return
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight={class_weight!r} is not allowed: it is None, 'balanced' or a dictionary "
            "of class labels and positive numbers"
        )
    for name, value in class_weight.items():
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (number and np.isfinite(value) and value > 0.0):
            raise ValueError(
                f"class_weight gives {name!r} the weight {value!r}: it is a positive finite number"
            )


def check_sample_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Sample weights as an array of non-negative finite numbers, ones when None."""
    if sample_weight is None:
        return np.broadcast_to(np.ones(1), (n_rows,))
    if isinstance(sample_weight, numbers.Number):
        sample_weight = np.full(n_rows, float(sample_weight))  # type: ignore[arg-type]
    try:
        weight = np.asarray(host_array(sample_weight), dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must hold non-negative finite numbers: {error}") from error
    if weight.ndim != 1:
        raise ValueError(
            f"Sample weights must be 1D array or scalar, got {weight.ndim}D array with shape "
            f"{weight.shape}"
        )
    if weight.shape[0] != n_rows:
        raise ValueError(
            f"sample_weight.shape == {weight.shape} does not match the {n_rows} rows of X"
        )
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0.0)))
    if len(wrong):
        raise ValueError(
            f"sample_weight must hold non-negative finite numbers, but it is {weight[wrong[0]]:g} "
            f"in row {wrong[0]} (counted from 0)"
        )
    if not np.any(weight > 0.0):
        raise ValueError("sample_weight is zero for every row: at least one must be positive")
    return weight
