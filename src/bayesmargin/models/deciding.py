"""Decisions of a classifier: by costs, at a wished risk, as sets of classes."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesmargin.calibration.forecasts import LeftOutForecasts
from bayesmargin.decisions.abstaining import Abstention
from bayesmargin.decisions.costs import NO_ANSWER, Costs
from bayesmargin.decisions.sets import PredictionSets
from bayesmargin.foundation.types import BoolArray, FloatArray, IntArray
from bayesmargin.inputs.checks import class_numbers


class DecisionsMixin:
    """Classifiers that decide by their probabilities (:mod:`bayesmargin.decisions`)."""

    classes_: Any
    left_out_: LeftOutForecasts | None
    predict_proba: Any

    def predict_at_cost(self, X: Any, costs: Any, no_answer: float | None = None) -> Any:
        """The cheapest answer to every row, given what errors cost.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        costs : array-like of shape (n_classes, n_classes), or Costs
            Cost of each answer (column) where each class (row) is true, in the order of
            ``classes_``.
        no_answer : float, optional
            Price of giving no answer; None: every row is answered.

        Returns
        -------
        array or masked array of shape (n_samples,)
            Classes; with a price, rows without an answer are masked.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.preprocessing import scale
        >>> from bayesmargin import BayesianLinearSVC
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = BayesianLinearSVC(n_draws=300, random_state=0).fit(scale(X), y)
        >>> decided = model.predict_at_cost(scale(X), [[0, 20], [1, 0]], no_answer=0.5)
        >>> 0 < decided.mask.sum() < 150  # these a person should look at
        True
        """
        self._refuse_sets("predict_at_cost")
        if not isinstance(costs, Costs):
            costs = Costs(costs, no_answer)
        elif no_answer is not None:
            raise ValueError("no_answer is part of the Costs that were passed: name it once")
        number = costs.decide(np.asarray(self.predict_proba(X)))
        answers = self.classes_[np.maximum(number, 0)]
        if costs.no_answer is None:
            return answers
        return np.ma.masked_array(answers, mask=number == NO_ANSWER)

    def predict_or_abstain(
        self, X: Any, risk: float = 0.05, confidence: float = 0.95, known: Any = None
    ) -> Any:
        """Classes where they can be named at a wished risk, and no answer elsewhere.

        The threshold of certainty is that of :class:`bayesmargin.decisions.Abstention`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        risk : float
            Share of errors among the rows answered, at most.
        confidence : float
            How sure it is that the promise is kept, over training rows like these.
        known : tuple (X, y), optional
            Rows with labels, set aside. By default the promise rests on the training rows, each
            left out in turn.

        Returns
        -------
        masked array of shape (n_samples,)
            Rows without an answer are masked; all of them, where no threshold keeps the risk.
        """
        found = Abstention.at_risk(risk, *self._known(known), confidence)
        probability = np.asarray(self.predict_proba(X))
        answers = self.classes_[probability.argmax(axis=1)]
        return np.ma.masked_array(answers, mask=~found.answers(probability))

    def predict_set(
        self, X: Any, coverage: float = 0.9, empty: bool = False, known: Any = None
    ) -> BoolArray:
        """Sets of classes that hold the true one in a wished share of rows.

        The threshold of probability is that of :class:`bayesmargin.decisions.PredictionSets`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float
        empty : bool
            Whether sets may be empty, so that they cover no more than asked for.
        known : tuple (X, y), optional
            As for :meth:`predict_or_abstain`.

        Returns
        -------
        array of bool of shape (n_samples, n_classes)
            Which classes are in the set of each row.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.preprocessing import scale
        >>> from bayesmargin import BayesianLinearSVC
        >>> X, y = load_wine(return_X_y=True)
        >>> model = BayesianLinearSVC(n_draws=300, random_state=0).fit(scale(X), y)
        >>> model.predict_set(scale(X), coverage=0.99).shape
        (178, 3)
        """
        found = PredictionSets.at_coverage(coverage, *self._known(known))
        return found.sets(np.asarray(self.predict_proba(X)), empty)

    def _refuse_sets(self, what: str) -> None:
        if getattr(self, "label_sets_", False):
            raise ValueError(
                f"{what} is known where a row has one label: of label sets take predict_proba, "
                "whose columns are the probabilities of the labels"
            )

    def _known(self, known: Any) -> tuple[FloatArray, IntArray, FloatArray | None]:
        """Probabilities, class numbers and weights of rows that the model has not learned from."""
        check_is_fitted(self)
        self._refuse_sets("predict_or_abstain or predict_set")
        if known is None:
            left_out = getattr(self, "left_out_", None)
            if left_out is None:
                raise ValueError(
                    f"this {type(self).__name__} holds no forecasts of training rows that were "
                    "left out: set rows with labels aside and pass them as known=(X, y)"
                )
            return left_out.probability, left_out.label, left_out.number
        X, y = known
        return np.asarray(self.predict_proba(X)), class_numbers(y, self.classes_), None
