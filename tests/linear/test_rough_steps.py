"""Steps of the thermostat over sharp kinks: longer than they were, and as exact."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from bayesmargin import BayesianLinearSVC
from bayesmargin.samplers import SSGNHT, SubgradientHMC


def test_steps_follow_the_roughness():
    centred, symmetric = SSGNHT(integrator="baoab"), SSGNHT()
    assert centred.gentle(0.5) == symmetric.gentle(0.5) == 1.0
    rough = np.geomspace(1.2, 1000.0, 50)
    shares = np.array([centred.gentle(r) for r in rough])
    assert (np.diff(shares) < 0.0).all()
    assert (shares * centred.default_step() * rough < 0.81).all()  # where variances were compared
    assert centred.gentle(30.0) == pytest.approx(0.8 / (0.25 * 30.0))
    assert symmetric.gentle(30.0) == pytest.approx(1.2 / 30.0)


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
    model = BayesianLinearSVC(**settings).fit(X, y)
    assert model.posterior_.attrs["drawn_by"] == "SSGNHT"
    assert model.posterior_.attrs["roughness"] > 10.0
    spread, axes = np.linalg.eigh(np.cov(exact.T))
    axes = axes[:, spread > 1e-9 * spread.max()]
    ratio = (contrasts(model) @ axes).var(axis=0) / (exact @ axes).var(axis=0)
    assert ratio.mean() == pytest.approx(1.0, abs=0.05)
