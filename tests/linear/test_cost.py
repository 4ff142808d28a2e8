"""``C="auto"`` of the linear model: chosen by rows left out of Gaussian fits."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import log_loss

import bayesmargin
from bayesmargin import BayesianLinearSVC
from bayesmargin.rows import open_rows

QUICK = {"C": "auto", "n_draws": 100, "n_chains": 2, "random_state": 0}


def rows(n_rows, n_features, n_classes=2, noise=1.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    weights = rng.standard_normal((n_features, n_classes)) / np.sqrt(n_features)
    return X, (X @ weights + noise * rng.gumbel(size=(n_rows, n_classes))).argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_cost_is_chosen_and_as_good_as_others(n_classes, tmp_path):
    X, y = rows(1200, 8, n_classes)
    X, y, X_new, y_new = X[:150], y[:150], X[150:], y[150:]
    model = BayesianLinearSVC(**QUICK).fit(X, y)
    assert model.profile_.best["C"] == model.C_
    loss = log_loss(y_new, model.predict_proba(X_new))
    for C in (0.01, 1.0, 100.0):
        other = BayesianLinearSVC(**{**QUICK, "C": C}).fit(X, y)
        assert (other.C_, other.profile_) == (C, None)
        assert loss < 1.005 * log_loss(y_new, other.predict_proba(X_new))
    model.save(tmp_path / "model")
    again = bayesmargin.load(tmp_path / "model")
    assert again.C_ == model.C_
    np.testing.assert_array_equal(again.profile_.loss, model.profile_.loss)


@pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")
def test_wide_and_sparse_rows_choose_in_their_span():
    X, y = rows(120, 900, noise=0.3)
    dense = BayesianLinearSVC(**QUICK, prior_scale="auto").fit(X, y)
    thin = BayesianLinearSVC(**QUICK, prior_scale="auto").fit(sparse.csr_array(X), y)
    assert pytest.approx(thin.C_) == dense.C_


def test_what_was_chosen_stays_in_later_parts():
    X, y = rows(500, 3, noise=3.0)
    later, labels = rows(500, 3, noise=0.05)
    model = BayesianLinearSVC(**QUICK).partial_fit(X, y, classes=[0, 1])
    cost = model.C_
    assert cost == model.partial_fit(later, labels).C_
    assert cost != BayesianLinearSVC(**QUICK).fit(later, labels).C_


def test_where_it_cannot_be_chosen_is_told(tmp_path):
    X, y = rows(60, 3)
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match="C='auto' is not known for rows from files"):
        BayesianLinearSVC(**QUICK).fit(open_rows(tmp_path / "x.npy"), y)
    with pytest.raises(ValueError, match="C='best'"):
        BayesianLinearSVC(C="best").fit(X, y)
