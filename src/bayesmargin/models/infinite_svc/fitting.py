"""Between the estimator and the chains: what is prepared once, and how one chain is run."""

import dataclasses
import time
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from threading import Event
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.chain import (
    Chain,
    Settings,
    start_chain,
)
from bayesmargin.models.infinite_svc.columns import columns_of_gaussians, views
from bayesmargin.models.infinite_svc.held_out import make_folds, predict_held_out
from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
from bayesmargin.models.infinite_svc.settings import (
    CALIBRATED,
    default_degrees,
    default_sweeps,
    make_caution,
    make_methods,
    make_scheme,
)
from bayesmargin.models.infinite_svc.state import (
    Base,
    Hinge,
    Rows,
    empty_components,
)
from bayesmargin.models.infinite_svc.trace import Recorder
from bayesmargin.models.mixtures.classifier import check_sweeps, cluster_count, kept_sweeps
from bayesmargin.models.mixtures.start import (
    Scaling,
    first_partition,
    fit_scaling,
    within_variance,
)
from bayesmargin.saving.book import Page

_FIRST_SWEEPS = 10
_CONCENTRATION_PRIOR = (1.0, 1.0)
# What a chain changes; the rest of it is made from the data.
_MOVING = (
    *("rng", "stream", "settings", "components", "assignment", "concentration", "sweeps", "moved"),
    "seconds",
)


@dataclasses.dataclass(frozen=True)
class Problem:
    """Everything the chains of one fit have in common."""

    scaling: Scaling
    with_covariates: bool | IntArray  #: all columns, none, or the numbers of some
    with_intercept: bool
    classes: int
    base: Base
    hinge: Hinge
    settings: Settings
    concentration: float
    clusters: int
    n_sweeps: int
    burn_in: int
    caution: float | None  #: nats that joining may cost the experts; None: no joining
    n_draws: int
    rows: Rows | None
    standardised: FloatArray | None
    inverse: IntArray  #: place of each training row in the shuffled order
    seconds: float
    folds: IntArray | None = None  #: in which each row is left out; None: no link is wanted
    early: Any = None  #: weights sampler of the first sweeps; None: that of the others

    def prepare(self, X: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Covariates and design matrix of raw features."""
        return views(self.scaling.apply(X), self.with_covariates, self.with_intercept)

    @property
    def first_sweeps(self) -> int:
        """Sweeps in which the partition is being found, by joining as well."""
        return min(self.burn_in // 2, _FIRST_SWEEPS)

    @property
    def labels_in_folds(self) -> IntArray:
        """Labels of the rows that are left out somewhere."""
        assert self.rows is not None
        assert self.folds is not None
        labels: IntArray = self.rows.labels[self.folds >= 0]
        return labels

    def without_rows(self) -> "Problem":
        """The same without the training data, to be kept in a fitted estimator."""
        return dataclasses.replace(
            self, rows=None, standardised=None, inverse=np.empty(0, np.int64), folds=None
        )


def make_problem(
    estimator: Any, X: FloatArray, labels: IntArray, rng: np.random.Generator
) -> Problem:
    """Standardise, shuffle, choose the base measure and evaluate each row's constants."""
    begin = time.thread_time()
    sweeps = default_sweeps(len(X), X.shape[1], estimator.covariance_type)
    n_sweeps, burn_in = check_sweeps(estimator.n_sweeps, estimator.burn_in, sweeps)
    shuffle = rng.permutation(len(X))
    scaling = fit_scaling(X)
    standardised = scaling.apply(X[shuffle])
    labels = labels[shuffle]
    chosen = columns_of_gaussians(estimator.covariates, X)
    covariates, design = views(standardised, chosen, estimator.fit_intercept)
    if isinstance(chosen, np.ndarray) and chosen.size:
        standardised = covariates  # chains start from clusters of what the Gaussians see
    clusters = cluster_count(estimator.n_clusters, len(X))
    base = _base_measure(estimator, standardised, covariates.shape[1], clusters, rng)
    hinge = Hinge(float(estimator.C), float(estimator.margin))
    learn = estimator.concentration == "learn"
    early, method = make_methods(estimator, n_sweeps)
    settings = Settings(
        hinge=hinge,
        method=method,
        scheme=make_scheme(estimator.new_components),
        proposals=estimator.split_merge,
        prior=_CONCENTRATION_PRIOR if learn else None,
        groups=estimator.groups,
    )
    rows = make_rows(covariates, design, labels, base, hinge)
    classes = int(labels.max()) + 1
    return Problem(
        scaling=scaling,
        with_covariates=chosen,
        with_intercept=estimator.fit_intercept,
        classes=classes,
        base=base,
        hinge=hinge,
        settings=settings,
        concentration=1.0 if learn else float(estimator.concentration),
        clusters=clusters,
        n_sweeps=n_sweeps,
        burn_in=burn_in,
        caution=make_caution(estimator.joining, classes, design.shape[1]),
        n_draws=estimator.n_draws,
        rows=rows,
        standardised=standardised,
        inverse=np.argsort(shuffle),
        seconds=time.thread_time() - begin,
        folds=make_folds(labels) if estimator.prediction == CALIBRATED else None,
        early=early,
    )


def _base_measure(
    estimator: Any, rows: FloatArray, size: int, clusters: int, rng: np.random.Generator
) -> Base:
    """Prior of components of standardised ``rows``, of which the Gaussians see ``size`` columns.

    Scales that are not given are those of the clusters that chains start from.
    """
    scatter = estimator.scatter
    if scatter == "auto":
        partition = first_partition(rows, clusters, int(rng.integers(2**31)))
        scatter = 0.5 * within_variance(rows, partition)
    scale = estimator.prior_scale
    diagonal, extra = estimator.covariance_type == "diag", estimator.extra_degrees
    if extra == "auto":
        extra = 0 if diagonal else default_degrees(size)
    return make_base(
        location=np.zeros(size),
        strength=float(estimator.mean_strength),
        degrees=(1 if diagonal else size) + 2.0 + extra,
        scatter=float(scatter) * (1.0 + extra) * np.eye(size),
        weight_scale=float(scatter) ** -0.5 if scale == "auto" else float(scale),
        rows=len(rows),
        diagonal=diagonal,
    )


def run_chain(
    problem: Problem,
    rng: np.random.Generator,
    page: Page | None = None,
    after_sweep: Callable[[Recorder], None] = lambda recorder: None,
    stop: Event | None = None,
    pool: Executor | None = None,
) -> tuple[Recorder, dict[str, float]]:
    """Run one chain to its end; returns what was recorded and the seconds by activity.

    ``page`` is the chain's place in a checkpoint: the chain goes on from what is written there.
    When ``stop`` is set, the sweep under way is the last. ``pool`` sweeps groups of components.
    """
    page = page or Page()
    found = page.begin()
    chain, recorder, started = _begin(problem, rng) if found is None else take_up(problem, found)
    chain.pool = pool
    for sweep in range(chain.sweeps, problem.n_sweeps):
        if problem.early is not None and sweep == problem.first_sweeps:
            chain.settings = problem.settings
        chain.sweep(learning=sweep < problem.burn_in)
        if problem.caution is not None and sweep < problem.first_sweeps:
            chain.join(problem.caution)
        if sweep < problem.burn_in:
            chain.adapt()
        recorder.note(sweep, chain)
        page.turn(partial(state_of, chain, recorder, started))
        after_sweep(recorder)
        if stop is not None and stop.is_set():
            break
    recorder.joining = chain.joining_gain()
    page.end(partial(state_of, chain, recorder, started))
    begin = time.thread_time()
    if problem.folds is not None:
        recorder.held_out = predict_held_out(
            chain, problem.folds, problem.n_draws, problem.classes, stop
        )
    calibration = time.thread_time() - begin
    return recorder, {"start": started, **chain.seconds, "calibration": calibration}


def _begin(problem: Problem, rng: np.random.Generator) -> tuple[Chain, Recorder, float]:
    """A chain at the partition of k-means, its recorder, and the seconds that took."""
    assert problem.rows is not None
    assert problem.standardised is not None
    begin = time.thread_time()
    seed = int(rng.integers(2**31))
    partition = first_partition(problem.standardised, problem.clusters, seed)
    settings = problem.settings
    if problem.early is not None:
        settings = dataclasses.replace(settings, method=problem.early)
    chain = start_chain(
        rng,
        problem.rows,
        problem.base,
        settings,
        partition,
        problem.classes,
        problem.concentration,
    )
    chain.warm_weights()
    keep = kept_sweeps(problem.n_sweeps, problem.burn_in, problem.n_draws)
    return chain, Recorder(keep), time.thread_time() - begin


def state_of(chain: Chain, recorder: Recorder, started: float) -> tuple[Any, list[np.ndarray]]:
    """What a checkpoint stores of a chain, and those of its arrays that will not change."""
    state = {name: getattr(chain, name) for name in _MOVING}
    state["recorder"] = {f.name: getattr(recorder, f.name) for f in dataclasses.fields(recorder)}
    fixed = [array for draw in recorder.draws for array in draw]
    return {**state, "started": started}, [*fixed, *recorder.labels]


def take_up(problem: Problem, state: dict[str, Any]) -> tuple[Chain, Recorder, float]:
    """Chain and recorder as a checkpoint has stored them."""
    rows, stored = problem.rows, {name: state[name] for name in _MOVING}
    assert rows is not None
    shape = state["components"].weights.shape
    base = problem.base
    sides = empty_components(3, rows.covariates.shape[1], shape[1], shape[2], base.diagonal)
    visits = np.arange(len(rows.labels))
    chain = Chain(rows=rows, base=base, sides=sides, visits=visits, **stored)
    return chain, Recorder(**state["recorder"]), state["started"]
