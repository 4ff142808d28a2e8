"""What our users have beside us works with our models: polars, Arrow, scikit-learn, MAPIE, shap."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import load_wine
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayesmargin import BayesianLinearSVC


def estimator(**settings):
    return BayesianLinearSVC(n_draws=200, n_chains=2, random_state=0, **settings)


@pytest.fixture(scope="module")
def wine():
    """Scaled rows as a data frame, and the names of the classes."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    scaled = pd.DataFrame(StandardScaler().fit_transform(X), columns=list(X))
    return scaled.iloc[:, :6], np.array(["a", "b", "c"])[y]


@pytest.fixture(scope="module")
def two(wine):
    """Rows of two of the classes."""
    X, y = wine
    return X[y != "c"].reset_index(drop=True), y[y != "c"]


@pytest.fixture(scope="module")
def model(two):
    return estimator().fit(*two)


def test_polars_frames_are_read_by_their_names(two, model):
    polars = pytest.importorskip("polars")
    X, y = polars.from_pandas(two[0]), polars.Series("kind", two[1])
    fitted = estimator().fit(X, y)
    assert list(fitted.feature_names_in_) == list(two[0])
    np.testing.assert_allclose(fitted.predict_proba(X), model.predict_proba(two[0]))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(X.rename({X.columns[0]: "other"}))


def test_polars_comes_out_where_pipelines_are_asked_for_it(two):
    polars = pytest.importorskip("polars")
    pipeline = make_pipeline(StandardScaler(), estimator()).set_output(transform="polars")
    pipeline.fit(polars.from_pandas(two[0]), two[1])
    assert list(pipeline[-1].feature_names_in_) == list(two[0])
    assert pipeline.score(polars.from_pandas(two[0]), two[1]) > 0.9


def test_arrow_tables_are_rows(two, model):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.Table.from_pandas(two[0])
    fitted = estimator().fit(table, pyarrow.array(two[1]))
    np.testing.assert_allclose(fitted.predict_proba(table), model.predict_proba(two[0]))


def test_one_model_a_class_of_scikit_learn(wine):
    X, y = wine
    fitted = OneVsRestClassifier(estimator()).fit(X, y)
    assert fitted.score(X, y) > 0.9
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)


def test_weights_of_rows_are_routed_through_a_pipeline(two):
    X, y = two
    weight = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = estimator().set_fit_request(sample_weight=True)
        asked.set_score_request(sample_weight=True)
        routed = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), asked)
        routed.fit(X, y, sample_weight=weight)
        found = cross_validate(routed, X, y, params={"sample_weight": weight}, cv=3)
    scaled = StandardScaler().fit(X).transform(X)
    direct = estimator().fit(scaled, y, sample_weight=weight)
    np.testing.assert_allclose(routed.predict_proba(X), direct.predict_proba(scaled))
    assert found["test_score"].mean() > 0.9


def test_columns_are_selected_by_the_weights(two, model):
    X, _ = two
    chosen = SelectFromModel(model, prefit=True, max_features=2, threshold=-np.inf)
    largest = np.argsort(-np.abs(model.coef_[0]))[:2]
    assert chosen.transform(X.to_numpy()).shape == (len(X), 2)
    assert set(np.flatnonzero(chosen.get_support())) == set(largest)


def test_prediction_sets_of_mapie_cover(wine):
    classification = pytest.importorskip("mapie.classification")
    X, y = wine[0].to_numpy(), wine[1]
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    rows, conformal = order[: len(y) // 2], order[len(y) // 2 :]
    fitted = estimator().fit(X[rows], y[rows])
    sets = classification.SplitConformalClassifier(fitted, confidence_level=0.9, prefit=True)
    sets.conformalize(X[conformal], y[conformal])
    chosen, inside = sets.predict_set(X[conformal])
    assert list(chosen) == list(fitted.predict(X[conformal]))
    place = np.searchsorted(fitted.classes_, y[conformal])
    assert inside[np.arange(len(place)), place, 0].mean() >= 0.9


def test_shap_explains_scores_by_the_weights(two):
    shap = pytest.importorskip("shap")
    X = two[0].to_numpy()
    model = estimator().fit(X, two[1])
    background = shap.maskers.Independent(X, max_samples=len(X))
    linear = shap.LinearExplainer((model.coef_[0], model.intercept_[0]), background)
    values = linear(X[:5]).values
    np.testing.assert_allclose(values, model.coef_[0] * (X[:5] - X.mean(axis=0)), rtol=1e-6)
    asked = shap.Explainer(model.decision_function, X[:30], algorithm="permutation", seed=0)
    found = asked(X[:3])
    scores = model.decision_function(X[:3])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, scores, rtol=1e-6)
