"""BayesianLinearSVR and BayesianQuantileRegressor as scikit-learn estimators."""

import pickle

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes
from sklearn.linear_model import QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesmargin import BayesianLinearSVR, BayesianQuantileRegressor
from bayesmargin.errors import CoverageWarning, DataError
from bayesmargin.rows import open_rows

QUICK = {"n_draws": 200, "random_state": 0}
BOTH = (BayesianLinearSVR, BayesianQuantileRegressor)


@parametrize_with_checks(
    [
        BayesianLinearSVR(**QUICK),
        BayesianQuantileRegressor(**QUICK),
        BayesianQuantileRegressor(C="auto", **QUICK),
    ]
)
@pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return pandas.DataFrame(StandardScaler().fit_transform(X), columns=X.columns), y


@pytest.mark.filterwarnings("ignore:C=:bayesmargin.errors.CoverageWarning")
def test_the_mode_is_the_solution_of_linear_svr(diabetes):
    """A posterior of many rows is nearly normal: its mean lies at the mode, to within its width."""
    X, y = diabetes
    search = {"tol": 1e-8, "max_iter": 1_000_000, "random_state": 0}  # its default stops 0.1 away
    known = LinearSVR(C=1.0, epsilon=10.0, **search).fit(X, y)
    model = BayesianLinearSVR(C=1.0, epsilon=10.0, random_state=0).fit(X, y)
    assert model.coef_.shape == known.coef_.shape
    assert model.intercept_.shape == known.intercept_.shape
    away = (model.coef_ - known.coef_) / model.posterior_["coef"].std(axis=(0, 1))
    assert np.sqrt(np.mean(away**2)) < 0.6
    sharp = BayesianLinearSVR(C=100.0, epsilon=10.0, prior_scale=0.1, random_state=0).fit(X, y)
    assert sharp.coef_ == pytest.approx(known.coef_, abs=0.15)  # the same mode, a hundredth as wide
    assert sharp.intercept_ == pytest.approx(known.intercept_, abs=0.15)


def test_quantiles_are_those_of_scikit_learn(diabetes):
    X, y = diabetes
    levels = [0.9, 0.1, 0.5]
    model = BayesianQuantileRegressor(levels, C="auto", prior_scale=10.0, random_state=0).fit(X, y)
    assert model.coef_.shape == (3, 10)
    assert model.intercept_.shape == model.C_.shape == (3,)
    assert model.posterior_["coef"].shape == (4, 1000, 3, 10)
    assert model.posterior_.summary().index[0] == "coef[0.9, age]"
    spread = model.posterior_["coef"].std(axis=(0, 1))
    for k, level in enumerate(levels):
        known = QuantileRegressor(quantile=level, alpha=0.0).fit(X, y)
        assert np.sqrt(np.mean(((model.coef_[k] - known.coef_) / spread[k]) ** 2)) < 1.0
    values, deviation = model.predict(X, return_std=True)
    assert values.shape == deviation.shape == (442, 3)
    assert (values[:, 1] <= values[:, 2]).all()
    assert (values[:, 2] <= values[:, 0]).all()
    assert (np.asarray(y)[:, None] < values).mean(axis=0) == pytest.approx(levels, abs=0.03)
    one = BayesianQuantileRegressor(0.9, C="auto", **QUICK).fit(X, y)
    assert one.coef_.shape == (10,)
    assert isinstance(one.intercept_, float)
    assert one.predict(X).shape == (442,)


@pytest.mark.parametrize("size", [1e-8, 1e8])
@pytest.mark.parametrize("kind", BOTH)
def test_what_is_learned_has_the_units_of_the_values(kind, size, diabetes):
    X, y = diabetes
    plain = kind(C="auto", **QUICK).fit(X, y)
    other = kind(C="auto", **QUICK).fit(X, size * y + 100.0 * size)
    assert other.coef_ / size == pytest.approx(plain.coef_, abs=0.2)
    assert other.intercept_ / size - 100.0 == pytest.approx(plain.intercept_, abs=0.2)
    assert other.C_ * size == pytest.approx(plain.C_, rel=1e-3)


def test_predictions_agree_with_the_draws(diabetes):
    X, y = diabetes
    model = BayesianLinearSVR(C="auto", **QUICK).fit(X, y)
    draws = (
        model.posterior_.flat("coef") @ X.to_numpy().T + model.posterior_.flat("intercept")[:, None]
    )
    values, deviation = model.predict(X, return_std=True)
    np.testing.assert_allclose(values, draws.mean(axis=0))
    np.testing.assert_allclose(deviation, draws.std(axis=0, ddof=1))
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize("kind", BOTH)
def test_rows_of_every_kind_give_one_posterior(kind, diabetes, tmp_path):
    X, y = diabetes[0].to_numpy(), diabetes[1].to_numpy()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    plain = kind(C="auto", **QUICK).fit(X, y)
    np.save(tmp_path / "x.npy", X)
    frame = pandas.DataFrame(X).set_axis([f"f{j}" for j in range(10)], axis=1)
    frame["price"] = y
    frame.to_parquet(tmp_path / "rows.parquet", index=False)
    others = [
        kind(C="auto", **QUICK).fit(sparse.csr_array(X), y),
        kind(C="auto", **QUICK).fit(open_rows(tmp_path / "x.npy"), y),
        kind(C="auto", **QUICK).fit(open_rows(tmp_path / "rows.parquet", label="price")),
    ]
    spread = plain.posterior_["coef"].std(axis=(0, 1))
    for other in others:
        assert np.abs((other.coef_ - plain.coef_) / spread).max() < 0.3
        assert pytest.approx(plain.C_, rel=1e-6) == other.C_
    filed = others[1].predict(open_rows(tmp_path / "x.npy"))
    np.testing.assert_allclose(filed, others[1].predict(X))


@pytest.mark.parametrize("kind", BOTH)
def test_a_weight_of_two_is_a_row_given_twice(kind, diabetes):
    X, y = diabetes[0].to_numpy()[:60], diabetes[1].to_numpy()[:60]
    weight = np.arange(60) % 3
    again = np.repeat(np.arange(60), weight)
    first = kind(C="auto", **QUICK).fit(X, y, sample_weight=weight)
    second = kind(C="auto", **QUICK).fit(X[again], y[again])
    np.testing.assert_array_equal(first.posterior_["coef"], second.posterior_["coef"])


@pytest.mark.parametrize("sampler", ["ssgld", "sghmc", "hmc", "lmc", "gibbs", "srwm"])
@pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")
def test_samplers_agree(sampler, diabetes):
    X, y = diabetes[0].iloc[:, [2, 8]], diabetes[1]
    settings = {"C": "auto", "quantile": 0.8, "n_draws": 400, "random_state": 0}
    plain = BayesianQuantileRegressor(**settings).fit(X, y)
    other = BayesianQuantileRegressor(sampler=sampler, **settings).fit(X, y)
    spread = plain.posterior_["coef"].std(axis=(0, 1))
    assert np.abs((other.coef_ - plain.coef_) / spread).max() < 0.35
    assert other.posterior_["coef"].std(axis=(0, 1)) == pytest.approx(spread, rel=0.3)


@pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")
def test_more_features_than_rows_and_a_laplace_prior():
    rng = np.random.default_rng(0)
    X = sparse.random_array((80, 2000), density=0.05, rng=rng, format="csr")
    y = np.asarray(X[:, [0]].todense()).ravel() + 0.1 * rng.standard_normal(80)
    for prior in ("gaussian", "laplace"):
        model = BayesianLinearSVR(C="auto", prior=prior, n_draws=50, random_state=0).fit(X, y)
        assert np.isfinite(model.predict(X)).all()
        assert np.corrcoef(model.predict(X), y)[0, 1] > 0.3


def test_pipeline_search_clone_and_pickle(diabetes):
    X, y = diabetes
    pipeline = make_pipeline(StandardScaler(), BayesianLinearSVR(n_draws=50, random_state=0))
    grid = {"bayesianlinearsvr__C": [0.03, "auto"], "bayesianlinearsvr__epsilon": ["auto", 5.0]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.3
    assert clone(search.best_estimator_).get_params()["bayesianlinearsvr__n_draws"] == 50
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    logs = TransformedTargetRegressor(
        BayesianQuantileRegressor(0.9, C="auto", n_draws=50, random_state=0),
        func=np.log,
        inverse_func=np.exp,
    ).fit(X, y)
    assert np.mean(y < logs.predict(X)) == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (BayesianLinearSVR(C=0.0), "C=0.0"),
        (BayesianLinearSVR(C="much"), "C='much'.*'auto'"),
        (BayesianLinearSVR(epsilon=-0.1), "epsilon=-0.1"),
        (BayesianLinearSVR(epsilon=True), "epsilon=True"),
        (BayesianLinearSVR(epsilon="wide"), "epsilon='wide'.*'auto'"),
        (BayesianLinearSVR(prior="flat"), "prior='flat'"),
        (BayesianQuantileRegressor(1.0), "quantile=1.0"),
        (BayesianQuantileRegressor(-0.1), "quantile=-0.1"),
        (BayesianQuantileRegressor([0.5, np.nan]), "quantile=nan"),
        (BayesianQuantileRegressor([0.2, 0.2]), "quantile=0.2 is given more than once"),
        (BayesianQuantileRegressor([0.2, "half"]), "quantile='half'"),
        (BayesianQuantileRegressor([]), r"quantile=\[\]"),
    ],
)
def test_bad_parameters_are_named_before_any_work(model, words, diabetes):
    with pytest.raises(ValueError, match=words):
        model.fit(*diabetes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda y: np.where(np.arange(len(y)) == 3, np.nan, y), "NaN, first in row 3"),
        (lambda y: np.where(np.arange(len(y)) == 3, np.inf, y), "infinity, first in row 3"),
        (lambda y: np.where(np.arange(len(y)) == 3, 1e300, y), r"1e\+300, first in row 3"),
        (lambda y: ["much"] * len(y), "y holds 'much' in row 0"),
        (lambda y: [*map(float, y[:-1]), "much"], "y holds"),
        (lambda y: np.full(len(y), 7.0), "every y is the same"),
        (lambda y: y[:-1], "inconsistent numbers of samples"),
    ],
)
@pytest.mark.parametrize("kind", BOTH)
def test_bad_values_are_refused(kind, change, words, diabetes):
    X, y = diabetes
    with pytest.raises(ValueError, match=words):
        kind(C="auto").fit(X, change(np.asarray(y)))


def test_one_row_is_too_few_to_learn_from():
    with pytest.raises(DataError, match="n_samples=1"):
        BayesianLinearSVR().fit([[1.0]], [2.0])


@pytest.mark.filterwarnings("ignore:C=:bayesmargin.errors.CoverageWarning")
def test_a_constant_is_learned_where_nothing_else_is():
    X = np.arange(20.0)[:, None]
    model = BayesianLinearSVR(C=10.0, epsilon=0.0, prior_scale=100.0, **QUICK).fit(
        X, np.full(20, 7.0)
    )
    assert model.predict([[3.0]]) == pytest.approx(7.0, abs=0.1)


@pytest.mark.parametrize("cost", [1e-3, 10.0])
def test_a_cost_far_from_the_noise_is_told(cost, diabetes):
    word = "narrower" if cost > 1.0 else "wider"
    with pytest.warns(CoverageWarning, match=f"C={cost:g} is .* times {word} .*C='auto'"):
        BayesianQuantileRegressor(C=cost, prior_scale=300.0, **QUICK).fit(*diabetes)
