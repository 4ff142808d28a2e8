"""The estimator: contract, behaviour on easy and on awkward data."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from bayesmargin import DPMNLClassifier, load
from bayesmargin.foundation.threads import n_threads
from bayesmargin.models.infinite_svc import InfiniteSVC, classifier

# Short chains: what they say about themselves is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")
QUICK = {"n_sweeps": 30, "n_draws": 10, "random_state": 0}


@pytest.fixture(scope="module")
def moons():
    return make_moons(500, noise=0.15, random_state=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract():
    check_estimator(InfiniteSVC(n_sweeps=20, n_draws=5))


@pytest.mark.parametrize("method", ["ssgnht", "ssgld", "hmc", "gibbs"])
def test_local_experts_beat_one_line(moons, method):
    X, y = moons
    model = InfiniteSVC(C=5.0, sampler=method, **QUICK).fit(X[:300], y[:300])
    line = LogisticRegression().fit(X[:300], y[:300]).score(X[300:], y[300:])
    assert model.score(X[300:], y[300:]) > line + 0.03


@pytest.mark.parametrize("rule", ["calibrated", "probability", "vote", "score", "hard", "gibbs"])
def test_rules_give_probabilities(rule):
    X, y = load_iris(return_X_y=True)
    model = InfiniteSVC(prediction=rule, **QUICK).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert model.score(X, y) > 0.9
    assert np.array_equal(model.predict(X), proba.argmax(axis=1))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rule", ["calibrated", "probability", "score"])
def test_a_hard_hinge_gives_probabilities_too(rule, classes):
    """All pseudo-likelihoods of a row may be smaller than the smallest number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.digitize(X[:, 0] + rng.normal(size=200), [0.0, 1.0][: classes - 1])
    model = InfiniteSVC(C=1000.0, prediction=rule, **QUICK).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert len(np.unique(model.predict(X))) == classes


def test_far_from_all_data_the_nearest_component_is_named():
    """Even where a new component is so much more probable that no other has any share left."""
    X, y = make_blobs(400, centers=[[-20.0], [20.0]], cluster_std=0.1, random_state=0)
    model = InfiniteSVC(components__scatter=1e-3, **QUICK).fit(X, y)
    left, right = model.predict_component([[-20.0], [20.0]])
    assert left != right
    far = np.array([[-40.0], [-2000.0], [40.0], [2000.0]])
    assert model.predict_component(far).tolist() == [left, left, right, right]


def test_equal_seeds_give_equal_results_whatever_the_threads(moons):
    X, y = moons
    first = InfiniteSVC(n_chains=2, **QUICK).fit(X, y).predict_proba(X)
    second = InfiniteSVC(n_chains=2, n_jobs=2, **QUICK).fit(X, y).predict_proba(X)
    assert np.array_equal(first, second)


def test_split_and_merge_find_the_clusters_from_one():
    X, truth = make_blobs(600, centers=6, n_features=3, cluster_std=0.4, random_state=4)
    y = truth % 2
    model = InfiniteSVC(
        sampler__n_clusters=1,
        components__scatter=0.05,
        sampler__split_merge=5,
        n_sweeps=60,
        random_state=1,
    )
    model.fit(X, y)
    assert 5 <= np.median(model.n_components_) <= 9
    assert model.score(X, y) > 0.98
    together = model.co_clustering(np.argsort(truth))
    assert together[:100, :100].mean() > 0.9
    assert together[:100, 100:].mean() < 0.01


def test_fitted_attributes(moons):
    X, y = moons
    model = InfiniteSVC(concentration="learn", **QUICK).fit(X, y)
    assert model.n_components_.shape == (1, 15)
    assert np.ptp(model.concentration_) > 0
    parts = {"start", "assignments", "split_merge", "weights", "calibration"}
    assert set(model.timings_) == parts
    assert {"components", "partition", "moved"} <= set(model.diagnostics_)
    assert model.predict_component(X).max() < model.n_components_[0, -1]
    assert all(sizes.sum() == len(y) for sizes in model.component_sizes())
    assert model.co_clustering([0, 1]).shape == (2, 2)


@pytest.mark.parametrize("case", ["duplicates", "constant", "wide", "two rows", "huge", "outlier"])
def test_awkward_data(case):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    if case == "duplicates":
        X = np.repeat(X[:3], 20, axis=0)
    elif case == "constant":
        X[:, 1:] = 7.0
    elif case == "wide":
        X = rng.normal(size=(12, 40))
        y = y[:12]
    elif case == "two rows":
        X, y = X[:2], y[:2]
    elif case == "huge":
        X *= 1e12
    else:
        X[0] = 1e9
    model = InfiniteSVC(**QUICK).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("kind", [InfiniteSVC, DPMNLClassifier])
def test_a_column_that_was_constant_is_ignored_in_new_rows(kind):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(200, 2)), np.full(200, 3.0)])
    y = (X[:, 0] > 0.0).astype(int)
    model = kind(n_sweeps=20, random_state=0).fit(X, y)
    moved = X + np.array([0.0, 0.0, 5.0])
    np.testing.assert_array_equal(model.predict_proba(moved), model.predict_proba(X))
    if kind is InfiniteSVC:
        assert all(e.centre[2] == 3.0 and np.all(e.coef[:, 2] == 0.0) for e in model.experts())


def test_all_cores_are_no_more_threads_than_cores(monkeypatch):
    asked, run = [], classifier.run_sweeps
    monkeypatch.setattr(
        classifier, "run_sweeps", lambda *given: asked.append(given[2]) or run(*given)
    )
    X, y = make_moons(60, noise=0.2, random_state=0)
    InfiniteSVC(**QUICK).set_params(n_chains=9, n_jobs=-1).fit(X, y)
    assert asked == [n_threads(-1, 9)]


def _table_with_flags():
    """A number and two flags; the flags shift the line between the classes."""
    rng = np.random.default_rng(0)
    age, flags = rng.normal(size=400), rng.integers(0, 2, size=(400, 2))
    y = (age + flags @ [1.5, -1.5] + 0.3 * rng.normal(size=400) > 0).astype(int)
    return np.column_stack([flags[:, 0], age, flags[:, 1], np.ones(400)]), y


def test_flags_can_be_kept_from_the_gaussians(tmp_path):
    """With them, every combination of flags is a component that no row leaves."""
    X, y = _table_with_flags()
    frozen = InfiniteSVC(components__covariates=True, n_sweeps=100, random_state=0).fit(X, y)
    assert frozen.diagnostics_["moved"] == 0.0
    model = InfiniteSVC(components__covariates="continuous", n_sweeps=100, random_state=0).fit(X, y)
    default = InfiniteSVC(n_sweeps=100, random_state=0).fit(X, y)
    np.testing.assert_array_equal(default.predict_proba(X), model.predict_proba(X))
    assert model.diagnostics_["moved"] > 0.01
    assert model.score(X, y) > 0.9
    assert model._problem.with_covariates.tolist() == [1]
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict_component(X), model.predict_component(X))


def test_flags_alone_leave_nothing_to_the_gaussians():
    X, y = _table_with_flags()
    flags = X[:, [0, 2]]
    first = InfiniteSVC(components__covariates="continuous", **QUICK).fit(flags, y)
    second = InfiniteSVC(components__covariates=False, **QUICK).fit(flags, y)
    np.testing.assert_array_equal(first.predict_proba(flags), second.predict_proba(flags))


def test_columns_of_one_kind_are_all_seen_by_the_gaussians(moons):
    """By default flags are left out only beside other columns, which can take their place."""
    X, y = _table_with_flags()
    for rows, labels in ((X[:, [0, 2]], y), moons):
        default = InfiniteSVC(**QUICK).fit(rows, labels).predict_proba(rows)
        every = (
            InfiniteSVC(components__covariates=True, **QUICK).fit(rows, labels).predict_proba(rows)
        )
        np.testing.assert_array_equal(default, every)


def test_without_covariates_every_component_votes_by_size(moons):
    X, y = moons
    model = InfiniteSVC(components__covariates=False, **QUICK).fit(X, y)
    assert model.score(X, y) > 0.8


def test_auxiliary_components_and_no_intercept(moons):
    X, y = moons
    model = InfiniteSVC(C=5.0, sampler__new_components=3, fit_intercept=False, **QUICK).fit(X, y)
    assert model.score(X, y) > 0.9


def test_works_in_a_grid_search_and_survives_pickling(moons):
    X, y = moons
    search = GridSearchCV(
        InfiniteSVC(**QUICK), {"C": [0.01, 5.0], "components__scatter": [0.3]}, cv=2
    ).fit(X, y)
    assert search.best_params_["C"] == 5.0
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert np.array_equal(again.predict_proba(X), search.predict_proba(X))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("C", 0.0), ("C", "big"), ("margin", -1.0), ("concentration", 0.0), ("sampler", "nuts"),
        ("n_sweeps", 0), ("sampler__burn_in", 30), ("prediction", "best"),
        ("sampler__new_components", "prior"), ("sampler__new_components", 0),
        ("components", "round"), ("components__scatter", -2.0), ("sampler__n_clusters", 0),
        ("sampler__split_merge", -1), ("prior_scale", 0.0), ("sampler__weights__step", 0.0),
        ("sampler__weights__batch_size", 0), ("sampler__weights__diffusion", 2.0),
        ("random_state", -3),
    ],
)  # fmt: skip
def test_bad_parameters_are_named(moons, name, value):
    with pytest.raises(ValueError, match=name.split("__")[-1]):
        InfiniteSVC(**{**QUICK, name: value}).fit(*moons)


def test_bad_data_are_refused(moons):
    X, y = moons
    with pytest.raises(ValueError, match="2 classes"):
        InfiniteSVC().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="NaN"):
        InfiniteSVC().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="features"):
        InfiniteSVC(**QUICK).fit(X, y).predict(X[:, :1])


@pytest.mark.parametrize("rule", ["calibrated", "probability", "vote", "score", "hard"])
def test_predictions_leave_the_generator_of_the_user_alone(moons, rule):
    X, y = moons
    for state in (np.random.RandomState(0), np.random.default_rng(0)):
        model = InfiniteSVC(**{**QUICK, "random_state": state}, prediction=rule).fit(X, y)
        before = pickle.dumps(state)
        model.predict_proba(X[:5])
        model.predict_votes(X[:5])
        assert pickle.dumps(state) == before


def test_settings_of_predictions_that_were_changed_after_the_fit(moons):
    X, y = moons
    model = InfiniteSVC(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"prediction='best' is not allowed.*vote"):
        model.set_params(prediction="best").predict(X)
    with pytest.raises(ValueError, match="n_jobs='all'"):
        model.set_params(prediction="vote", n_jobs="all").predict(X)
