"""What turns labelled rows into the attributes of a fitted linear model."""

from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from bayesmargin.calibration.maps import MAX_ROWS, Link
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.inputs.checks import plain_labels, require_numbers
from bayesmargin.inputs.tensors import host_array
from bayesmargin.models.deciding import DecisionsMixin
from bayesmargin.models.linear.adjusting import Earlier, adjust
from bayesmargin.models.linear.calibrating import calibrate, calibrate_labels, some_rows
from bayesmargin.models.linear.choosing import Profile
from bayesmargin.models.linear.cost import cost_profile, weight_scale, with_cost
from bayesmargin.models.linear.doubting import LinearDoubt
from bayesmargin.models.linear.fitting import (
    LinearData,
    emphasised,
    merged,
    sample_linear,
    split_weights,
)
from bayesmargin.models.linear.prior_scale import resolved_scale
from bayesmargin.models.linear.reading import ROW_TYPES, label_sets
from bayesmargin.models.linear.refitting import with_refits
from bayesmargin.models.saved.mixin import SavedMixin
from bayesmargin.models.scaling import check_scales
from bayesmargin.models.settings import check_linear_settings
from bayesmargin.models.watching import linear_glance
from bayesmargin.posterior import Posterior
from bayesmargin.priors.moments import Belief, prior_belief
from bayesmargin.rows.files import FileRows
from bayesmargin.rows.matching import matched_rows
from bayesmargin.rows.sparse import canonical
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import progress_for
from bayesmargin.running.run import Run


class Before(NamedTuple):
    """What earlier rows of the same model taught."""

    link: Link
    rows: Earlier | None


class LinearTraining(SavedMixin, DecisionsMixin, LinearDoubt):
    """Fits of linear models: from checked rows to draws, probabilities and robust intervals."""

    C: Any
    C_: float
    profile_: Profile | None
    prior: str
    prior_scale: float | str
    prior_scale_: float
    margin: float
    fit_intercept: bool
    multi_class: str
    n_chains: int
    verbose: int
    class_weight: Any

    def _set_classes(self, classes: Any, source: str = "y") -> None:
        if len(classes) < 2:
            raise ValueError(
                f"{source} holds only one class, {classes.tolist()}: a classifier needs at least 2"
            )
        self.classes_ = classes

    def _training_rows(self, X: Any, y: Any, reset: bool) -> tuple[Any, Any]:
        """Checked rows and labels, from memory or from a file."""
        if isinstance(X, FileRows):
            return matched_rows(X, self, reset), X.checked_labels(y)
        X, y = host_array(X), host_array(y)
        require_numbers(X)
        sets = label_sets(y) if reset else None
        y = plain_labels(y) if sets is None else sets
        X, y = validate_data(
            self, X, y, dtype=ROW_TYPES, order="C", accept_sparse="csr", reset=reset,
            multi_output=sets is not None,
        )  # fmt: skip
        return (canonical(X) if sparse.issparse(X) else X), y

    def _one_vs_rest(self) -> bool:
        return self._has_sets or (self.multi_class == "ovr" and len(self.classes_) > 2)

    def _initial_priors(self, n_features: int) -> list[Belief]:
        size = n_features + int(self.fit_intercept)
        if self._one_vs_rest():
            return [prior_belief(self.prior, self.prior_scale_, size) for _ in self.classes_]
        return [prior_belief(self.prior, self.prior_scale_, size * self._n_blocks())]

    def _scale_prior(self, X: Any, weight: FloatArray) -> None:
        facts = (X, weight, self.margin, self.fit_intercept)
        self.prior_scale_ = resolved_scale(self.prior_scale, *facts)

    def _update(
        self,
        X: Any,
        y: Any,
        weight: FloatArray,
        priors: list[Belief],
        groups: IntArray | None = None,
        before: Before | None = None,
    ) -> Self:
        sampler = check_linear_settings(self)
        last = len(self.classes_) - 1  # rows of weight zero may have a class that does not count
        label = y if self._has_sets else np.minimum(np.searchsorted(self.classes_, y), last)
        label = label.astype(np.min_scalar_type(len(self.classes_)))
        check_scales(X, getattr(self, "feature_names_in_", None))
        given = LinearData(X, label, weight, len(self.classes_), groups)
        if len(label) <= MAX_ROWS and not isinstance(X, FileRows):
            given = replace(given, place=np.arange(len(label)))
        data = emphasised(merged(given), self.class_weight, self.classes_)
        more = [part for part in (data.number, data.groups) if part is not None]
        facts = (data.values, data.label, data.weight, priors, *more)
        with self._checkpointing(*facts) as checkpoint:
            generators = spawn_generators(checkpoint.random_state, self.n_chains + 1)
            settings = self._settled(data, before, generators[-1])
            with progress_for(self.verbose) as progress:
                journal = Journal(checkpoint)
                glance = None
                if not self._has_sets:
                    glance = linear_glance(self.classes_, self.fit_intercept)
                run = sample_linear(
                    data, priors, settings, sampler, generators, progress, journal, glance
                )
            rows = some_rows(data, generators[-1])
            self._store(run, rows, priors, generators[-1], before, data)
        return self

    def _settled(self, data: LinearData, before: Before | None, rng: np.random.Generator) -> Any:
        """The settings with the cost that is used: chosen at the first rows where it is "auto"."""
        if not isinstance(self.C, str):
            self.C_, self.profile_ = float(self.C), None
            return self
        if before is None:
            self.profile_ = cost_profile(data, self, rng.spawn(1)[0])
            self.C_ = self.profile_.best["C"]
        return with_cost(self, self.C_)

    def _store(
        self,
        run: Run,
        rows: LinearData,
        priors: list[Belief],
        rng: np.random.Generator,
        before: Before | None = None,
        every: LinearData | None = None,
    ) -> None:
        self.diagnostics_ = run.diagnostics
        link = None if before is None else before.link
        settled = self if not isinstance(self.C, str) else with_cost(self, self.C_)
        if self._has_sets:
            self.link_, self.left_out_ = calibrate_labels(rows, run.weights, settled)
        else:
            told = calibrate(rows, run.weights, settled, link)
            if before is None and every is not None:
                told = with_refits(told, rows, settled, weight_scale(self), rng.spawn(1)[0])
            self.link_, self.left_out_ = told
        if every is not None and every.groups is not None:
            rows = every  # no row of a group may be left out
        adjustment = None
        if before is None or before.rows is not None:
            earlier = None if before is None else before.rows
            adjustment = adjust(rows, run.weights, settled, priors, rng, earlier)
        blocks = self._n_blocks()
        coef, intercept = split_weights(run.weights, blocks, self.fit_intercept)
        mean = run.weights.mean(axis=(0, 1)) if run.moments is None else run.moments[0]
        means = split_weights(mean, blocks, self.fit_intercept)
        self.coef_, self.intercept_ = map(np.ascontiguousarray, means)
        names = getattr(self, "feature_names_in_", range(coef.shape[-1]))
        per_class = () if blocks == 1 else ("class",)
        settings = {key: str(value) for key, value in self.get_params(deep=False).items()}
        settings["drawn_by"] = run.info["sampler"]  # "auto" and other names leave that open
        self.posterior_ = Posterior(
            {
                "coef": coef[:, :, 0] if blocks == 1 else coef,
                "intercept": intercept[:, :, 0] if blocks == 1 else intercept,
            },
            {"coef": (*per_class, "feature"), "intercept": per_class},
            {"feature": list(names), **({"class": self.classes_.tolist()} if per_class else {})},
            {**run.info, **settings},
            adjustment,
            run.statistics,
        )
