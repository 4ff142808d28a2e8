"""Small fitted models of every kind, shared by the tests of saving and checkpoints."""

import warnings
from functools import cache

import numpy as np
from scipy import sparse

from bayesmargin import (
    BayesianLinearSVC,
    BayesianLinearSVR,
    BayesianQuantileRegressor,
    BayesianSVC,
    DPMNLClassifier,
    InfiniteSVC,
    MedLDAClassifier,
)
from bayesmargin.errors import BayesmarginWarning
from bayesmargin.models.medlda import SSGRLD, CollapsedGibbs, PassiveAggressive

NAMES = ("moon", "star", "sun")


def rows(n_classes=2, n_rows=120, n_features=3):
    """Gaussian clouds with one label a cloud."""
    rng = np.random.default_rng(3)
    label = rng.integers(0, n_classes, n_rows)
    centres = 2.0 * rng.standard_normal((n_classes, n_features))
    return rng.standard_normal((n_rows, n_features)) + centres[label], label


def counts(n_classes=2, n_documents=90, n_words=14):
    """Word counts whose mean depends on the class."""
    rng = np.random.default_rng(4)
    label = rng.integers(0, n_classes, n_documents)
    rate = rng.gamma(0.6, 2.0, (n_classes, n_words))
    return rng.poisson(rate[label]), label


def wide(n_classes=2):
    """Sparse rows of more features than a full covariance is made for."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((60, 1000), density=0.02, rng=rng, format="csr")
    return X, np.arange(60) % n_classes


def fit(model, *data):
    """Fit without a word about too few draws."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesmarginWarning)
        return model.fit(*data)


def linear(n_classes=2, **settings):
    X, y = rows(n_classes)
    settings = {"n_chains": 2, "n_draws": 30, "random_state": 1, **settings}
    return fit(BayesianLinearSVC(**settings), X, np.array(NAMES)[y])


def kernel(n_classes=2, **settings):
    X, y = rows(n_classes)
    settings = {
        "n_components": 5,
        "gamma": "scale",
        "n_chains": 2,
        "n_draws": 30,
        "random_state": 1,
        **settings,
    }
    return fit(BayesianSVC(**settings), X, np.array(NAMES)[y])


def regression(kind, **settings):
    X, y = rows()
    values = X @ np.array([1.0, -2.0, 0.5]) + 0.3 * y
    settings = {"n_chains": 2, "n_draws": 30, "random_state": 1, "C": "auto", **settings}
    return fit(kind(**settings), X, values)


def medlda(n_classes=2, **settings):
    X, y = counts(n_classes)
    sampler = settings.pop("sampler", SSGRLD(n_passes=2, batch_size=16))
    settings = {"n_topics": 3, "n_draws": 4, "random_state": 1, "validation_fraction": 0.1,
                **settings}  # fmt: skip
    return MedLDAClassifier(sampler=sampler, **settings).fit(X, np.array(NAMES)[y])


def infinite(n_classes=2, **settings):
    X, y = rows(n_classes)
    settings = {"n_sweeps": 12, "n_draws": 4, "n_chains": 2, "random_state": 1, **settings}
    return InfiniteSVC(**settings).fit(X, y)


def dpmnl(n_classes=2, **settings):
    X, y = rows(n_classes)
    settings = {"n_sweeps": 10, "n_draws": 4, "random_state": 1,
                "sampler__weights__n_leapfrog": 5, **settings}  # fmt: skip
    return DPMNLClassifier(**settings).fit(X, y == 1)


MODELS = {
    "linear": linear,
    "linear, three classes": lambda: linear(3),
    "linear, one-vs-rest": lambda: linear(3, multi_class="ovr", fit_intercept=False),
    "svc": kernel,
    "svc, three classes": lambda: kernel(3, kernel="poly", kernel__degree=2),
    "svc, random features": lambda: kernel(kernel__features="random"),
    "svr": lambda: regression(BayesianLinearSVR),
    "quantile": lambda: regression(BayesianQuantileRegressor),
    "three quantiles": lambda: regression(BayesianQuantileRegressor, quantile=[0.1, 0.5, 0.9]),
    "medlda": medlda,
    "medlda, three classes": lambda: medlda(
        3, multi_class="crammer_singer", sampler__weights="ssgnht"
    ),
    "medlda, one-vs-rest": lambda: medlda(3, multi_class="ovr", n_chains=1),
    "medlda, gibbs": lambda: medlda(sampler=CollapsedGibbs(n_passes=6)),
    "medlda, passive-aggressive": lambda: medlda(
        3, sampler=PassiveAggressive(n_passes=2, batch_size=16)
    ),
    "infinite": infinite,
    "infinite, three classes": lambda: infinite(3, concentration="learn", sampler="hmc"),
    "infinite, no covariates": lambda: infinite(components__covariates=False, fit_intercept=False),
    "dpmnl": dpmnl,
}


@cache
def model(name):
    """A fitted model; tests must not change it."""
    return MODELS[name]()


def answers(model, X):
    """Everything a model says about rows."""
    calls = ("predict", "predict_proba", "predict_votes", "decision_function", "transform",
             "predict_component", "top_words", "component_sizes", "co_clustering")  # fmt: skip
    given = {"top_words": (), "component_sizes": (), "co_clustering": ()}
    found = {}
    for name in calls:
        if hasattr(model, name):
            found[name] = getattr(model, name)(*given.get(name, (X,)))
    if isinstance(model, BayesianLinearSVC | BayesianSVC):
        found["std"] = model.decision_function(X, return_std=True)[1]
    if isinstance(model, BayesianLinearSVR | BayesianQuantileRegressor):
        found["std"] = model.predict(X, return_std=True)[1]
        found["interval"] = model.predict_interval(X)
    for name in ("coef_", "intercept_", "topics_", "n_components_", "concentration_", "classes_",
                 "feature_names_in_"):  # fmt: skip
        if hasattr(model, name):
            found[name] = getattr(model, name)
    return found


def same(first, second):
    """Whether two answers are equal bit by bit, types included."""
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, np.ndarray):
        if first.dtype == object:
            return first.dtype == second.dtype and first.tolist() == second.tolist()
        return first.dtype == second.dtype and first.shape == second.shape and (
            np.ascontiguousarray(first).tobytes() == np.ascontiguousarray(second).tobytes()
        )  # fmt: skip
    return first == second


def draws_of(model, X):
    """Everything that must be the same."""
    found = answers(model, X)
    if isinstance(model, BayesianLinearSVC | BayesianQuantileRegressor):
        found |= dict(model.posterior_.items())
        found["notes"] = [model.posterior_.attrs["notes"]]
        found["iterations"] = [model.diagnostics_.n_iterations, model.diagnostics_.bias]
    if isinstance(model, MedLDAClassifier):
        found["draws"] = [t for p in model.posterior_ for t in (*p.topics, *p.coef)]
    if isinstance(model, InfiniteSVC | DPMNLClassifier):
        found["draws"] = [array for draw in model._draws for array in draw if array is not None
                          and isinstance(array, np.ndarray)]  # fmt: skip
    return found
