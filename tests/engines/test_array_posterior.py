"""The array engine's posteriors: against integration, and against the compiled engine."""

import sys
from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

jax = pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")

import bayesmargin
from bayesmargin import BayesianLinearSVC
from bayesmargin.engines.samplers import ArraySampler
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.running.progress import progress_for
from bayesmargin.running.run import sample
from bayesmargin.samplers import SSGLD, SSGNHT, SubgradientHMC
from bayesmargin.validation import moment_scores, quadrature
from bayesmargin.validation.agreement import monte_carlo_error
from bayesmargin.validation.problems import five_rows, three_classes

PROBLEMS = {
    "five_rows": five_rows,
    "three_classes": three_classes,
    "laplace": partial(five_rows, "laplace"),
}
SAMPLERS = {
    "hmc": SubgradientHMC(),
    "thermostat": SSGNHT(step=0.1),
    "langevin": SSGLD(step=0.1),
}


def run_of(problem, settings, n_draws, seed=3):
    generators = spawn_generators(seed, 5)
    return sample(problem, ArraySampler(settings), generators, n_draws, 1, progress_for(0))


@pytest.mark.parametrize(
    ("problem", "sampler"),
    [
        ("five_rows", "hmc"),
        ("five_rows", "thermostat"),
        ("three_classes", "hmc"),
        ("three_classes", "thermostat"),
        ("three_classes", "langevin"),
        ("laplace", "hmc"),
        ("laplace", "thermostat"),
    ],
)
def test_moments_agree_with_quadrature(problem, sampler):
    truth = quadrature(PROBLEMS[problem]())
    run = run_of(PROBLEMS[problem](), SAMPLERS[sampler], 3000)
    scores = moment_scores(run.weights.astype(float), truth.mean, np.diag(truth.covariance))
    assert np.abs(scores).max() < 4.0, scores
    assert run.diagnostics.trustworthy
    assert run.diagnostics.temperature == pytest.approx(1.0, abs=0.02)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def fitted(wine):
    return BayesianLinearSVC(engine="jax", n_draws=600, random_state=0).fit(*wine)


def assert_same_law(one, other):
    """Means and variances of all weights agree within their Monte Carlo errors."""
    first, second = (
        model.posterior_["coef"].astype(float).reshape(4, model.posterior_.n_draws, -1)
        for model in (one, other)
    )
    centre = first.mean(axis=(0, 1))
    for power in (1, 2):
        (a, a_error), (b, b_error) = (
            monte_carlo_error((draws - centre * (power > 1)) ** power) for draws in (first, second)
        )
        assert np.abs((a - b) / np.hypot(a_error, b_error)).max() < 4.5


def test_several_classes_have_the_law_of_the_compiled_engine(wine, fitted):
    assert fitted.diagnostics_.trustworthy
    assert fitted.posterior_.attrs["engine"] == "jax"
    compiled = BayesianLinearSVC(engine="numba", n_draws=600, random_state=1).fit(*wine)
    assert_same_law(fitted, compiled)


def test_one_vs_rest_has_the_law_of_the_compiled_engine(wine):
    models = [
        BayesianLinearSVC(
            engine=engine, multi_class="ovr", sampler=sampler, n_draws=600, random_state=2
        ).fit(*wine)
        for engine, sampler in (("jax", "hmc"), ("numba", "auto"))
    ]
    assert_same_law(*models)


def test_equal_seeds_give_equal_draws(wine, fitted):
    again = BayesianLinearSVC(engine="jax", n_draws=600, random_state=0).fit(*wine)
    assert np.array_equal(again.posterior_["coef"], fitted.posterior_["coef"])


def test_a_fitted_model_predicts_without_jax(wine, fitted, tmp_path, monkeypatch):
    X, _ = wine
    fitted.save(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "jax", None)
    loaded = bayesmargin.load(tmp_path / "model")
    assert np.array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert loaded.score(*wine) > 0.95


def test_draws_do_not_depend_on_rounds(wine, monkeypatch):
    from bayesmargin.engines import crew

    settings = {"engine": "jax", "sampler": SSGNHT(burn_in=20, thin=2), "n_draws": 30}
    X, y = wine[0], wine[1] == 0
    with pytest.warns(bayesmargin.errors.BayesmarginWarning):
        one = BayesianLinearSVC(**settings, random_state=0).fit(X, y)
    monkeypatch.setattr(crew, "MOST_DRAWS", 7)
    with pytest.warns(bayesmargin.errors.BayesmarginWarning):
        other = BayesianLinearSVC(**settings, random_state=0).fit(X, y)
    assert np.array_equal(one.posterior_["coef"], other.posterior_["coef"])
