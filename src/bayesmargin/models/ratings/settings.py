"""From the parameters of :class:`MaxMarginFactorization` to a checked plan of its chains."""

from typing import Any, NamedTuple

from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_flag,
    require_given,
)
from bayesmargin.models.ratings.priors import Expected
from bayesmargin.models.sweeping import check_run, positive_pair, sampler_named
from bayesmargin.samplers import SGHMC, SSGNHT, AugmentationGibbs

NAMES = ("gibbs", "ssgnht", "sghmc")
MOVED = ("step", "batch_size", "burn_in", "thin")
READ: dict[Any, tuple[str, ...]] = {
    AugmentationGibbs: ("burn_in",),
    SSGNHT: (*MOVED, "integrator", "diffusion"),
    SGHMC: (*MOVED, "friction", "noise_estimate"),
}
FIRST_STEPS: dict[Any, float] = {SSGNHT: 0.05, SGHMC: 0.02}
BATCHES = 20  # in a pass, where the size of a batch is not given


class Plan(NamedTuple):
    """What the chains are told."""

    dynamics: Any  #: None: exact conditionals
    friction: float
    passes: int
    batch_size: int | None
    n_sweeps: int
    burn_in: int
    expected: Expected
    concentration: float  #: of binary features; 0: users have factors


def sampler_of_rows(value: Any) -> Any:
    """The sampler of the rows, by name or as it is."""
    return sampler_named(value, NAMES)


def check_settings(estimator: Any) -> Plan:
    """The plan of a fit, or a clear error for the first parameter that is not allowed."""
    infinite = isinstance(estimator.n_factors, str) and estimator.n_factors == "infinite"
    if isinstance(estimator.n_factors, str):
        require_choice("n_factors", estimator.n_factors, ("infinite",))
    else:
        require_count("n_factors", estimator.n_factors, 0)
    require_given(concentration=estimator.concentration)
    require_given(C=estimator.C, margin=estimator.margin)
    require_flag("learn_scales", estimator.learn_scales)
    bias, factor = _scales(estimator.prior_scale)
    margin = float(estimator.margin)
    sampler, n_sweeps, burn_in = check_run(estimator, NAMES, READ, "factorizations")
    if infinite and not isinstance(sampler, AugmentationGibbs):
        raise ValueError(
            f"sampler={estimator.sampler!r} is not allowed with n_factors='infinite': features "
            "that are there or not have no gradient; choose sampler='gibbs', or a number of factors"
        )
    dynamics, passes, friction, batch = None, 1, 0.0, None
    if not isinstance(sampler, AugmentationGibbs):
        dynamics = sampler.dynamics(sampler.step or FIRST_STEPS[type(sampler)], 1)
        passes, batch = sampler.thin or 1, sampler.batch_size
        friction = getattr(sampler, "diffusion_level", 0.0)
    expected = Expected(bias, factor, margin, bool(estimator.learn_scales))
    concentration = float(estimator.concentration) if infinite else 0.0
    return Plan(
        dynamics, float(friction), passes, batch, n_sweeps, burn_in, expected, concentration
    )  # fmt: skip


def _scales(value: Any) -> tuple[float, float]:
    meaning = (
        "it is a positive number or a pair of them, for biases with thresholds, and for factors"
    )
    return positive_pair("prior_scale", value, meaning)
