"""Steps of the thermostat over sharp kinks: short enough to be exact."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from bayesmargin import BayesianLinearSVC
from bayesmargin.samplers import SSGNHT, SubgradientHMC


def test_steps_are_as_short_as_kinks_are_sharp():
    """With kicks of 0.4 instead of 0.3 means on the digits were off by half as much again."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    for cost in (1.0, 10.0):
        sampler = SSGNHT(integrator="badodab")
        model = BayesianLinearSVC(C=cost, sampler=sampler, n_draws=100, n_chains=2, random_state=0)
        facts = model.fit(X, y).posterior_.attrs
        assert facts["roughness"] > 1.2
        assert facts["step"] * facts["roughness"] < 0.301


def contrasts(model):
    """Draws of weights less what the classes share."""
    parts = model.posterior_["coef"], model.posterior_["intercept"][..., None]
    draws = np.concatenate(parts, axis=-1)
    draws = draws - draws.mean(axis=2, keepdims=True)
    return draws.reshape(-1, draws.shape[2] * draws.shape[3])


def test_variances_over_sharp_kinks_are_those_of_exact_draws():
    """Wine at C=10: kinks twenty times as sharp as the posterior is wide."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    settings = {"C": 10.0, "n_draws": 2000, "random_state": 0}
    exact = contrasts(
        BayesianLinearSVC(sampler=SubgradientHMC(crossing=True), **settings).fit(X, y)
    )
    model = BayesianLinearSVC(sampler=SSGNHT(integrator="badodab"), **settings).fit(X, y)
    assert model.posterior_.attrs["roughness"] > 10.0
    spread, axes = np.linalg.eigh(np.cov(exact.T))
    axes = axes[:, spread > 1e-9 * spread.max()]
    ratio = (contrasts(model) @ axes).var(axis=0) / (exact @ axes).var(axis=0)
    assert ratio.mean() == pytest.approx(1.0, abs=0.05)
