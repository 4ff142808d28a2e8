"""Between the estimator and the chains: what is prepared once."""

import dataclasses
import time
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.chain import Settings
from bayesmargin.models.infinite_svc.columns import columns_of_gaussians, views
from bayesmargin.models.infinite_svc.held_out import make_folds
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
)
from bayesmargin.models.mixtures.classifier import check_sweeps, cluster_count
from bayesmargin.models.mixtures.start import (
    Scaling,
    first_partition,
    fit_scaling,
    within_variance,
)

_FIRST_SWEEPS = 10
_CONCENTRATION_PRIOR = (1.0, 1.0)


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
