"""What turns rows with values into the attributes of a fitted regression."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import column_or_1d, validate_data

from bayesmargin.calibration.residuals import LeftOut
from bayesmargin.diagnostics.assessment import contradicted
from bayesmargin.distributed import is_collection
from bayesmargin.errors import DataError
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.checks import require_numbers
from bayesmargin.inputs.tensors import host_array
from bayesmargin.inputs.values import plain_values
from bayesmargin.likelihoods import OneScore
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.linear.adjusting import adjustment_of, earlier_rows
from bayesmargin.models.linear.calibrating import some_rows
from bayesmargin.models.linear.fitting import LinearData, merged
from bayesmargin.models.linear.reading import ROW_TYPES
from bayesmargin.models.regression.leaving_out import left_out, together
from bayesmargin.models.regression.noise import Residuals, warn_of_costs
from bayesmargin.models.regression.predictions import RegressionPredictions
from bayesmargin.models.regression.sampling import (
    Head,
    problem_of,
    sample_heads,
    scaled,
    split_heads,
    value_of,
)
from bayesmargin.models.regression.units import Units, units_of
from bayesmargin.models.saved.mixin import SavedMixin
from bayesmargin.models.scaling import check_scales
from bayesmargin.models.settings import check_sample_weight
from bayesmargin.posterior import Posterior
from bayesmargin.priors.moments import (
    Belief,
    GaussianBelief,
    largest_contradiction,
    posterior_beliefs,
    prior_belief,
)
from bayesmargin.rows.files import FileRows
from bayesmargin.rows.matching import matched_rows
from bayesmargin.rows.sparse import canonical
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import progress_for
from bayesmargin.running.run import Run
from bayesmargin.samplers.base import Sampler
from bayesmargin.targets.problem import Problem
from bayesmargin.uncertainty.adjustment import Adjustment

PLAIN = Units(0.0, 1.0)


class RegressionTraining(SavedMixin, RegressionPredictions):
    """Fits of linear regressions: from checked rows to draws."""

    C: Any
    prior: str
    prior_scale: float
    fit_intercept: bool
    n_chains: int
    verbose: int
    C_: Any
    n_outputs_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    @abstractmethod
    def _checked_settings(self) -> Sampler:
        """The sampler, where no setting is wrong."""

    @abstractmethod
    def _learn(
        self, rows: LinearData, units: Units, rng: np.random.Generator
    ) -> list[tuple[OneScore, float]]:
        """Losses and costs, in the units of the values, of all scores of one value of a row.

        What is "auto" is learned from ``rows``, whose values are in ``units``.
        """

    @abstractmethod
    def _losses(self) -> Sequence[OneScore]:
        """Losses of all scores, in the units of the values."""

    def _keep_losses(self, losses: Sequence[OneScore]) -> None:
        """Keep what was learned of them beside the costs."""

    @abstractmethod
    def _lines(self, found: LeftOut) -> LeftOut:
        """The residuals that intervals need."""

    def _axis(self) -> Mapping[str, Sequence[Any]]:
        """Name and labels of the axis of scores; nothing if there is one."""
        return {"output": list(range(self.n_outputs_))} if self.n_outputs_ > 1 else {}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Sample the posterior of the weights.

        Parameters
        ----------
        X : array-like, sparse matrix, FileRows or Dask collection of shape (n_samples, n_features)
            Sparse matrices of many features are never made dense. Files larger than memory are
            opened with :func:`bayesmargin.rows.open_rows`. A Dask array, a Dask data frame or a
            list of delayed ``(X, y)`` partitions is fitted where it lies, on the workers of the
            active client; one value a row.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Values; may be left out when ``X`` is a file that holds them. Of several values a row
            each has weights of its own, and its own noise where "auto" learns it.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies ``C`` row by row; a row of weight two counts as two rows.
        """
        self._checked_settings()
        with all_or_nothing(self):
            if is_collection(X):
                from bayesmargin.distributed.values import fit_values

                self.n_outputs_ = 1
                fit_values(self, X, y, sample_weight)
                return self
            X, y = self._training_rows(X, y, reset=True)
            self.n_outputs_ = 1 if y.ndim == 1 else y.shape[1]
            return self._update(X, y, check_sample_weight(sample_weight, X.shape[0]))

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on from the current posterior with further rows.

        The posterior so far, summarised by its mean and covariance, is the prior of the new rows.
        What was learned at the first call for "auto" stays.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`.
        """
        if not hasattr(self, "posterior_"):
            return self.fit(X, y, sample_weight)
        self._checked_settings()
        X, y = self._training_rows(X, y, reset=False)
        if y.shape[1:] != (() if self.n_outputs_ == 1 else (self.n_outputs_,)):
            raise DataError(
                f"y has the shape {y.shape}, but earlier rows had n_outputs={self.n_outputs_} "
                "values each: pass as many"
            )
        weight = check_sample_weight(sample_weight, X.shape[0])
        priors = posterior_beliefs(*self._draws(), range(self._n_blocks()), self.fit_intercept)
        with all_or_nothing(self):
            self._update(X, y, weight, priors)
        means = np.column_stack([np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)])
        farthest = largest_contradiction(priors, means, self.fit_intercept)
        self.diagnostics_ = contradicted(self.diagnostics_, farthest)
        return self

    def _update(
        self, X: Any, y: FloatArray, weight: FloatArray, summaries: list[Belief] | None = None
    ) -> Self:
        sampler = self._checked_settings()
        check_scales(X, getattr(self, "feature_names_in_", None))
        data = merged(LinearData(X, y, weight, n_classes=1))
        before = None if summaries is None else self.left_out_
        facts = (data.values, data.label, data.weight, summaries or [])
        with self._checkpointing(*facts) as checkpoint:
            generators = spawn_generators(checkpoint.random_state, self.n_chains + 1)
            rows = some_rows(data, generators[-1])
            outputs = range(self.n_outputs_)
            own = [units_of(value_of(data, j), data.weight) for j in outputs]
            if summaries is None:
                heads = self._heads(rows, own, generators[-1])
            else:
                each = zip(self._losses(), np.atleast_1d(self.C_), summaries, strict=True)
                heads = [
                    Head(loss, float(cost), prior, k % self.n_outputs_)
                    for k, (loss, cost, prior) in enumerate(each)
                ]
            units = self._sampled_in(own, summaries is not None)
            with progress_for(self.verbose) as progress:
                run = sample_heads(
                    data, heads, units, self, sampler, generators, progress, Journal(checkpoint)
                )

        self._conclude(run, rows, heads, own, generators[-1], before)
        return self

    def _sampled_in(self, own: Sequence[Units], further: bool) -> Sequence[Units]:
        """Units in which to sample; those of the values, moved where the prior moves with them."""
        moved = self.fit_intercept and (further or isinstance(self.C, str))
        return own if moved else [Units(0.0, one.size) for one in own]

    def _conclude(
        self,
        run: Run,
        rows: LinearData,
        heads: Sequence[Head],
        own: Sequence[Units],
        rng: np.random.Generator,
        before: LeftOut | None = None,
    ) -> None:
        """From draws to attributes: robust intervals, and residuals of some rows left out."""

        def problem(part: LinearData, k: int, prior: Belief) -> Problem:
            own, intercept = heads[k], self.fit_intercept
            return problem_of(own._replace(prior=prior), part, PLAIN, own.likelihood, intercept)

        priors = [head.prior for head in heads]
        earlier = None if before is None else earlier_rows(self.posterior_, priors)
        adjustment = None
        if before is None or earlier is not None:
            adjustment = adjustment_of(rows, run.weights, problem, priors, rng, earlier)
        self._store(run, len(heads), adjustment)
        now = left_out(rows, heads, own, run.weights, self.fit_intercept)
        self.left_out_ = together(before, self._lines(now), rng)
        if before is None and not isinstance(self.C, str):
            warn_of_costs(np.atleast_1d(self.C_), now.inflation)

    def _training_rows(self, X: Any, y: Any, reset: bool) -> tuple[Any, FloatArray]:
        """Checked rows and values, from memory or from a file."""
        if isinstance(X, FileRows):
            return matched_rows(X, self, reset), plain_values(X.checked_labels(y))
        X = host_array(X)
        require_numbers(X)
        y = y if y is None else plain_values(y)
        X, y = validate_data(
            self, X, y, dtype=ROW_TYPES, order="C", accept_sparse="csr", multi_output=True,
            reset=reset,
        )  # fmt: skip
        if y.ndim > 1 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        return (canonical(X) if sparse.issparse(X) else X), y

    def _heads(
        self, rows: LinearData, own: Sequence[Units], rng: np.random.Generator
    ) -> list[Head]:
        """Scores with losses, costs and priors; what is "auto" is learned from some rows.

        With ``C="auto"`` the prior, too, is about values measured from their median in units of
        their typical distance from it.
        """
        auto, heads = isinstance(self.C, str), []
        size = rows.values.shape[1] + int(self.fit_intercept)
        for j, unit in enumerate(own):
            units = unit if self.fit_intercept else Units(0.0, unit.size)
            inside = replace(rows, label=units.inside(value_of(rows, j)))
            prior = prior_belief(self.prior, self.prior_scale * (unit.size if auto else 1.0), size)
            if auto and self.fit_intercept and isinstance(prior, GaussianBelief):
                prior.mean[-1] = unit.centre
            learned = self._learn(inside, units, rng)
            heads += [Head(loss, cost, prior, j) for loss, cost in learned]
        costs = [head.cost for head in heads]
        self.C_ = costs[0] if len(costs) == 1 else np.array(costs)
        self._keep_losses([head.likelihood for head in heads])
        return heads

    def _cost(self, residuals: Residuals | None, likelihood: OneScore, units: Units) -> float:
        """``C``, or what it is learned to be from residuals in units of the values."""
        if residuals is None or not isinstance(self.C, str):
            return float(self.C)
        return residuals.cost(scaled(likelihood, units.size)) / units.size

    def _store(self, run: Run, n_heads: int, adjustment: Adjustment | None) -> None:
        self.diagnostics_ = run.diagnostics
        coef, intercept = split_heads(run.weights, n_heads, self.fit_intercept)
        mean = run.weights.mean(axis=(0, 1)) if run.moments is None else run.moments[0]
        means = split_heads(mean, n_heads, self.fit_intercept)
        self.coef_, self.intercept_ = np.ascontiguousarray(means[0]), self._shaped(means[1])
        axis = self._axis()
        names = getattr(self, "feature_names_in_", range(coef.shape[-1]))
        settings = {key: str(value) for key, value in self.get_params(deep=False).items()}
        settings["drawn_by"] = run.info["sampler"]
        self.posterior_ = Posterior(
            {"coef": coef, "intercept": intercept},
            {"coef": (*axis, "feature"), "intercept": tuple(axis)},
            {"feature": list(names), **axis},
            {**run.info, **settings},
            adjustment,
            run.statistics,
        )

    def _shaped(self, intercept: Any) -> Any:
        """The intercept, or those of all scores, as scikit-learn's estimators have them."""
        return np.atleast_1d(np.asarray(intercept, dtype=float))
