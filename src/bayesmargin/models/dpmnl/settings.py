"""From the parameters of :class:`DPMNLClassifier` to checked settings of a chain."""

from dataclasses import replace
from typing import Any, NamedTuple

from bayesmargin.foundation.arguments import require_count
from bayesmargin.foundation.settings import require_only
from bayesmargin.models.mixtures.classifier import check_sweeps
from bayesmargin.models.mixtures.settings import HMC, MixtureGibbs, sampler_of

STEP, LEAPFROGS, AUXILIARY, PROPOSALS = 0.2, 30, 5, 5
READ = ("weights", "burn_in", "n_clusters", "new_components", "split_merge")


class Plan(NamedTuple):
    """What a chain is told."""

    n_sweeps: int
    burn_in: int
    n_clusters: int | str
    step: float
    leapfrogs: int
    auxiliary: int
    proposals: int


def sampler_of_logits(value: Any) -> MixtureGibbs:
    """Settings of the sweeps, the sampler of the logits named among them."""
    found = sampler_of(value)
    return found if found.weights is not None else replace(found, weights="hmc")


def check_settings(estimator: Any) -> Plan:
    """The plan of a fit, or a clear error for the first parameter that is not allowed."""
    require_count("n_draws", estimator.n_draws, 1)
    asked = sampler_of(estimator.sampler)
    require_only(asked, READ, "sweeps of dpMNL")
    sampler = asked.completed("hmc", AUXILIARY, PROPOSALS)
    weights = sampler.weights
    if not isinstance(weights, HMC):
        raise ValueError(f"weights={weights!r} is not allowed: dpMNL samples its logits by 'hmc'")
    if sampler.new_components == "exact":
        raise ValueError(
            "new_components='exact' is not allowed: dpMNL has no exact integral; pass the number "
            "of auxiliary components of Algorithm 8"
        )
    n_sweeps, burn_in = check_sweeps(estimator.n_sweeps, sampler.burn_in)
    return Plan(
        n_sweeps=n_sweeps,
        burn_in=burn_in,
        n_clusters=sampler.n_clusters,
        step=STEP if weights.step is None else float(weights.step),
        leapfrogs=int(weights.n_leapfrog or LEAPFROGS),
        auxiliary=int(sampler.new_components),
        proposals=int(sampler.split_merge),
    )
