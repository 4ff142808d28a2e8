"""Probabilities at large costs, where rows left out of draws look better than new ones are."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import log_loss

from bayesmargin import BayesianLinearSVC
from bayesmargin.calibration.forecasts import LeftOutForecasts
from bayesmargin.calibration.maps import BinaryLink
from bayesmargin.models.kernel.kernels import RBF
from bayesmargin.models.kernel.landmarks import fit_map
from bayesmargin.models.linear import training
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.linear.refitting import spanned, with_refits


def separable(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 20))
    return X, (X[:, 0] + 0.7 * rng.standard_normal(n_rows) > 0.0).astype(int)


def test_a_wall_of_hinges_promises_no_more_than_new_rows_show(monkeypatch):
    X, y = make_moons(150, noise=0.3, random_state=0)
    X_new, y_new = make_moons(2000, noise=0.3, random_state=1)
    features = fit_map(RBF(), 10.0, X, np.arange(150), 150, np.random.default_rng(0))
    rows, new = features.features(X)[0], features.features(X_new)[0]
    before = []

    def kept(told, *facts):
        before.append(told)
        return with_refits(told, *facts)

    monkeypatch.setattr(training, "with_refits", kept)
    model = BayesianLinearSVC(C=316.0, n_draws=200, n_chains=2, random_state=0).fit(rows, y)
    promised, shown = (
        log_loss(y, model.leave_one_out_proba_),
        log_loss(y_new, model.predict_proba(new)),
    )
    model.link_, forecasts = before[0]
    hopeful = log_loss(forecasts.label, forecasts.probability)
    worse = log_loss(y_new, model.predict_proba(new))
    assert hopeful < 0.5 * worse  # what is to be mended
    assert shown < 0.8 * worse
    assert promised > 0.9 * shown


def test_a_chosen_cost_is_no_wall():
    X, y = separable(50, 0)
    X_new, y_new = separable(4000, 1)
    settings = {"n_draws": 200, "n_chains": 2, "random_state": 0}
    model = BayesianLinearSVC(C="auto", **settings).fit(X, y)
    usual = BayesianLinearSVC(**settings).fit(X, y)
    losses = [log_loss(y_new, one.predict_proba(X_new)) for one in (model, usual)]
    assert losses[0] < 1.1 * losses[1]
    assert abs(model.profile_.loss.min() - losses[0]) < 0.25


def told():
    chance = np.full((40, 2), 0.5)
    forecasts = LeftOutForecasts(chance, np.arange(40) % 2, np.ones(40), np.ones(40))
    return BinaryLink(1.0, np.array([1.0, 2.0, 2.0, 1.0]), 1.0), forecasts


@pytest.mark.parametrize("away", [{"C": 1.0}, {"prior": object()}])
def test_usual_costs_and_foreign_priors_are_left_alone(away):
    settings = {"C": 50.0, "margin": 1.0, "prior": "gaussian", "multi_class": "ovr", **away}
    model = type("Settings", (), {**settings, "fit_intercept": True})
    X = np.random.default_rng(0).standard_normal((40, 3))
    data = LinearData(X, np.arange(40) % 2, np.ones(40), 2)
    before = told()
    assert with_refits(before, data, model, 1.0, np.random.default_rng(0)) is before


def test_products_of_wide_rows_are_kept():
    X = np.random.default_rng(0).standard_normal((30, 400))
    data = LinearData(X, np.arange(30) % 2, np.ones(30), 2)
    found = spanned(data, 2.0)
    np.testing.assert_allclose(found.values @ found.values.T, X @ X.T, atol=1e-8)
    np.testing.assert_allclose(found.unseen, 0.0, atol=1e-8)
