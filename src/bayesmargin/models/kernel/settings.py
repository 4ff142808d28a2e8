"""Settings of the kernel model, checked before any work."""

import numbers
from typing import Any

from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_given,
    require_jobs,
)
from bayesmargin.models.kernel.kernels import kernel_of
from bayesmargin.models.settings import check_class_weight, resolve_sampler
from bayesmargin.running.progress import require_verbosity
from bayesmargin.samplers.base import Sampler

AUTO = "auto"


def check_kernel_settings(estimator: Any) -> Sampler:
    """Check the parameters of a kernel estimator and return its sampler."""
    require_verbosity(estimator.verbose)
    kernel_of(estimator.kernel).check()
    for name, words in (("C", (AUTO,)), ("gamma", (AUTO, "scale")), ("prior_scale", ())):
        _require_number_or(name, getattr(estimator, name), words)
    require_given(margin=estimator.margin)
    if estimator.n_components != AUTO:
        require_count("n_components", estimator.n_components, 1)
    require_choice("multi_class", estimator.multi_class, ("crammer_singer", "ovr"))
    require_count("n_chains", estimator.n_chains, 1)
    require_count("n_draws", estimator.n_draws, 2)
    require_jobs(estimator.n_jobs)
    check_class_weight(estimator.class_weight)
    return resolve_sampler(estimator.sampler)


def _require_number_or(name: str, value: Any, words: tuple[str, ...]) -> None:
    if isinstance(value, str):
        if value in words:
            return
        told = " or ".join(["a positive finite number", *map(repr, words)])
        raise ValueError(f"{name}={value!r} is not allowed: it is {told}")
    if not isinstance(value, numbers.Real):
        raise ValueError(f"{name}={value!r} is not allowed: it is a positive finite number")
    require_given(**{name: value})
