"""From the parameters of :class:`MaxMarginVoting` to a checked plan of its chains."""

import math
import numbers
from typing import Any, NamedTuple

from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_given,
    require_jobs,
    require_real,
)
from bayesmargin.foundation.settings import require_only
from bayesmargin.models.mixtures.classifier import check_sweeps
from bayesmargin.models.settings import SAMPLERS
from bayesmargin.running.progress import require_verbosity
from bayesmargin.samplers import LangevinMC, SubgradientHMC

NAMES = ("hmc", "lmc")
READ: dict[Any, tuple[str, ...]] = {
    SubgradientHMC: ("step", "length", "n_steps", "jitter", "target_acceptance", "burn_in", "thin"),
    LangevinMC: ("step", "target_acceptance", "burn_in", "thin"),
}


class Plan(NamedTuple):
    """What the chains are told."""

    dynamics: Any
    step: float | None
    moves: int  #: transitions of the weights a sweep
    n_sweeps: int
    burn_in: int
    pseudo_counts: tuple[float, float] | None


def sampler_of_weights(value: Any) -> Any:
    """The sampler of the weights, by name or as it is."""
    return SAMPLERS[value]() if isinstance(value, str) and value in NAMES else value


def check_settings(estimator: Any) -> Plan:
    """The plan of a fit, or a clear error for the first parameter that is not allowed."""
    require_given(C=estimator.C, margin=estimator.margin, prior_scale=estimator.prior_scale)
    require_real(prior_mean=estimator.prior_mean)
    if estimator.prior_mean is None or not math.isfinite(estimator.prior_mean):
        raise ValueError(f"prior_mean={estimator.prior_mean!r} is not allowed: it is a number")
    if estimator.pseudo_counts is None and estimator.prior_mean <= 0.0:
        raise ValueError(
            f"prior_mean={estimator.prior_mean!r} is not allowed without pseudo_counts: nothing "
            "would tell the votes of workers who are right from those of workers who are wrong; "
            "pass prior_mean=1.0"
        )
    if estimator.n_classes is not None:
        require_count("n_classes", estimator.n_classes, 2)
    require_count("n_chains", estimator.n_chains, 1)
    require_count("n_draws", estimator.n_draws, 1)
    require_jobs(estimator.n_jobs)
    require_verbosity(estimator.verbose)
    sampler = sampler_of_weights(estimator.sampler)
    if type(sampler) not in READ:
        require_choice("sampler", sampler, NAMES)
    require_only(sampler, READ[type(sampler)], "workers' weights")
    n_sweeps, burn_in = check_sweeps(estimator.n_sweeps, sampler.burn_in)
    return Plan(
        dynamics=sampler.dynamics(None),
        step=sampler.step,
        moves=sampler.thin or 1,
        n_sweeps=n_sweeps,
        burn_in=burn_in,
        pseudo_counts=_pseudo_counts(estimator.pseudo_counts),
    )


def _pseudo_counts(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    pair = (value, value) if isinstance(value, numbers.Real) else value
    fine = isinstance(pair, tuple | list) and len(pair) == 2
    if not fine or not all(_is_positive(one) for one in pair):
        raise ValueError(
            f"pseudo_counts={value!r} is not allowed: it is a positive number, a pair of them "
            "(right labels, each wrong one), or None for the plain max-margin vote"
        )
    return float(pair[0]), float(pair[1])


def _is_positive(value: Any) -> bool:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and 0.0 < float(value) < math.inf
