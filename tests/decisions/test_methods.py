"""Every classifier decides by its probabilities."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from bayesmargin.models.deciding import DecisionsMixin
from bayesmargin.models.registry import MODELS


class Oracle(DecisionsMixin, BaseEstimator):
    """Knows the probabilities of rows, which are their only feature, and learned from none."""

    classes_ = np.array(["no", "yes"])

    def __sklearn_is_fitted__(self):
        return True

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.column_stack([1.0 - X[:, 0], X[:, 0]])


def test_all_classifiers_have_them():
    for entry in MODELS.values():
        if entry.answers == "classes":
            assert issubclass(entry.load(), DecisionsMixin), entry.name


def test_rows_set_aside_take_the_place_of_rows_left_out():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 1))
    y = np.where(rng.random(4000) < X[:, 0], "yes", "no")
    known, (X, y) = (X[:2000], y[:2000]), (X[2000:], y[2000:])
    answers = Oracle().predict_or_abstain(X, 0.1, known=known)
    assert (answers.compressed() != y[~answers.mask]).mean() < 0.1
    sets = Oracle().predict_set(X, 0.9, empty=True, known=known)
    covered = sets[np.arange(2000), (y == "yes").astype(int)].mean()
    assert abs(covered - 0.9) < 0.03  # three of its standard errors
    with pytest.raises(ValueError, match=r"pass them as known=\(X, y\)"):
        Oracle().predict_set(X)
    asked = Oracle().predict_at_cost(X, [[0, 1], [5, 0]], no_answer=0.5)
    assert asked.mask.mean() == pytest.approx(((X > 0.1) & (X < 0.5)).mean())
