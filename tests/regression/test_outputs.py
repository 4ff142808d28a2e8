"""Several values a row, each with weights and noise of its own."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVR, BayesianQuantileRegressor, load
from bayesmargin.errors import DataError

QUICK = {"n_draws": 200, "random_state": 0}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    noise = rng.standard_t(4, size=(400, 2)) * [0.3, 30.0]
    return X, X @ rng.standard_normal((3, 2)) * [1.0, 50.0] + [0.0, 1000.0] + noise


@pytest.mark.parametrize("kind", [BayesianLinearSVR, BayesianQuantileRegressor])
def test_each_value_has_the_fit_that_it_has_alone(kind, rows, tmp_path):
    X, Y = rows
    both = kind(C="auto", **QUICK).fit(X, Y)
    assert both.coef_.shape == (2, 3)
    assert both.posterior_["coef"].shape == (4, 200, 2, 3)
    assert both.posterior_.summary().index[0] == "coef[0, 0]"
    values, deviation = both.predict(X, return_std=True)
    ends = both.predict_interval(X, 0.8)
    assert values.shape == deviation.shape == Y.shape
    assert ends.shape == (400, 2, 2)
    for k in range(2):
        alone = kind(C="auto", **QUICK).fit(X, Y[:, k])
        spread = alone.posterior_["coef"].std(axis=(0, 1))
        assert np.abs((both.coef_[k] - alone.coef_) / spread).max() < 0.4
        assert both.C_[k] == pytest.approx(alone.C_, rel=1e-3)
        held = (ends[:, k, 0] <= Y[:, k]) & (Y[:, k] <= ends[:, k, 1])
        assert held.mean() == pytest.approx(0.8, abs=0.05)
    assert both.score(X, Y) > 0.3
    robust = both.posterior_.robust()
    assert robust["coef"].shape == (4, 200, 2, 3)
    both.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), values)
    np.testing.assert_array_equal(again.predict_interval(X, 0.8), ends)


def test_further_rows_have_as_many_values(rows):
    X, Y = rows
    model = BayesianLinearSVR(C="auto", **QUICK).partial_fit(X[:200], Y[:200])
    before = model.posterior_["coef"].std(axis=(0, 1))
    model.partial_fit(X[200:], Y[200:])
    assert (model.posterior_["coef"].std(axis=(0, 1)) < before).all()
    with pytest.raises(DataError, match="n_outputs=2"):
        model.partial_fit(X, Y[:, 0])


def test_several_levels_of_several_values_are_refused(rows):
    X, Y = rows
    with pytest.raises(DataError, match="MultiOutputRegressor"):
        BayesianQuantileRegressor([0.1, 0.9], **QUICK).fit(X, Y)
