"""From the parameters of the estimator to checked settings of a chain."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_flag,
    require_given,
    require_jobs,
)
from bayesmargin.foundation.settings import require_only
from bayesmargin.models.infinite_svc.births import EXACT
from bayesmargin.models.infinite_svc.components import components_of
from bayesmargin.models.infinite_svc.prediction import RULES
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation
from bayesmargin.models.infinite_svc.weights_hamiltonian import Hamiltonian
from bayesmargin.models.infinite_svc.weights_langevin import Langevin
from bayesmargin.models.infinite_svc.weights_thermostat import Thermostat
from bayesmargin.models.mixtures.classifier import check_sweeps
from bayesmargin.models.mixtures.settings import HMC, MixtureGibbs, sampler_of, weights_of
from bayesmargin.samplers.augmentation import AugmentationGibbs
from bayesmargin.samplers.langevin import SSGLD
from bayesmargin.samplers.thermostat import SSGNHT

CALIBRATED = "calibrated"  # the rule "probability", then a link
PREDICTIONS = (CALIBRATED, *RULES)
_READ: Mapping[type, Sequence[str]] = {  # what experts read of the settings of a sampler
    SSGNHT: ("step", "batch_size"),
    SSGLD: ("step", "batch_size"),
    HMC: ("step", "n_leapfrog"),
    AugmentationGibbs: (),
}
_LEAPFROG_STEPS = 8
_STEP, _KICK = 0.1, 0.3  # default step of the thermostat, and the kick of a row that shortens it
_LONG_STEP = 0.2  # of the others
# Sweeps of a fit unless told otherwise: those that a second or two allows.
FEWEST_SWEEPS, MOST_SWEEPS = 100, 2000
_VISITS = 1e6
# Steps of the experts in a fit, and how many of them a sweep may take.
_STEPS, FEWEST_STEPS, MOST_STEPS = 6000, 10, 100


class Plan(NamedTuple):
    """Checked settings of a fit, all beside each other."""

    concentration: float | str
    C: float
    margin: float
    n_sweeps: int | str
    n_draws: int
    prior_scale: float | str
    fit_intercept: bool
    prediction: str
    covariates: bool | str
    covariance_type: str
    scatter: float | str
    mean_strength: float
    extra_degrees: int | str
    weights: Any
    inner_steps: int | str
    burn_in: int | None
    n_clusters: int | str
    new_components: int | str
    split_merge: int
    joining: str | None
    groups: int


def make_method(weights: Any, inner_steps: int) -> Any:
    """Weights sampler of such settings, or of a name; what is left out there has its default.

    The exact ones make ``inner_steps`` passes or trajectories.

    Small batches heat the directions that their rows lie in, and one thermostat for an expert
    cannot cool each direction by itself. So the default takes all rows of small components. The
    kinks of few rows are coarse, and long steps cut their corners: so the thermostat's is short,
    and shorter still where one row changes the force by much (:mod:`.coarseness`). A step that is
    given is taken as it is.
    """
    weights = weights_of(weights)
    if isinstance(weights, SSGNHT):
        if weights.step is None:
            return Thermostat(_STEP, inner_steps, weights.batch_size or 0, 1.0, _KICK)
        return Thermostat(weights.step, inner_steps, weights.batch_size or 0, 1.0)
    if isinstance(weights, SSGLD):
        return Langevin(weights.step or _LONG_STEP, inner_steps, weights.batch_size or 0)
    if isinstance(weights, HMC):
        leapfrogs = weights.n_leapfrog or _LEAPFROG_STEPS
        return Hamiltonian(weights.step or _LONG_STEP, leapfrogs, inner_steps)
    return Augmentation(inner_steps)


def make_methods(plan: Any, sweeps: int) -> tuple[Any, Any]:
    """Weights samplers of the first sweeps and of the rest; the first None: no other one.

    Experts that fit a wrong partition well stand in the way of its splits, so while the partition
    is being found they take few steps, unless their number is given.
    """
    if plan.inner_steps != "auto":
        return None, make_method(plan.weights, int(plan.inner_steps))
    if not isinstance(plan.weights, SSGNHT | SSGLD):
        return None, make_method(plan.weights, 1)
    steps = default_steps(sweeps)
    early = None if steps == FEWEST_STEPS else make_method(plan.weights, FEWEST_STEPS)
    return early, make_method(plan.weights, steps)


def default_sweeps(rows: int, features: int, covariance_type: str = "full") -> int:
    """Sweeps over so many rows: partitions of few rows settle late, and cost next to nothing.

    A visit to a row takes time that grows beyond ten features: with their square where covariances
    are full.

    Examples
    --------
    >>> from bayesmargin.models.infinite_svc.settings import default_sweeps
    >>> default_sweeps(400, 2), default_sweeps(4000, 2), default_sweeps(400, 50)
    (2000, 250, 100)
    >>> default_sweeps(4000, 2, "diag"), default_sweeps(400, 50, "diag")
    (250, 500)
    """
    power = 1.0 if covariance_type == "diag" else 2.0
    affordable = _VISITS / (rows * max(1.0, (features / 10.0) ** power))
    return int(min(MOST_SWEEPS, max(FEWEST_SWEEPS, affordable)))


def default_degrees(columns: int) -> int:
    """Degrees of freedom beyond p + 2 for full covariances of so many columns.

    It takes as many rows as columns to tell a covariance, and the base measure has to stand for
    them: without it most rows of wide data are better off alone, and a fit ends with hundreds of
    components. With few columns it is better to leave the covariances to the rows.

    Examples
    --------
    >>> from bayesmargin.models.infinite_svc.settings import default_degrees
    >>> [default_degrees(columns) for columns in (2, 5, 8, 10, 50)]
    [0, 0, 6, 10, 50]
    """
    return min(columns, max(0, 2 * columns - 10))


def default_steps(sweeps: int) -> int:
    """Steps of the stochastic methods in a sweep: where there are few sweeps, each takes more.

    Sweeps are few where visits to rows are dear, and there steps cost little beside them. With ten
    in each of a hundred sweeps the experts of wide data would still be on their way.

    Examples
    --------
    >>> from bayesmargin.models.infinite_svc.settings import default_steps
    >>> default_steps(2000), default_steps(100)
    (10, 60)
    """
    return min(MOST_STEPS, max(FEWEST_STEPS, _STEPS // sweeps))


def make_caution(joining: str | None, classes: int, columns: int) -> float | None:
    """Nats that joining two components may cost the experts: one for every weight of an expert.

    Examples
    --------
    >>> from bayesmargin.models.infinite_svc.settings import make_caution
    >>> make_caution("cautious", 2, 5), make_caution("cautious", 3, 5), make_caution("eager", 2, 5)
    (5.0, 15.0, inf)
    """
    if joining is None:
        return None
    vectors = 1 if classes == 2 else classes
    return math.inf if joining == "eager" else float(vectors * columns)


def make_scheme(new_components: int | str) -> int:
    """Code of the way new components are born: "exact" or the number of auxiliary ones."""
    return EXACT if new_components == "exact" else int(new_components)


def sampler_of_experts(value: Any) -> MixtureGibbs:
    """Settings of the sweeps, the sampler of the experts' weights named among them."""
    found = sampler_of(value)
    return found if found.weights is not None else replace(found, weights="ssgnht")


def check_settings(estimator: Any) -> Plan:
    """The plan of a fit, or a clear error for the first parameter that makes no sense."""
    components = components_of(estimator.components)
    sampler = sampler_of_experts(estimator.sampler).completed("ssgnht", "exact", 1)
    require_only(sampler.weights, _READ[type(sampler.weights)], "the weights of an expert")
    require_given(C=estimator.C, margin=estimator.margin)
    if estimator.prior_scale != "auto":
        require_given(prior_scale=estimator.prior_scale)
    if estimator.concentration != "learn":
        require_given(concentration=estimator.concentration)
    require_choice("prediction", estimator.prediction, PREDICTIONS)
    require_count("n_draws", estimator.n_draws, 1)
    require_count("n_chains", estimator.n_chains, 1)
    require_flag("fit_intercept", estimator.fit_intercept)
    require_jobs(estimator.n_jobs)
    check_sweeps(estimator.n_sweeps, sampler.burn_in, MOST_SWEEPS)
    return Plan(
        concentration=estimator.concentration,
        C=estimator.C,
        margin=estimator.margin,
        n_sweeps=estimator.n_sweeps,
        n_draws=estimator.n_draws,
        prior_scale=estimator.prior_scale,
        fit_intercept=estimator.fit_intercept,
        prediction=estimator.prediction,
        covariates=components.covariates,
        covariance_type=components.covariance,
        scatter=components.scatter,
        mean_strength=components.mean_strength,
        extra_degrees=components.extra_degrees,
        weights=sampler.weights,
        inner_steps=sampler.inner_steps,
        burn_in=sampler.burn_in,
        n_clusters=sampler.n_clusters,
        new_components=sampler.new_components,
        split_merge=sampler.split_merge,
        joining=sampler.joining,
        groups=sampler.groups,
    )
