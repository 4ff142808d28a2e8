"""What turns rows with values into the attributes of a fitted regression."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from bayesmargin.calibration.residuals import LeftOut
from bayesmargin.diagnostics.assessment import contradicted
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.checks import require_numbers
from bayesmargin.inputs.values import plain_values
from bayesmargin.likelihoods import OneScore
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.linear.adjusting import adjustment_of, earlier_rows
from bayesmargin.models.linear.calibrating import some_rows
from bayesmargin.models.linear.fitting import LinearData, merged
from bayesmargin.models.linear.reading import ROW_TYPES
from bayesmargin.models.regression.leaving_out import left_out, together
from bayesmargin.models.regression.noise import Residuals
from bayesmargin.models.regression.predictions import RegressionPredictions
from bayesmargin.models.regression.sampling import (
    Head,
    problem_of,
    sample_heads,
    scaled,
    split_heads,
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @abstractmethod
    def _checked_settings(self) -> Sampler:
        """The sampler, where no setting is wrong."""

    @abstractmethod
    def _learn(self, rows: LinearData, units: Units, rng: np.random.Generator) -> list[float]:
        """Costs of all scores; what is "auto" is learned from rows whose values are in units."""

    @abstractmethod
    def _losses(self) -> Sequence[OneScore]:
        """Losses of all scores, in the units of the values."""

    @abstractmethod
    def _lines(self, found: LeftOut) -> LeftOut:
        """The residuals that intervals need."""

    @abstractmethod
    def _axis(self) -> Mapping[str, Sequence[Any]]:
        """Name and labels of the axis of scores; nothing if there is one."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Sample the posterior of the weights.

        Parameters
        ----------
        X : array-like, sparse matrix or FileRows of shape (n_samples, n_features)
            Sparse matrices of many features are never made dense. Files larger than memory are
            opened with :func:`bayesmargin.rows.open_rows`.
        y : array-like of shape (n_samples,)
            Values; may be left out when ``X`` is a file that holds them.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies ``C`` row by row; a row of weight two counts as two rows.
        """
        self._checked_settings()
        with all_or_nothing(self):
            X, y = self._training_rows(X, y, reset=True)
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
            own = units_of(data.label, data.weight)
            if summaries is None:
                heads = self._heads(rows, own, generators[-1])
            else:
                pairs = zip(self._losses(), np.atleast_1d(self.C_), summaries, strict=True)
                heads = [Head(loss, float(cost), prior) for loss, cost, prior in pairs]
            moved = self.fit_intercept and (summaries is not None or isinstance(self.C, str))
            units = own if moved else Units(0.0, own.size)
            with progress_for(self.verbose) as progress:
                run = sample_heads(
                    data, heads, units, self, sampler, generators, progress, Journal(checkpoint)
                )

        def problem(part: LinearData, k: int, prior: Belief) -> Problem:
            own, intercept = heads[k], self.fit_intercept
            return problem_of(own._replace(prior=prior), part, PLAIN, own.likelihood, intercept)

        priors = [head.prior for head in heads]
        earlier = earlier_rows(self.posterior_, priors) if summaries is not None else None
        adjustment = None
        if summaries is None or earlier is not None:
            adjustment = adjustment_of(rows, run.weights, problem, priors, generators[-1], earlier)
        self._store(run, len(heads), adjustment)
        now = left_out(rows, heads, own, run.weights, self.fit_intercept)
        self.left_out_ = together(before, self._lines(now), generators[-1])
        return self

    def _training_rows(self, X: Any, y: Any, reset: bool) -> tuple[Any, FloatArray]:
        """Checked rows and values, from memory or from a file."""
        if isinstance(X, FileRows):
            return matched_rows(X, self, reset), plain_values(X.checked_labels(y))
        require_numbers(X)
        y = y if y is None else plain_values(y)
        X, y = validate_data(
            self, X, y, dtype=ROW_TYPES, order="C", accept_sparse="csr", reset=reset
        )
        return (canonical(X) if sparse.issparse(X) else X), y

    def _heads(self, rows: LinearData, own: Units, rng: np.random.Generator) -> list[Head]:
        """Scores with losses, costs and priors; what is "auto" is learned from some rows.

        With ``C="auto"`` the prior, too, is about values measured from their median in units of
        their typical distance from it.
        """
        auto = isinstance(self.C, str)
        units = own if self.fit_intercept else Units(0.0, own.size)
        costs = self._learn(replace(rows, label=units.inside(rows.label)), units, rng)
        self.C_ = costs[0] if len(costs) == 1 else np.array(costs)
        size = rows.values.shape[1] + int(self.fit_intercept)
        prior = prior_belief(self.prior, self.prior_scale * (own.size if auto else 1.0), size)
        if auto and self.fit_intercept and isinstance(prior, GaussianBelief):
            prior.mean[-1] = own.centre
        return [Head(loss, cost, prior) for loss, cost in zip(self._losses(), costs, strict=True)]

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
        )

    def _shaped(self, intercept: Any) -> Any:
        """The intercept, or those of all scores, as scikit-learn's estimators have them."""
        return np.atleast_1d(np.asarray(intercept, dtype=float))
