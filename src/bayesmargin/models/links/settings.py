"""From the parameters of :class:`MaxMarginLinks` to a checked plan of its chains."""

from typing import Any, NamedTuple

from bayesmargin.foundation.arguments import (
    require_choice,
    require_flag,
    require_given,
)
from bayesmargin.models.links.model import AugmentedWeights, MovedWeights
from bayesmargin.models.sweeping import check_run, sampler_named
from bayesmargin.samplers import (
    SGHMC,
    SSGLD,
    SSGNHT,
    AugmentationGibbs,
    LangevinMC,
    SubgradientHMC,
)

NAMES = ("gibbs", "hmc", "lmc", "ssgld", "ssgnht", "sghmc")
_RUN = ("burn_in", "thin")
_BATCHES = ("step", "batch_size", *_RUN)
READ: dict[Any, tuple[str, ...]] = {
    AugmentationGibbs: _RUN,
    SubgradientHMC: ("step", "length", "n_steps", "jitter", "target_acceptance", *_RUN),
    LangevinMC: ("step", "target_acceptance", *_RUN),
    SSGLD: _BATCHES,
    SSGNHT: ("integrator", "diffusion", *_BATCHES),
    SGHMC: ("friction", *_BATCHES),
}
STEP, MOVES, TRAJECTORIES = 0.1, 20, 2  # of the samplers by estimates; steps a sweep; of the exact
FEWEST_FREE = 256


class Plan(NamedTuple):
    """What the chains are told."""

    sampler: Any
    n_sweeps: int
    burn_in: int
    concentration: float | None


def sampler_of_weights(value: Any) -> Any:
    """The sampler of the weights, by name or as it is."""
    return sampler_named(value, NAMES)


def check_settings(estimator: Any) -> Plan:
    """The plan of a fit, or a clear error for the first parameter that is not allowed."""
    require_flag("directed", estimator.directed)
    require_given(C=estimator.C, margin=estimator.margin, prior_scale=estimator.prior_scale)
    if isinstance(estimator.link_weight, str):
        require_choice("link_weight", estimator.link_weight, ("balanced",))
    else:
        require_given(link_weight=estimator.link_weight)
    learned = isinstance(estimator.concentration, str) and estimator.concentration == "learn"
    if not learned:
        require_given(concentration=estimator.concentration)
    if estimator.negatives is not None:
        require_given(negatives=estimator.negatives)
    sampler, n_sweeps, burn_in = check_run(estimator, NAMES, READ, "weights of links")
    return Plan(sampler, n_sweeps, burn_in, None if learned else float(estimator.concentration))


def mover_of(sampler: Any, n_links: int) -> tuple[Any, float | None]:
    """The block of the weights, and the step of a Hamiltonian dynamics if it is given."""
    kind = type(sampler)
    if kind is AugmentationGibbs:
        return AugmentedWeights(), None
    if kind in (SubgradientHMC, LangevinMC):
        moves = sampler.thin or TRAJECTORIES
        return MovedWeights(sampler.dynamics(None), moves, 0, 0.0), sampler.step
    step = float(sampler.step or STEP)
    dynamics = sampler.dynamics(step, n_links)
    batch = int(sampler.batch_size or max(n_links, FEWEST_FREE))
    level = float(getattr(sampler, "diffusion_level", 0.0))
    return MovedWeights(dynamics, sampler.thin or MOVES, batch, level), None
