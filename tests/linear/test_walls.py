"""Rows of huge cost: the posterior ends at a wall, and what fits then say of themselves."""

import warnings

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.diagnostics.assessment import Watched
from bayesmargin.diagnostics.convergence import bulk_ess
from bayesmargin.diagnostics.stein import wall_error


def rows_with_a_wall(cost):
    """Rows, labels and weights, and what the score of the dear row reads of the weights."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] - X[:, 1] + rng.standard_normal(60) > 0
    weight = np.ones(60)
    weight[3] = cost
    return X, y, weight


@pytest.mark.parametrize("seed", [0, 1])
def test_slow_scores_show_in_the_diagnostics_of_the_gibbs_sampler(seed):
    """Close to its wall the score of the dear row mixes ten times as slowly as any weight."""
    X, y, weight = rows_with_a_wall(3000.0)
    model = BayesianLinearSVC(sampler="gibbs", fit_intercept=False, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # chains that mix so slowly may be too short
        model.fit(X, y, sample_weight=weight)
    score = model.posterior_["coef"] @ X[3]
    assert model.diagnostics_.min_bulk_ess < 1.3 * bulk_ess(score)


def test_raw_weights_are_compared_along_their_principal_axes():
    """Chains that are apart in a direction much narrower than the others."""
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((4, 500, 3))
    draws[..., 2] = 0.01 * (draws[..., 2] + np.array([-2.0, 2.0, -2.0, 2.0])[:, None])
    mixed = draws @ np.linalg.qr(rng.standard_normal((3, 3)))[0] * [1e-6, 1.0, 1e6]
    assert Watched(mixed, 1).worst[0] < 1.02
    assert Watched(mixed, 1, raw=True).worst[0] > 1.5


@pytest.mark.parametrize(("sampler", "seed"), [("hmc", 0), ("lmc", 1), ("lmc", 2)])
def test_walls_that_no_draw_meets_do_not_make_an_exact_sampler_biased(sampler, seed):
    """A row that one draw in ten thousand breaks carries half of Stein's identity."""
    X, y, weight = rows_with_a_wall(1e4)
    model = BayesianLinearSVC(
        sampler=sampler, fit_intercept=False, n_draws=400, n_chains=2, random_state=seed
    )
    model.fit(X, y, sample_weight=weight)
    assert model.diagnostics_.trustworthy


def test_the_error_by_walls_is_that_of_repeated_checks():
    """An exponential slack of rate one behind a wall, many times."""
    rng = np.random.default_rng(0)
    cost, count = 200.0, 400
    beyond = rng.random((3000, count)) < 1.0 / (1.0 + cost)
    size = rng.exponential(size=beyond.shape)
    slack = np.where(beyond, size / cost, -size)
    found = (cost * (slack - slack.mean()) * beyond).mean(axis=1)
    told = [wall_error(draws[:, None], np.array([cost])) for draws in slack[:50]]
    assert np.mean(told) == pytest.approx(found.std(), rel=0.25)


def test_the_default_loses_no_time_on_tiny_steps():
    """A gap between the classes and a wide prior: steps that suit the kinks are endless."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 2))
    model = BayesianLinearSVC(C=100.0, prior_scale=100.0, fit_intercept=False, random_state=0)
    model.fit(X, X[:, 0] > X[:, 1])
    assert model.posterior_.attrs["drawn_by"] == "SubgradientHMC"
    assert "steps" in model.posterior_.attrs["notes"]
    assert model.diagnostics_.n_iterations < 1_000_000  # of the thermostat there were millions
