"""What turns labelled rows into the attributes of a fitted kernel model."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from bayesmargin.calibration.leading import leader_of
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.inputs.checks import plain_labels
from bayesmargin.models.deciding import DecisionsMixin
from bayesmargin.models.kernel.choosing import Question, usual_gamma
from bayesmargin.models.kernel.fourier import fit_features
from bayesmargin.models.kernel.gaussian import gaussian_run
from bayesmargin.models.kernel.kernels import Kernel, kernel_of
from bayesmargin.models.kernel.reading import KernelReading
from bayesmargin.models.kernel.resting import resting_scores
from bayesmargin.models.kernel.settings import AUTO, check_kernel_settings
from bayesmargin.models.kernel.support import MOST_ROWS, SupportMixin, active_shares
from bayesmargin.models.linear.calibrating import calibrate, linked, some_rows
from bayesmargin.models.linear.choosing import Profile
from bayesmargin.models.linear.fitting import (
    LinearData,
    emphasised,
    merged,
    sample_linear,
    split_weights,
)
from bayesmargin.models.linear.gaussian import GaussianFits
from bayesmargin.models.saved.mixin import SavedMixin
from bayesmargin.posterior import Posterior
from bayesmargin.priors.moments import Belief, prior_belief
from bayesmargin.rows.files import FileRows
from bayesmargin.rows.matching import matched_rows
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import progress_for
from bayesmargin.running.run import Run
from bayesmargin.samplers.auto import Auto


@dataclass(frozen=True)
class FeatureSettings:
    """The settings of the linear model on the features that is sampled."""

    C: float
    margin: float
    multi_class: str
    n_draws: int
    n_jobs: int | None
    prior: str = "gaussian"
    fit_intercept: bool = True
    engine: str = "numba"
    classes_: Any = ()


class KernelTraining(SavedMixin, DecisionsMixin, SupportMixin, KernelReading):
    """Fits of kernel models: from checked rows to draws and probabilities."""

    C: Any
    gamma: Any
    profile_: Profile | None
    sizes_: Profile | None
    n_components: Any
    prior_scale: Any
    margin: float
    multi_class: str
    n_chains: int
    n_draws: int
    n_jobs: int | None
    verbose: int
    class_weight: Any

    def _labelled(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Checked rows and labels for a fit."""
        if isinstance(X, FileRows):
            return matched_rows(X, self, reset=True), X.checked_labels(y)
        X, y = self._kernel_rows(X, plain_labels(y), reset=True)
        if self.__sklearn_tags__().input_tags.pairwise and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' wants the kernel of the training rows with each other, a "
                f"square matrix, and X has the shape {X.shape}"
            )
        return X, y

    def _update(self, X: FloatArray, y: Any, weight: FloatArray) -> Self:
        sampler = check_kernel_settings(self)
        last = len(self.classes_) - 1  # rows of weight zero may have a class that does not count
        label = np.minimum(np.searchsorted(self.classes_, y), last)
        label = label.astype(np.min_scalar_type(len(self.classes_)))
        given = LinearData(X, label, weight, len(self.classes_), place=np.arange(len(label)))
        data = emphasised(merged(given), self.class_weight, self.classes_)
        read = (data.values, data.label, data.weight, data.number)
        with self._checkpointing(*(part for part in read if part is not None)) as checkpoint:
            generators = spawn_generators(checkpoint.random_state, self.n_chains + 1)
            data = self._mapped(data, generators[-1])
            settings = FeatureSettings(
                self.C_, self.margin, self.multi_class, self.n_draws, self.n_jobs
            )
            size = self.map_.n_features + 1
            separate = self.multi_class == "ovr" and len(self.classes_) > 2
            sizes = [size] * len(self.classes_) if separate else [size * self._n_blocks()]
            priors = [prior_belief("gaussian", self.prior_scale_, one) for one in sizes]
            normal = fits = None
            if isinstance(sampler, Auto) and (separate or len(self.classes_) == 2):
                normal = gaussian_run(data, self.prior_scale_, settings, generators)
            if normal is not None:
                run, fits = normal
                rows, scores = fits.some_left_out(generators[-1])
                told = linked(rows, *scores, settings)
            else:
                with progress_for(self.verbose) as progress:
                    facts = (settings, sampler, generators, progress, Journal(checkpoint))
                    run = sample_linear(data, priors, *facts)
                told = calibrate(some_rows(data, generators[-1]), run.weights, settings)
            self.link_, self.left_out_ = told
            self._store(run, generators[-1])
            self._rest(np.bincount(data.label, data.weight, len(self.classes_)).astype(float))
            if len(label) <= MOST_ROWS:
                self._support(data, fits, separate)
        return self

    def _feature_settings(self) -> FeatureSettings:
        """Settings of the linear model, once features are there."""
        facts = (self.C_, self.margin, self.multi_class, self.n_draws, self.n_jobs)
        return FeatureSettings(*facts, classes_=self.classes_)

    def _feature_priors(self) -> list[Belief]:
        """Prior of all weights, or one for each class against the rest."""
        size = self.map_.n_features + 1
        separate = self.multi_class == "ovr" and len(self.classes_) > 2
        sizes = [size] * len(self.classes_) if separate else [size * self._n_blocks()]
        return [prior_belief("gaussian", self.prior_scale_, one) for one in sizes]

    def _set_classes(self, classes: Any, source: str = "y") -> None:
        if len(classes) < 2:
            raise ValueError(
                f"{source} holds only one class, {classes.tolist()}: a classifier needs at least 2"
            )
        self.classes_ = classes
        for name in ("active_", "pulls_"):  # of a fit before
            if hasattr(self, name):
                delattr(self, name)

    def _mapped(self, data: LinearData, rng: np.random.Generator) -> LinearData:
        """The rows as features, the map and the settings learned."""
        kernel, X = kernel_of(self.kernel), data.values
        assert data.place is not None
        columns = np.zeros(len(X), dtype=np.int64)
        there = data.place >= 0
        columns[data.place[there]] = np.flatnonzero(there)
        self.prior_scale_ = float(self.prior_scale)
        choice = self._question(kernel, data, columns).choose(rng)
        self.C_, self.gamma_ = choice.C, choice.gamma
        self.profile_, self.sizes_ = choice.profile, choice.sizes
        found = fit_features(kernel, choice.gamma, X, columns, choice.n_components, rng)
        self.map_ = found
        features, rest, _ = found.features(X)
        return replace(data, values=features, unseen=self.prior_scale_**2 * rest)

    def _question(self, kernel: Kernel, data: LinearData, columns: IntArray) -> Question:
        """What is left to be chosen."""
        usual = usual_gamma(data.values) if kernel.has_gamma else 1.0
        known: dict[str, float] = {}
        if not isinstance(self.C, str):
            known["C"] = float(self.C)
        if not isinstance(self.gamma, str):
            known["gamma"] = float(self.gamma)
        elif self.gamma == "scale" or not kernel.has_gamma:
            known["gamma"] = usual
        wanted = None if self.n_components == AUTO else int(self.n_components)
        facts = (self.margin, self.prior_scale_, known, usual, wanted)
        return Question(kernel, data, columns, *facts)

    def _store(self, run: Run, rng: np.random.Generator) -> None:
        self.diagnostics_ = run.diagnostics
        blocks = self._n_blocks()
        coef, intercept = split_weights(run.weights, blocks, True)
        mean = run.weights.mean(axis=(0, 1)) if run.moments is None else run.moments[0]
        self.coef_, self.intercept_ = map(np.ascontiguousarray, split_weights(mean, blocks, True))
        shape = intercept.shape
        unseen = self.prior_scale_ * _standard(int(np.prod(shape[:2])), blocks, rng).reshape(shape)
        per_class = () if blocks == 1 else ("class",)
        told = {key: str(value) for key, value in self.get_params(deep=False).items()}
        told["drawn_by"] = run.info["sampler"]
        draws = {"coef": coef, "intercept": intercept, "unseen": unseen}
        if blocks == 1:
            draws = {name: part[:, :, 0] for name, part in draws.items()}
        coords: dict[str, list[Any]] = {"component": list(range(coef.shape[-1]))}
        if per_class:
            coords["class"] = self.classes_.tolist()
        dims = {"coef": (*per_class, "component"), "intercept": per_class, "unseen": per_class}
        self.posterior_ = Posterior(draws, dims, coords, {**run.info, **told})

    def _support(self, data: LinearData, fits: GaussianFits | None, separate: bool) -> None:
        """How often the rows that were given pull, and how strongly."""
        if fits is not None:
            active = fits.active()
        else:
            draws = super(KernelReading, self)._draws()
            active = active_shares(data, *draws, self.margin, separate)
        place = data.place
        assert place is not None
        number = data.weight if data.number is None else data.number
        pull = self.C_ * active * data.weight / np.maximum(number, 1.0)
        self.active_ = np.where(place >= 0, active[place], 0.0)
        self.pulls_ = np.where(place >= 0, pull[place], 0.0)

    def _rest(self, counts: FloatArray) -> None:
        """Where the scores of rows rest that are like no training row: at the class shares."""
        draws = self.posterior_.flat("intercept").reshape(-1, self._n_blocks())
        draws = draws + self.posterior_.flat("unseen").reshape(draws.shape) * np.sqrt(self.map_.own)
        shares = counts / counts.sum()
        if draws.shape[1] > 1:
            draws = draws - draws[:, leader_of(shares[None])]
        scores = resting_scores(self.link_, shares, draws.var(axis=0, ddof=1))
        self.resting_ = scores - self.intercept_
        if len(scores) > 1:
            self.resting_ -= self.resting_.mean()


def _standard(count: int, blocks: int, rng: np.random.Generator) -> FloatArray:
    """Standard normal draws (count, block) whose means and covariances are those they should be."""
    draws = rng.standard_normal((count, blocks))
    if count <= blocks + 1:
        return draws
    basis = np.linalg.qr(draws - draws.mean(axis=0))[0]
    return np.asarray(basis * np.sqrt(count - 1))
