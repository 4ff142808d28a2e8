"""BayesianSVC as a scikit-learn estimator."""

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayesmargin
from bayesmargin import BayesianSVC
from bayesmargin.errors import DataError
from bayesmargin.models.kernel.kernels import RBF, PolynomialKernel

GIVEN = {"C": 1.0, "gamma": "scale", "n_components": 20}  # what would be chosen anew at every fit


@parametrize_with_checks([BayesianSVC(**GIVEN, n_draws=60, n_chains=2, random_state=0)])
@pytest.mark.filterwarnings("ignore::bayesmargin.errors.BayesmarginWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def moons():
    X, y = make_moons(600, noise=0.25, random_state=0)
    names = np.array(["lower", "upper"])
    return X[:200], names[y[:200]], X[200:], names[y[200:]]


@pytest.fixture(scope="module")
def model(moons):
    return BayesianSVC(C=1.0, gamma=1.0, n_components=40, n_draws=300, random_state=0).fit(
        *moons[:2]
    )


def test_predictions_are_good_and_agree(model, moons):
    X, y = moons[2:]
    probability = model.predict_proba(X)
    bend = SVC(gamma=1.0).fit(*moons[:2])
    assert model.score(X, y) > bend.score(X, y) - 0.02
    assert log_loss(y, probability) < 0.2
    np.testing.assert_array_equal(model.classes_[probability.argmax(axis=1)], model.predict(X))
    scores, sd = model.decision_function(X, return_std=True)
    np.testing.assert_array_equal(model.predict(X), model.classes_[(scores > 0).astype(int)])
    assert sd.shape == (400,)
    assert model.diagnostics_.trustworthy


def test_probabilities_agree_with_predictions_on_rows_from_anywhere(model):
    wide = np.random.default_rng(1).standard_cauchy((100_000, 2))
    chosen = model.predict_proba(wide).argmax(axis=1)
    np.testing.assert_array_equal(model.classes_[chosen], model.predict(wide))


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_far_rows_get_the_shares_of_the_classes_and_are_new(share):
    rng = np.random.default_rng(0)
    y = np.arange(150) < 150 * share
    X = rng.standard_normal((150, 2)) + np.where(y, 1.5, -0.5)[:, None]
    model = BayesianSVC(**GIVEN, n_draws=300, random_state=0).fit(X, y)
    far = np.array([[60.0, 0.0], [-30.0, 80.0]])
    np.testing.assert_allclose(model.predict_proba(far)[:, 1], share, atol=0.01)
    assert (model.novelty(far) > 1.2 * model.novelty(X).max()).all()
    sd = model.decision_function(far, return_std=True)[1]
    np.testing.assert_allclose(sd[0], np.hypot(1.0, model.posterior_["intercept"].std()), rtol=0.03)


def test_more_than_two_classes(moons):
    X = moons[0]
    y = np.array(["a", "b", "c"])[(X[:, 0] > 0.0) + (X[:, 0] > 1.0).astype(int)]
    share = np.unique(y, return_counts=True)[1] / len(y)
    for multi_class in ("crammer_singer", "ovr"):
        model = BayesianSVC(multi_class=multi_class, **GIVEN, n_draws=200, random_state=0)
        model.fit(X, y)
        probability = model.predict_proba(moons[2])
        np.testing.assert_array_equal(
            model.classes_[probability.argmax(axis=1)], model.predict(moons[2])
        )
        assert model.score(X, y) > 0.93
        np.testing.assert_allclose(model.predict_proba([[50.0, 50.0]])[0], share, atol=0.02)
        assert model.predict_lead(X, return_std=True)[1].shape == (200,)


def test_a_given_kernel_is_the_kernel_that_is_computed(model, moons):
    X, y = moons[0], moons[1]
    kernel = RBF().between(X, X, 1.0)
    given = BayesianSVC(
        C=1.0, kernel="precomputed", n_components=40, n_draws=300, random_state=0
    ).fit(kernel, y)
    probability = given.predict_proba(RBF().between(moons[2], X, 1.0))
    np.testing.assert_allclose(probability, model.predict_proba(moons[2]), atol=0.03)
    given.set_params(kernel=lambda a, b: RBF().between(a, b, 1.0))
    probability = given.fit(X, y).predict_proba(moons[2])
    np.testing.assert_allclose(probability, model.predict_proba(moons[2]), atol=0.03)


def test_a_weight_of_two_is_a_row_given_twice(moons):
    X, y = moons[0][:60], moons[1][:60]
    weight = np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weight)
    settings = {"random_state": 0, "n_draws": 50, "n_components": 8, "C": 1.0}
    first = BayesianSVC(**settings).set_params(gamma=1.0).fit(X, y, sample_weight=weight)
    second = BayesianSVC(**settings).set_params(gamma=1.0).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(first.posterior_["coef"], second.posterior_["coef"])
    kernel = RBF().between(X, X, 1.0)
    third = BayesianSVC(kernel="precomputed", **settings).fit(kernel, y, sample_weight=weight)
    np.testing.assert_allclose(third.predict_proba(kernel), first.predict_proba(X), atol=0.2)


def test_settings_by_paths_frames_and_pipelines(moons):
    assert BayesianSVC(kernel="poly", kernel__degree=2).kernel == PolynomialKernel(degree=2)
    frame = pandas.DataFrame(moons[0], columns=["left", "up"])
    model = BayesianSVC(C=1.0, kernel="poly", n_components=6, n_draws=50, random_state=0)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), model)
    pipeline.fit(frame, moons[1])
    assert list(pipeline[-1].feature_names_in_) == ["left", "up"]
    assert clone(pipeline).set_params(bayesiansvc__kernel__degree=2) is not None
    assert pipeline.score(frame, moons[1]) > 0.8


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": "sigmoid"}, "kernel='sigmoid'.*not positive definite.*'rbf'"),
        ({"gamma": "large"}, "gamma='large'.*'auto' or 'scale'"),
        ({"gamma": 0.0}, "gamma=0.0"),
        ({"C": None}, "C=None"),
        ({"n_components": 0}, "n_components=0"),
        ({"kernel": PolynomialKernel(coef0=-1.0)}, "coef0=-1.0"),
        ({"multi_class": "ovo"}, "multi_class='ovo'.*'ovr'"),
        ({"kernel": "precomputed"}, "square matrix"),
        ({"kernel": lambda a, b: np.zeros(3)}, "shape \\(3,\\)"),
        ({"kernel": lambda a, b: -RBF().between(a, b, 1.0)}, "eigenvalues"),
    ],
)
def test_what_is_wrong_is_named(settings, words, moons):
    with pytest.raises((ValueError, DataError), match=words):
        BayesianSVC(**settings).fit(moons[0], moons[1])


def test_saved_models_say_the_same(tmp_path, moons):
    for kernel in ("rbf", "poly", "precomputed"):
        given = kernel == "precomputed"
        X = RBF().between(moons[0], moons[0], 1.0) if given else moons[0]
        model = BayesianSVC(kernel=kernel, n_components=6, n_draws=30, random_state=0)
        model.fit(X, moons[1]).save(tmp_path / kernel)
        again = bayesmargin.load(tmp_path / kernel)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    model = BayesianSVC(kernel=lambda a, b: a @ b.T, n_components=2, n_draws=30, random_state=0)
    with pytest.raises(TypeError, match="function"):
        model.fit(moons[0], moons[1]).save(tmp_path / "function")
