"""The Gaussian alone: its law, what it says of its distance, and the same from the default."""

import warnings

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.diagnostics.gaussian import gaps, pareto_k


def rows(n_rows, n_columns, n_classes, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    scores = X @ rng.standard_normal((n_columns, n_classes))
    return X, np.argmax(scores + 2.0 * rng.standard_normal(scores.shape), axis=1)


def fitted(X, y, **settings):
    return BayesianLinearSVC(random_state=0, n_jobs=1, **settings).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_draws_have_nearly_the_moments_of_chains_and_facts_say_how_nearly(n_classes):
    X, y = rows(1500, 4, n_classes)
    gauss = fitted(X, y, sampler="anchor", n_draws=2000)
    chains = fitted(X, y)
    one, other = gauss.posterior_["coef"], chains.posterior_["coef"]
    if n_classes > 2:  # what the classes share is drawn from its law by both
        one, other = (draws - draws.mean(axis=2, keepdims=True) for draws in (one, other))
    spread = other.std(axis=(0, 1))
    off = (one.mean(axis=(0, 1)) - other.mean(axis=(0, 1))) / spread
    facts = gauss.posterior_.attrs
    assert np.sqrt(np.mean(off**2)) < 0.15 + 1.5 * facts["mean_off"]
    ratio = np.mean((spread / one.std(axis=(0, 1))) ** 2)
    assert ratio == pytest.approx(facts["variance_ratio"], abs=0.1)
    assert 0.0 <= facts["skewness"] < 0.6
    assert facts["pareto_k"] < 0.9
    assert chains.posterior_.attrs["anchor_mean_off"] < 0.5
    assert chains.posterior_.attrs["anchor_variance_ratio"] == pytest.approx(1.0, abs=0.3)


def test_wide_rows_have_independent_draws_too():
    X, y = rows(400, 900, 2)
    with warnings.catch_warnings():  # few rows for so many weights
        warnings.simplefilter("ignore")
        model = fitted(X, y, sampler="anchor", n_draws=50)
    assert model.posterior_["coef"].shape[:2] == (4, 50)
    assert {"mean_off", "variance_ratio", "pareto_k"} <= set(model.posterior_.attrs)


def test_a_gaussian_far_from_the_posterior_says_so():
    X, y = rows(60, 2, 2, seed=3)
    y = (np.arange(60) == 0).astype(int)  # one positive row: a wall on one side
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        facts = fitted(X, y, sampler="anchor", C=300.0).posterior_.attrs
    assert facts["mean_off"] > 0.25 or facts["skewness"] > 0.3


def test_gaps_of_a_shifted_skewed_law():
    draws = np.random.default_rng(1).standard_normal((4000, 4))
    found = gaps(draws, draws + 0.3 - 0.1 * (draws**2 - 1.0))
    assert found.mean_off == pytest.approx(0.3, abs=0.02)
    assert found.variance_ratio == pytest.approx(1.0, abs=0.02)
    assert found.skewness == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize("shape", [0.2, 0.7, 1.2])
def test_the_shape_of_a_pareto_tail_is_found(shape):
    uniform = np.random.default_rng(2).random(50_000)
    assert pareto_k(-shape * np.log(uniform)) == pytest.approx(shape, abs=0.08)


def test_few_or_equal_weights_have_no_tail():
    assert np.isnan(pareto_k(np.zeros(10)))
    assert pareto_k(np.zeros(100)) == 0.0
