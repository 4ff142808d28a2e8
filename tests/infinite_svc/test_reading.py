"""Experts in the units of the user say what predictions say."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from bayesmargin import InfiniteSVC, load

# Short chains: what they say about themselves is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")
QUICK = {"n_sweeps": 30, "n_draws": 1, "random_state": 0, "prediction": "hard"}


def rows_of(classes):
    """Groups at odd scales and offsets, several of them in a class."""
    X, group = make_blobs(300, centers=6, n_features=3, cluster_std=1.5, random_state=3)
    return X * [1.0, 1e3, 1e-3] + [5.0, -2e3, 1.0], group % classes


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
def test_each_row_gets_the_answer_of_the_expert_that_rules_there(classes, intercept):
    X, y = rows_of(classes)
    model = InfiniteSVC(fit_intercept=intercept, **QUICK).fit(X, y)
    experts, rules = model.experts(), model.predict_component(X)
    assert len(experts) > 1
    scores = np.array(
        [e.coef @ x + e.intercept for x, e in zip(X, [experts[k] for k in rules], strict=True)]
    )
    answer = (scores[:, 0] > 0).astype(int) if classes == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), answer)


def test_sizes_and_centres_are_those_of_the_rows(tmp_path):
    """The centre of a Gaussian is the mean of its rows, drawn to that of all by mean_strength."""
    X, y = rows_of(2)
    model = InfiniteSVC(components__mean_strength=0.5, **QUICK).fit(X, y)
    model.save(tmp_path / "model")
    labels, centre = model._labels[-1], X.mean(axis=0)
    for found in (model.experts(), load(tmp_path / "model").experts()):
        assert [expert.size for expert in found] == np.bincount(labels).tolist()
        for k, expert in enumerate(found):
            members = X[labels == k]
            mean = (0.5 * centre + members.sum(axis=0)) / (0.5 + len(members))
            np.testing.assert_allclose((expert.centre - mean) / X.std(axis=0), 0.0, atol=1e-6)


@pytest.mark.parametrize(("covariates", "seen"), [(False, []), ("continuous", [0, 2])])
def test_features_that_a_gaussian_does_not_see(covariates, seen):
    X, y = rows_of(2)
    X[:, 1] = X[:, 1] > np.median(X[:, 1])
    model = InfiniteSVC(components__covariates=covariates, **QUICK).fit(X, y)
    for expert in model.experts(draw=0):
        assert np.flatnonzero(np.isfinite(expert.centre)).tolist() == seen
        assert np.isfinite(expert.coef).all()


def test_a_model_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        InfiniteSVC().experts()
