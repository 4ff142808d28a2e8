"""What turns rows with values into the attributes of a fitted regression."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from bayesmargin.errors import DataError
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.checks import require_numbers
from bayesmargin.inputs.values import plain_values
from bayesmargin.likelihoods import OneScore
from bayesmargin.models.all_or_nothing import all_or_nothing
from bayesmargin.models.linear.calibrating import some_rows
from bayesmargin.models.linear.fitting import LinearData, merged
from bayesmargin.models.linear.reading import ROW_TYPES
from bayesmargin.models.regression.noise import Residuals
from bayesmargin.models.regression.predictions import RegressionPredictions
from bayesmargin.models.regression.sampling import Head, sample_heads, split_heads
from bayesmargin.models.regression.units import Units, units_of
from bayesmargin.models.saved.mixin import SavedMixin
from bayesmargin.models.scaling import check_scales
from bayesmargin.models.settings import check_sample_weight
from bayesmargin.posterior import Posterior
from bayesmargin.priors.moments import prior_belief
from bayesmargin.rows.files import FileRows
from bayesmargin.rows.matching import matched_rows
from bayesmargin.rows.sparse import canonical
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import progress_for
from bayesmargin.running.run import Run
from bayesmargin.samplers.base import Sampler


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
    def _learned_losses(
        self, rows: LinearData, units: Units, rng: np.random.Generator
    ) -> list[tuple[OneScore, float]]:
        """Losses and costs of all scores, in ``units``; what is "auto" is learned from ``rows``."""

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
        sampler = self._checked_settings()
        with all_or_nothing(self):
            X, y = self._training_rows(X, y, reset=True)
            weight = check_sample_weight(sample_weight, X.shape[0])
            check_scales(X, getattr(self, "feature_names_in_", None))
            data = merged(LinearData(X, y, weight, n_classes=1))
            facts = (data.values, data.label, data.weight)
            with self._checkpointing(*facts) as checkpoint:
                generators = spawn_generators(checkpoint.random_state, self.n_chains + 1)
                units, heads = self._heads(data, generators[-1])
                with progress_for(self.verbose) as progress:
                    run = sample_heads(
                        data, heads, units, self, sampler, generators, progress,
                        Journal(checkpoint),
                    )  # fmt: skip
            self._store(run, len(heads))
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

    def _heads(self, data: LinearData, rng: np.random.Generator) -> tuple[Units, list[Head]]:
        """Units to sample in, and the scores with losses, costs and priors in those of ``y``.

        With ``C="auto"`` the prior, too, is about values measured from their median in units of
        their typical distance from it.
        """
        auto = isinstance(self.C, str)
        own = units_of(data.label, data.weight)
        centred = own if self.fit_intercept else Units(0.0, own.size)
        units = centred if auto else Units(0.0, own.size)
        rows = some_rows(data, rng)
        inside = LinearData(
            rows.values, centred.inside(rows.label), rows.weight, 1, n_all=rows.n_all
        )
        losses = self._learned_losses(inside, centred, rng)
        size = data.values.shape[1] + int(self.fit_intercept)
        scale = self.prior_scale * (own.size if auto else 1.0)
        prior = prior_belief(self.prior, scale, size)
        costs = [cost for _, cost in losses]
        self.C_ = costs[0] if len(costs) == 1 else np.array(costs)
        return units, [Head(loss, cost, prior) for loss, cost in losses]

    def _cost(self, residuals: Residuals | None, likelihood: OneScore, units: Units) -> float:
        """``C``, or what it is learned to be."""
        if residuals is None or not isinstance(self.C, str):
            return float(self.C)
        return residuals.cost(likelihood) / units.size

    def _store(self, run: Run, n_heads: int) -> None:
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
        )

    def _shaped(self, intercept: Any) -> Any:
        """The intercept, or those of all scores, as scikit-learn's estimators have them."""
        return np.atleast_1d(np.asarray(intercept, dtype=float))


def require_rows(data: LinearData) -> None:
    """Refuse rows that are too few to learn a setting from."""
    if len(data.label) < 2:
        raise DataError(
            f"n_samples={len(data.label)} is too few to learn C or epsilon from: pass numbers"
        )
