"""What a fitted infinite SVM answers: classes, probabilities, components, experts."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesmargin.calibration.floored import Link
from bayesmargin.foundation.arguments import require_choice, require_jobs
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.co_clustering import row_numbers, shared_draws
from bayesmargin.models.infinite_svc.fitting import Problem
from bayesmargin.models.infinite_svc.prediction import Draw, predict_components, predict_draws
from bayesmargin.models.infinite_svc.reading import Expert, read_experts
from bayesmargin.models.infinite_svc.settings import CALIBRATED, PREDICTIONS
from bayesmargin.models.mixtures.classifier import MixtureClassifier


class InfiniteSVCAnswers(MixtureClassifier):
    """The part of the estimator that reads draws; it has no parameters of its own."""

    prediction: str
    random_state: Any
    n_jobs: int | None
    link_: Link | None
    _problem: Problem
    _draws: list[Draw]
    _labels: list[IntArray]

    def _prepare(self, X: Any) -> tuple[FloatArray, FloatArray]:
        rows = self._read_rows(X)
        return self._problem.prepare(rows)

    def _predict(self, X: Any, rule: str) -> FloatArray:
        covariates, design = self._prepare(X)
        require_jobs(self.n_jobs)
        # Only the Gibbs classifier draws: other rules leave a generator of the user as it is.
        by_chance = rule == "gibbs" and self.random_state is not None
        (rng,) = spawn_generators(self.random_state if by_chance else 0, 1)
        problem = self._problem
        return predict_draws(
            rule, self._draws, problem.base, problem.hinge, covariates, design,
            len(self.classes_), rng, self.n_jobs,
        )  # fmt: skip

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of every class by the chosen ``prediction`` rule."""
        check_is_fitted(self)
        require_choice("prediction", self.prediction, PREDICTIONS)  # it may be set after the fit
        if self.prediction != CALIBRATED:
            return self._predict(X, self.prediction)
        link = getattr(self, "link_", None)  # models of before there were links have none
        if link is None:
            raise ValueError(
                f"prediction={CALIBRATED!r} was set after a fit that has learned no link: "
                "fit the model with it, or use another rule"
            )
        calibrated: FloatArray = link.apply(self._predict(X, "probability"))
        return calibrated

    def predict_votes(self, X: Any) -> FloatArray:
        """Share of the votes of experts and draws for every class."""
        return self._predict(X, "vote")

    def predict_component(self, X: Any) -> IntArray:
        """Most probable component of each row in the last draw (labels have no meaning beyond)."""
        covariates, design = self._prepare(X)
        problem = self._problem
        return predict_components(self._draws[-1], problem.base, problem.hinge, covariates, design)

    def experts(self, draw: int = -1) -> list[Expert]:
        """Size, centre, weights and intercept of every component, in the units of the features.

        In the order of the numbers of ``predict_component``. Of two classes a positive score
        ``X @ coef.T + intercept`` speaks for the second, of more the largest wins. ``draw`` counts
        the kept draws, chain after chain; components of different draws do not correspond.
        """
        check_is_fitted(self)
        return read_experts(self._draws[draw], self._problem)

    def co_clustering(self, rows: Any = None) -> FloatArray:
        """Posterior probability that training rows share a component.

        Parameters
        ----------
        rows : array of int, or mask of all training rows, optional
            Training rows to compare; all by default (the result is a square matrix: choose).
        """
        partitions = self._partitions()
        return shared_draws(partitions, row_numbers(rows, len(partitions[0])))

    def _partitions(self) -> list[IntArray]:
        """Component of every training row in each kept draw."""
        check_is_fitted(self)
        if not self._labels:
            raise ValueError("the training set was too large for its assignments to be kept")
        return self._labels

    def component_sizes(self) -> list[IntArray]:
        """Sizes of the components in every kept draw, largest first."""
        check_is_fitted(self)
        return [np.sort(draw.population[:-1].astype(np.int64))[::-1] for draw in self._draws]
