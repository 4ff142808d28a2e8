"""From the parameters of :class:`MaxMarginVoting` to a checked plan of its chains."""

import math
from typing import Any, NamedTuple

from bayesmargin.foundation.arguments import (
    require_count,
    require_given,
    require_real,
)
from bayesmargin.models.sweeping import check_run, positive_pair, sampler_named
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
    return sampler_named(value, NAMES)


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
    sampler, n_sweeps, burn_in = check_run(estimator, NAMES, READ, "workers' weights")
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
    meaning = (
        "it is a positive number, a pair of them (right labels, each wrong one), or None for the "
        "plain max-margin vote"
    )
    return positive_pair("pseudo_counts", value, meaning)
