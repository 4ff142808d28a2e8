"""BayesianLinearSVC as a scikit-learn estimator."""

import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesmargin import BayesianLinearSVC
from bayesmargin.errors import BayesmarginWarning, BiasWarning
from bayesmargin.posterior import import_arviz
from bayesmargin.rows import open_rows


# With a seed: the check that probabilities rank rows like mean scores depends on it. A probability
# heeds the spread of a score, too, and with one seed in 25 two rows whose scores differ by less
# than 0.01 change places.
@parametrize_with_checks([BayesianLinearSVC(n_draws=200, random_state=0)])
@pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    scaled = pandas.DataFrame(StandardScaler().fit_transform(X), columns=X.columns)
    labels = np.where(y == 1, "benign", "malignant")
    return train_test_split(scaled, labels, random_state=0)


@pytest.fixture(scope="module")
def model(cancer):
    return BayesianLinearSVC(random_state=1).fit(cancer[0], cancer[2])


def test_attributes(model, cancer):
    assert model.classes_.tolist() == ["benign", "malignant"]
    assert model.n_features_in_ == 30
    assert list(model.feature_names_in_) == list(cancer[0].columns)
    assert model.coef_.shape == (1, 30)
    assert model.intercept_.shape == (1,)
    assert model.posterior_["coef"].shape == (4, 1000, 30)
    assert model.posterior_["intercept"].shape == (4, 1000)
    np.testing.assert_allclose(model.coef_[0], model.posterior_["coef"].mean(axis=(0, 1)))
    assert model.diagnostics_.trustworthy
    assert "can be trusted" in str(model.diagnostics_)


def test_predictions_agree_with_each_other(model, cancer):
    X, y = cancer[1], cancer[3]
    assert model.score(X, y) > 0.94
    scores, deviation = model.decision_function(X, return_std=True)
    probabilities, votes = model.predict_proba(X), model.predict_votes(X)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(scores > 0).astype(int)])
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_allclose(votes.sum(axis=1), 1.0)
    for whole, wanted in zip(
        model.predict_lead(X, return_std=True), (np.abs(scores), deviation), strict=True
    ):
        np.testing.assert_array_equal(whole, wanted)
    rows = np.column_stack([X, np.ones(len(X))])
    draws = np.concatenate(
        [model.posterior_["coef"], model.posterior_["intercept"][..., None]], axis=2
    ).reshape(-1, 31)
    all_scores = rows @ draws.T
    np.testing.assert_allclose(scores, all_scores.mean(axis=1), atol=1e-8)
    np.testing.assert_allclose(deviation, all_scores.std(axis=1, ddof=1), rtol=1e-6)
    np.testing.assert_allclose(votes[:, 1], (all_scores > 0).mean(axis=1))


def test_equal_seeds_give_equal_draws_for_any_number_of_threads(cancer):
    X, y = cancer[0], cancer[2]
    fits = [
        BayesianLinearSVC(random_state=3, n_draws=150, n_jobs=jobs).fit(X, y) for jobs in (1, 2, 4)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(fits[0].posterior_["coef"], other.posterior_["coef"])
        np.testing.assert_array_equal(fits[0].predict_proba(X), other.predict_proba(X))
    different = BayesianLinearSVC(random_state=4, n_draws=150).fit(X, y)
    assert not np.array_equal(fits[0].posterior_["coef"], different.posterior_["coef"])


@pytest.mark.parametrize("missing", [0, 1, 3])
def test_a_class_without_weight_does_not_count_in_files_either(tmp_path, missing):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)).astype(np.float32)
    y = np.arange(400) % 4
    weight = np.where(y == missing, 0.0, 1.0)
    np.save(tmp_path / "x.npy", X)
    settings = {"random_state": 0, "n_draws": 200}
    filed = BayesianLinearSVC(**settings).fit(open_rows(tmp_path / "x.npy"), y, weight)
    assert filed.classes_.tolist() == [k for k in range(4) if k != missing]
    held = BayesianLinearSVC(**settings).fit(X, y, weight)
    difference = np.abs(filed.predict_proba(X) - held.predict_proba(X))
    assert difference.mean() < 0.05


def test_a_weight_of_two_is_a_row_given_twice(cancer):
    X, y = cancer[0].to_numpy()[:60], cancer[2][:60]
    weight = np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weight)
    first = BayesianLinearSVC(random_state=0, n_draws=100).fit(X, y, sample_weight=weight)
    second = BayesianLinearSVC(random_state=0, n_draws=100).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(first.posterior_["coef"], second.posterior_["coef"])


def test_pipeline_search_clone_and_pickle(cancer):
    X, y = cancer[0], cancer[2]
    pipeline = make_pipeline(StandardScaler(), BayesianLinearSVC(n_draws=50, random_state=0))
    search = GridSearchCV(
        pipeline, {"bayesianlinearsvc__C": [0.1, 1.0]}, cv=2, scoring="neg_log_loss"
    )
    search.fit(X[:120], y[:120])
    assert search.best_score_ > -0.5
    copy = clone(search.best_estimator_)
    assert copy.get_params()["bayesianlinearsvc__n_draws"] == 50
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_partial_fit_in_two_parts_is_near_one_fit(cancer):
    X, y = cancer[0].to_numpy(), cancer[2]
    whole = BayesianLinearSVC(random_state=0).fit(X, y)
    parts = BayesianLinearSVC(random_state=0)
    parts.partial_fit(X[:200], y[:200], classes=["benign", "malignant"])
    after_one = parts.posterior_["coef"].std(axis=(0, 1)).mean()
    parts.partial_fit(X[200:], y[200:])
    spread = whole.posterior_["coef"].std(axis=(0, 1))
    shift = (parts.coef_[0] - whole.coef_[0]) / spread
    assert np.sqrt(np.mean(shift**2)) < 0.4  # the Gaussian hand-over is an approximation
    ratio = parts.posterior_["coef"].std(axis=(0, 1)) / spread
    assert 0.85 < ratio.mean() < 1.15
    assert parts.posterior_["coef"].std(axis=(0, 1)).mean() < after_one


def test_many_small_parts_do_not_make_the_posterior_narrow():
    """An inverse of an estimated covariance is too large; it was 17% here after ten parts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 30))
    y = (X @ rng.normal(size=30) / 3 + rng.normal(size=2000) > 0).astype(int)
    spread = BayesianLinearSVC(random_state=0).fit(X, y).posterior_["coef"].var(axis=(0, 1))
    model = BayesianLinearSVC(n_draws=100)
    for k, part in enumerate(np.array_split(np.arange(2000), 10)):
        model.set_params(random_state=k).partial_fit(X[part], y[part], classes=[0, 1])
    ratio = model.posterior_["coef"].var(axis=(0, 1)) / spread
    assert 0.93 < ratio.mean() < 1.15


@pytest.mark.filterwarnings("ignore::bayesmargin.errors.StepSizeWarning")
def test_rows_that_contradict_the_summary_of_earlier_ones_are_not_certified():
    """All rows of one class and then all of the other: half of the new ones were predicted right.

    Parts in which the classes are mixed say nothing of the kind, also where the first is small.
    """
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    X = rng.normal(size=(2000, 5)) + np.outer(2 * y - 1, [0.5, 0.3, 0.2, 0.0, 0.0])
    model = BayesianLinearSVC(random_state=0, n_draws=300)
    for part in (slice(0, 40), slice(40, 140), slice(140, 2000)):
        model.partial_fit(X[part], y[part], classes=[0, 1])
        assert model.diagnostics_.trustworthy
    model = BayesianLinearSVC(random_state=0, n_draws=300)
    model.partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    with pytest.warns(BiasWarning, match="mix the classes in every call of partial_fit"):
        model.partial_fit(X[y == 1], y[y == 1])
    assert model.diagnostics_.contradiction > 2.0
    assert "contradict the summary of earlier ones" in str(model.diagnostics_)


@pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")
def test_partial_fit_from_few_draws():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), np.arange(60) % 2
    model = BayesianLinearSVC(n_chains=1, n_draws=4, random_state=0)
    model.partial_fit(X[:30], y[:30], classes=[0, 1])
    with pytest.raises(ValueError, match="4 draws are too few for that: increase n_draws"):
        model.partial_fit(X[30:], y[30:])
    model = BayesianLinearSVC(n_chains=2, n_draws=10, random_state=0)  # fewer draws than weights
    model.partial_fit(X[:30], y[:30], classes=[0, 1]).partial_fit(X[30:], y[30:])
    assert np.isfinite(model.coef_).all()


def test_partial_fit_complains_clearly(cancer):
    X, y = cancer[0].to_numpy(), cancer[2]
    with pytest.raises(ValueError, match="classes=None"):
        BayesianLinearSVC().partial_fit(X, y)
    model = BayesianLinearSVC(n_draws=50, random_state=0)
    model.partial_fit(X, y, classes=["benign", "malignant"])
    with pytest.raises(ValueError, match="'unheard'"):
        model.partial_fit(X[:2], ["benign", "unheard"])
    with pytest.raises(ValueError, match="differ from those"):
        model.partial_fit(X, y, classes=["a", "b"])


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_more_than_two_classes(multi_class, monkeypatch):
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = BayesianLinearSVC(multi_class=multi_class, random_state=0, n_draws=300).fit(X, y)
    assert model.posterior_["coef"].shape == (4, 300, 3, 13)
    assert model.posterior_["intercept"].shape == (4, 300, 3)
    assert model.coef_.shape == (3, 13)
    assert model.score(X, y) > 0.97
    probabilities = model.predict_proba(X)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), model.predict(X))
    assert model.predict_votes(X).shape == (178, 3)
    scores, spread = model.decision_function(X, return_std=True)
    assert spread.shape == (178, 3)
    lead, sd = model.predict_lead(X, return_std=True)
    last, best = np.sort(scores, axis=1)[:, -2:].T
    np.testing.assert_allclose(lead, best - last)
    with monkeypatch.context() as without_draws:
        without_draws.delattr(model, "posterior_")
        without_draws.setattr(BayesianLinearSVC, "__sklearn_is_fitted__", lambda self: True)
        np.testing.assert_array_equal(lead, model.predict_lead(X))  # only deviations need draws
    votes = model.predict_votes(X).max(axis=1)
    assert (votes[lead > 4.0 * sd] > 0.99).all()  # a lead that is known well wins the votes
    assert (votes[lead < sd] < 0.95).all()


def test_posterior_summary_and_arviz(model):
    table = model.posterior_.summary()
    columns = ["mean", "sd", "5%", "95%", "p_direction", "r_hat", "ess_bulk", "ess_tail"]
    assert list(table.columns) == columns
    assert "coef[mean radius]" in table.index
    assert len(table) == 31
    data = model.posterior_.to_arviz()
    assert data.posterior["coef"].dims == ("chain", "draw", "feature")
    assert data.posterior.attrs["C"] == "1.0"
    assert data.posterior.attrs["step"] > 0
    assert data.posterior.attrs["sampler"] == "auto"
    assert data.posterior.attrs["drawn_by"] == "SSGNHT"
    told = data.sample_stats
    assert set(told) == {"temperature", "thermostat", "step_size", "diverging"}
    assert told["temperature"].shape == model.posterior_["coef"].shape[:2]
    assert abs(float(told["temperature"].mean()) - 1.0) < 0.1
    assert not told["diverging"].any()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_arviz_is_given_no_intercept_that_is_not_there(n_classes):
    """A variable that never varies is no part of a posterior: ArviZ divided zero by zero."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(n_classes), 15)
    X = rng.standard_normal((len(y), 2)) + np.eye(3, 2)[y]
    model = BayesianLinearSVC(fit_intercept=False, n_draws=50, n_chains=2, random_state=0)
    model.fit(X, y)
    data = model.posterior_.to_arviz()
    table = import_arviz().summary(data)  # warnings are errors here
    assert len(table) == (2 if n_classes == 2 else 6)
    assert np.isfinite(table.to_numpy()).all()
    assert data.constant_data["intercept"].size == (1 if n_classes == 2 else 3)
    assert not np.any(data.constant_data["intercept"])
    assert np.all(model.posterior_["intercept"] == 0.0)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"C": 0.0}, "C=0.0"),
        ({"C": -1}, "C=-1"),
        ({"C": "one"}, "C='one'"),
        ({"margin": 0.0}, "margin=0.0"),
        ({"prior_scale": -2.0}, "prior_scale=-2.0"),
        ({"prior": "cauchy"}, "prior='cauchy'.*'gaussian'"),
        ({"multi_class": "all"}, "multi_class='all'.*'ovr'"),
        ({"sampler": "nuts"}, "sampler='nuts'.*'auto'"),
        ({"n_draws": 1}, "n_draws=1.*at least 2"),
        ({"n_draws": 10.0}, "n_draws=10.0"),
        ({"n_chains": 0}, "n_chains=0"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"random_state": "x"}, "random_state='x'"),
    ],
)
def test_bad_parameters_are_named_before_any_work(settings, words, cancer):
    with pytest.raises(ValueError, match=words):
        BayesianLinearSVC(**settings).fit(cancer[0], cancer[2])


def test_bad_data_are_refused(cancer):
    X, y = cancer[0].to_numpy().copy(), cancer[2]
    model = BayesianLinearSVC(n_draws=20)
    with pytest.raises(ValueError, match="only one class"):
        model.fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(X[:0], y[:0])
    weight = np.where(np.arange(len(X)) == 4, -1.5, 1.0)
    with pytest.raises(ValueError, match=r"sample_weight .* but it is -1\.5 in row 4 \(counted"):
        model.fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=r"sample_weight must hold .* could not convert"):
        model.fit(X, y, sample_weight=["heavy"] * len(X))
    with pytest.raises(ValueError, match="zero for every row"):
        model.fit(X, y, sample_weight=np.zeros(len(X)))
    for bad in (np.nan, np.inf):
        X[3, 4] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.fit(X, y)


def test_library_warnings_share_a_category():
    assert issubclass(BayesmarginWarning, UserWarning)
