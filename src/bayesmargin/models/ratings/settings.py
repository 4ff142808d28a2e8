"""From the parameters of :class:`MaxMarginFactorization` to a checked plan of its chains."""

import math
import numbers
from typing import Any, NamedTuple

from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_flag,
    require_given,
    require_jobs,
)
from bayesmargin.foundation.settings import require_only
from bayesmargin.models.mixtures.classifier import check_sweeps
from bayesmargin.models.ratings.priors import Expected
from bayesmargin.models.settings import SAMPLERS
from bayesmargin.running.progress import require_verbosity
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
    return SAMPLERS[value]() if isinstance(value, str) and value in NAMES else value


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
    require_count("n_chains", estimator.n_chains, 1)
    require_count("n_draws", estimator.n_draws, 1)
    require_jobs(estimator.n_jobs)
    require_verbosity(estimator.verbose)
    bias, factor = _scales(estimator.prior_scale)
    margin = float(estimator.margin)
    sampler = sampler_of_rows(estimator.sampler)
    if type(sampler) not in READ:
        require_choice("sampler", sampler, NAMES)
    if infinite and not isinstance(sampler, AugmentationGibbs):
        raise ValueError(
            f"sampler={estimator.sampler!r} is not allowed with n_factors='infinite': features "
            "that are there or not have no gradient; choose sampler='gibbs', or a number of factors"
        )
    require_only(sampler, READ[type(sampler)], "factorizations")
    n_sweeps, burn_in = check_sweeps(estimator.n_sweeps, sampler.burn_in)
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
    pair = (value, value) if isinstance(value, numbers.Real) else value
    fine = isinstance(pair, tuple | list) and len(pair) == 2
    if not fine or not all(_is_positive(one) for one in pair):
        raise ValueError(
            f"prior_scale={value!r} is not allowed: it is a positive number or a pair of them, for "
            "biases with thresholds, and for factors"
        )
    return float(pair[0]), float(pair[1])


def _is_positive(value: Any) -> bool:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and 0.0 < float(value) < math.inf
