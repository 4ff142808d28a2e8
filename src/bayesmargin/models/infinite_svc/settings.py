"""From the parameters of the estimator to checked settings of a chain."""

import math
from typing import Any

from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_flag,
    require_given,
    require_jobs,
    require_positive,
)
from bayesmargin.models.infinite_svc.births import EXACT
from bayesmargin.models.infinite_svc.prediction import RULES
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation
from bayesmargin.models.infinite_svc.weights_hamiltonian import Hamiltonian
from bayesmargin.models.infinite_svc.weights_langevin import Langevin
from bayesmargin.models.infinite_svc.weights_thermostat import Thermostat
from bayesmargin.models.mixtures.classifier import check_sweeps

CALIBRATED = "calibrated"  # the rule "probability", then a link
PREDICTIONS = (CALIBRATED, *RULES)
JOINING = ("cautious", "eager")
COVARIANCES = ("full", "diag")
STOCHASTIC = ("ssgnht", "ssgld")
METHODS = (*STOCHASTIC, "hmc", "gibbs")
_LEAPFROG_STEPS = 8
_STEP, _KICK = 0.1, 0.3  # default step of the thermostat, and the kick of a row that shortens it
# Sweeps of a fit unless told otherwise: those that a second or two allows.
FEWEST_SWEEPS, MOST_SWEEPS = 100, 2000
_VISITS = 1e6
# Steps of the experts in a fit, and how many of them a sweep may take.
_STEPS, FEWEST_STEPS, MOST_STEPS = 6000, 10, 100


def make_method(name: str, step: float | None, inner_steps: int, batch_size: int | None) -> Any:
    """Weights sampler of the given name; None takes its own default step or batch.

    The exact ones make ``inner_steps`` passes or trajectories.

    Small batches heat the directions that their rows lie in, and one thermostat for an expert
    cannot cool each direction by itself. So the default takes all rows of small components. The
    kinks of few rows are coarse, and long steps cut their corners: so the thermostat's is short,
    and shorter still where one row changes the force by much (:mod:`.coarseness`). A step that is
    given is taken as it is.
    """
    rows = 0 if batch_size is None else batch_size
    if name == "ssgnht":
        if step is None:
            return Thermostat(_STEP, inner_steps, rows, 1.0, _KICK)
        return Thermostat(step, inner_steps, rows, 1.0)
    if name == "ssgld":
        return Langevin(0.2 if step is None else step, inner_steps, rows)
    if name == "hmc":
        return Hamiltonian(0.2 if step is None else step, _LEAPFROG_STEPS, inner_steps)
    return Augmentation(inner_steps)


def make_methods(estimator: Any, sweeps: int) -> tuple[Any, Any]:
    """Weights samplers of the first sweeps and of the rest; the first None: no other one.

    Experts that fit a wrong partition well stand in the way of its splits, so while the partition
    is being found they take few steps, unless their number is given.
    """

    def method(steps: int) -> Any:
        return make_method(estimator.method, estimator.step, steps, estimator.batch_size)

    if estimator.inner_steps != "auto":
        return None, method(int(estimator.inner_steps))
    if estimator.method not in STOCHASTIC:
        return None, method(1)
    steps = default_steps(sweeps)
    return None if steps == FEWEST_STEPS else method(FEWEST_STEPS), method(steps)


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


def make_scheme(new_components: Any) -> int:
    """Code of the way new components are born: "exact" or the number of auxiliary ones."""
    if isinstance(new_components, str) and new_components == "exact":
        return EXACT
    if isinstance(new_components, str):
        raise ValueError(
            f'new_components={new_components!r} is not allowed: pass "exact" or the number of '
            "auxiliary components of Algorithm 8"
        )
    require_count("new_components", new_components, 1)
    return int(new_components)


def check_settings(estimator: Any) -> None:
    """Raise a clear error for the first parameter that makes no sense."""
    for name in ("C", "margin", "mean_strength"):
        require_given(**{name: getattr(estimator, name)})
    for name in ("scatter", "prior_scale"):
        if getattr(estimator, name) != "auto":
            require_given(**{name: getattr(estimator, name)})
    if estimator.concentration != "learn":
        require_given(concentration=estimator.concentration)
    if estimator.step is not None:
        require_positive(step=estimator.step)
    if estimator.batch_size is not None:
        require_count("batch_size", estimator.batch_size, 1)
    require_choice("method", estimator.method, METHODS)
    if estimator.joining is not None:
        require_choice("joining", estimator.joining, JOINING)
    require_choice("prediction", estimator.prediction, PREDICTIONS)
    require_choice("covariance_type", estimator.covariance_type, COVARIANCES)
    for name, least in (
        ("n_draws", 1), ("n_chains", 1), ("split_merge", 0), ("groups", 1),
    ):  # fmt: skip
        require_count(name, getattr(estimator, name), least)
    if estimator.extra_degrees != "auto":
        require_count("extra_degrees", estimator.extra_degrees, 0)
    if estimator.inner_steps != "auto":
        require_count("inner_steps", estimator.inner_steps, 1)
    require_flag("fit_intercept", estimator.fit_intercept)
    require_flag("covariates", estimator.covariates, "auto", "continuous")
    require_jobs(estimator.n_jobs)
    check_sweeps(estimator.n_sweeps, estimator.burn_in, MOST_SWEEPS)
    make_scheme(estimator.new_components)
