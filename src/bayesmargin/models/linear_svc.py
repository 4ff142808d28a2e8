r"""A Bayesian linear support vector machine with the interface of scikit-learn."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesmargin.beliefs import Belief, GaussianBelief
from bayesmargin.calibration import Link
from bayesmargin.diagnostics import Diagnostics
from bayesmargin.models.linear_fit import (
    LinearData,
    calibrate,
    design,
    merged,
    prior_belief,
    sample_linear,
)
from bayesmargin.models.settings import check_linear_settings, check_sample_weight
from bayesmargin.posterior import Posterior
from bayesmargin.progress import progress_for
from bayesmargin.random import spawn_generators
from bayesmargin.types import FloatArray, IntArray

CHUNK = 1 << 22  # scores held at a time when all draws vote
FULL_COVARIANCE = 800  # weights up to which partial_fit hands on a full covariance


class BayesianLinearSVC(ClassifierMixin, BaseEstimator):
    r"""Bayesian linear SVM: the hinge loss as a pseudo-likelihood, the answer a posterior.

    .. math:: p(w \mid \text{data}) \propto p_0(w) \prod_d \exp\left(-C\,(\ell - y_d\,w \cdot x_d)_+
              \right)

    With a Gaussian prior of scale one and margin one its mode is the solution of
    ``LinearSVC(C=C, loss="hinge")``. More than two classes use the hinge of Crammer and Singer, or
    one binary model a class. Nothing needs tuning: the default sampler finds its own coordinates,
    batches and length.

    Parameters
    ----------
    C : float
        Weight of the hinge, as in scikit-learn.
    margin : float
        Margin :math:`\ell` that a score should reach.
    prior : {"gaussian", "laplace"}
        Prior of every weight, the intercept included.
    prior_scale : float
        Standard deviation of the Gaussian, or scale of the Laplace distribution.
    fit_intercept : bool
        Whether a constant feature is added.
    multi_class : {"crammer_singer", "ovr"}
        What more than two classes mean; two classes are the binary model either way.
    sampler : str or Sampler
        "auto", "ssgld", "ssgnht", "sghmc", the exact "hmc", "lmc" and "gibbs", "srwm" (random walk
        with the austerity test), or an object of :mod:`bayesmargin.samplers`.
    n_chains, n_draws : int
        Chains, and draws kept from each.
    random_state : int, Generator, RandomState or None
        Seed; equal seeds give equal draws whatever ``n_jobs``.
    n_jobs : int or None
        Threads; None uses a core for each chain as far as there are cores.
    verbose : int
        1 shows progress.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_, intercept_ : arrays of shape (1, n_features) and (1,)
        Posterior means; with more than two classes a row for each class.
    posterior_ : Posterior
        Draws ``coef`` and ``intercept``.
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, temperature, bias; print it.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bayesmargin import BayesianLinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BayesianLinearSVC(random_state=0).fit(StandardScaler().fit_transform(X), y)
    >>> model.posterior_["coef"].shape
    (4, 1000, 30)
    >>> model.diagnostics_.trustworthy
    True
    """

    def __init__(
        self,
        C: float = 1.0,
        margin: float = 1.0,
        prior: str = "gaussian",
        prior_scale: float = 1.0,
        fit_intercept: bool = True,
        multi_class: str = "crammer_singer",
        sampler: Any = "auto",
        n_chains: int = 4,
        n_draws: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.margin = margin
        self.prior = prior
        self.prior_scale = prior_scale
        self.fit_intercept = fit_intercept
        self.multi_class = multi_class
        self.sampler = sampler
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sample the posterior of the weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels of any type.
        sample_weight : array-like of shape (n_samples,), optional
            Multiplies ``C`` row by row; a row of weight two counts as two rows.
        """
        check_linear_settings(self)
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, len(X))
        self.classes_ = np.unique(y[weight > 0.0])
        if len(self.classes_) < 2:
            raise ValueError(
                f"y holds only one class, {self.classes_[0]!r}: a classifier needs at least 2 "
                "classes"
            )
        return self._update(X, y, weight, self._initial_priors(X.shape[1]))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Go on from the current posterior with further rows.

        The posterior so far, summarised by its mean and covariance, is the prior of the new rows.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`fit`.
        classes : array-like, optional
            All classes that will ever occur; needed at the first call.
        """
        check_linear_settings(self)
        first = not hasattr(self, "posterior_")
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C", reset=first)
        check_classification_targets(y)
        weight = check_sample_weight(sample_weight, len(X))
        if first:
            if classes is None:
                raise ValueError(
                    "classes=None is not allowed at the first call of partial_fit: pass all "
                    "classes that will ever occur"
                )
            self.classes_ = np.unique(classes)
        elif classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(
                f"classes={np.unique(classes)!r} differ from those of the first call of "
                f"partial_fit, {self.classes_!r}"
            )
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(f"y holds the labels {unknown!r}, which are not among the classes")
        priors = self._initial_priors(X.shape[1]) if first else self._posterior_beliefs()
        return self._update(X, y, weight, priors)

    def _n_blocks(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _one_vs_rest(self) -> bool:
        return self.multi_class == "ovr" and len(self.classes_) > 2

    def _initial_priors(self, n_features: int) -> list[Belief]:
        size = n_features + int(self.fit_intercept)
        if self._one_vs_rest():
            return [prior_belief(self.prior, self.prior_scale, size) for _ in self.classes_]
        return [prior_belief(self.prior, self.prior_scale, size * self._n_blocks())]

    def _posterior_beliefs(self) -> list[Belief]:
        weights = self._weight_draws()
        parts = np.split(weights, len(self.classes_), axis=1) if self._one_vs_rest() else [weights]
        beliefs: list[Belief] = []
        for part in parts:
            if part.shape[1] > FULL_COVARIANCE:
                precision = 1.0 / part.var(axis=0)
            else:
                precision = np.linalg.inv(np.atleast_2d(np.cov(part.T)))
            beliefs.append(GaussianBelief(part.mean(axis=0), precision))
        return beliefs

    def _update(self, X: FloatArray, y: Any, weight: FloatArray, priors: list[Belief]) -> Self:
        sampler = check_linear_settings(self)
        label = np.searchsorted(self.classes_, y)
        values, label, weight = merged(X, label, weight)
        data = LinearData(values, label, weight, len(self.classes_))
        generators = spawn_generators(self.random_state, self.n_chains + 1)
        with progress_for(self.verbose) as progress:
            run = sample_linear(data, priors, self, sampler, generators, progress)
        self._store(run.weights, run.info)
        self.diagnostics_: Diagnostics = run.diagnostics
        self.link_: Link = calibrate(data, run.weights, self, generators[-1])
        return self

    def _store(self, weights: FloatArray, info: dict[str, Any]) -> None:
        n_chains, n_draws = weights.shape[:2]
        blocks = self._n_blocks()
        matrix = weights.reshape(n_chains, n_draws, blocks, -1)
        n_features = matrix.shape[-1] - int(self.fit_intercept)
        coef = matrix[..., :n_features]
        intercept = matrix[..., -1] if self.fit_intercept else np.zeros(matrix.shape[:-1])
        self.coef_ = coef.mean(axis=(0, 1))
        self.intercept_ = intercept.mean(axis=(0, 1))
        names = getattr(self, "feature_names_in_", range(n_features))
        per_class = () if blocks == 1 else ("class",)
        self.posterior_ = Posterior(
            {
                "coef": coef[:, :, 0] if blocks == 1 else coef,
                "intercept": intercept[:, :, 0] if blocks == 1 else intercept,
            },
            {"coef": (*per_class, "feature"), "intercept": per_class},
            {"feature": list(names), **({"class": self.classes_.tolist()} if per_class else {})},
            {**info, **{key: str(value) for key, value in self.get_params(deep=False).items()}},
        )

    def _weight_draws(self) -> FloatArray:
        """Draws of all weights as rows: classes one after another, each with its intercept."""
        coef = self.posterior_.flat("coef").reshape(-1, self._n_blocks(), self.n_features_in_)
        if self.fit_intercept:
            intercept = self.posterior_.flat("intercept").reshape(len(coef), self._n_blocks(), 1)
            coef = np.concatenate([coef, intercept], axis=2)
        return coef.reshape(len(coef), -1)

    def _rows(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

    def decision_function(self, X: Any, return_std: bool = False) -> Any:
        """Posterior mean of the scores, and with ``return_std`` their posterior sd.

        Returns
        -------
        scores : array of shape (n_samples,) or (n_samples, n_classes)
        std : array of the same shape, only with ``return_std=True``
        """
        X = self._rows(X)
        scores = X @ self.coef_.T + self.intercept_
        scores = scores[:, 0] if self._n_blocks() == 1 else scores
        return (scores, self._score_sd(X)) if return_std else scores

    def _score_sd(self, X: FloatArray) -> FloatArray:
        rows = design(X, self.fit_intercept)
        draws = self._weight_draws().reshape(-1, self._n_blocks(), rows.shape[1])
        parts = []
        for k in range(self._n_blocks()):
            centred = draws[:, k] - draws[:, k].mean(axis=0)
            root = np.linalg.qr(centred, mode="r") / np.sqrt(len(centred) - 1)
            parts.append(np.linalg.norm(rows @ root.T, axis=1))
        return parts[0] if len(parts) == 1 else np.stack(parts, axis=1)

    def predict(self, X: Any) -> Any:
        """Class with the largest posterior mean score."""
        scores = self.decision_function(X)
        index = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[index]

    def predict_proba(self, X: Any) -> FloatArray:
        """Posterior predictive probabilities of the classes, calibrated on the training rows.

        The most probable class is the one that :meth:`predict` gives, on every row.
        """
        scores = self.decision_function(X)
        if scores.ndim == 2:
            scores = scores - scores.mean(axis=1, keepdims=True)
        return self.link_.probabilities(scores)

    def predict_votes(self, X: Any) -> FloatArray:
        """Share of posterior draws that vote for each class: the Gibbs classifier's own law."""
        X = self._rows(X)
        rows = design(X, self.fit_intercept)
        draws = self._weight_draws().reshape(-1, self._n_blocks(), rows.shape[1])
        votes = np.zeros((len(X), len(self.classes_)))
        step = max(1, CHUNK // (len(draws) * self._n_blocks()))
        for start in range(0, len(X), step):
            scores = np.einsum("skj,dj->dsk", draws, rows[start : start + step], optimize=True)
            chosen: IntArray = (
                (scores[..., 0] > 0).astype(int) if scores.shape[2] == 1 else scores.argmax(axis=2)
            )
            for k in range(len(self.classes_)):
                votes[start : start + step, k] = (chosen == k).mean(axis=1)
        return votes
