"""posterior_.robust() of regressions: intervals that cover, whatever C is."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVR, BayesianQuantileRegressor
from bayesmargin.approximation import fit_anchor
from bayesmargin.errors import CoverageWarning
from bayesmargin.likelihoods import Pinball
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows.source import DenseSource
from bayesmargin.targets.problem import posterior_of
from bayesmargin.uncertainty.sandwich import sandwich

pytestmark = pytest.mark.filterwarnings("ignore:C=:bayesmargin.errors.CoverageWarning")


def rows(seed, n=300):
    """Noise that is exponential, and larger where the first feature is."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    noise = rng.exponential(size=n) * (1.0 + 0.8 * X[:, 0])
    return X, 2.0 * X[:, 0] - X[:, 1] + noise


def truth(level):
    """Quantiles of the noise are linear in the first feature."""
    height = -np.log(1.0 - level)
    return np.array([2.0 + 0.8 * height, -1.0, height])


def law_of(level, cost, seed):
    """The sandwich of a sample, without draws, and the Gaussian that it starts from."""
    X, y = rows(seed)
    prior = GaussianBelief(np.zeros(3), np.full(3, 20.0**-2))
    costs = np.full(len(y), cost)
    problem = posterior_of(Pinball(level), DenseSource(X, True), y, costs, prior)
    anchor = fit_anchor(problem, np.random.default_rng(0))
    return sandwich(problem, np.ones(len(y)), anchor), anchor


@pytest.mark.parametrize("cost", [0.2, 20.0])
def test_intervals_of_quantiles_cover(cost):
    """80% intervals of 3 weights of 2 lines over 120 samples.

    Weights of a sample hang together; the share has an error of 0.02 (measured over samples).
    """
    inside, sampled = [], []
    for seed in range(120):
        for level in (0.3, 0.8):
            found, anchor = law_of(level, cost, seed)
            for centre, variances, held in (
                (found.centre, np.diag(found.covariance), inside),
                (anchor.mean, anchor.variances(), sampled),
            ):
                away = np.abs(centre - truth(level))
                held.append(away <= 1.2816 * np.sqrt(variances))
    assert np.mean(inside) == pytest.approx(0.8, abs=0.07)
    assert abs(np.mean(sampled) - 0.8) > 0.15  # what C alone would say


def test_intervals_cover_with_a_cost_that_is_learned():
    """The same of draws, over 40 samples: some 160 independent weights, an error of 0.03."""
    wanted = np.stack([truth(0.3), truth(0.8)])
    inside = []
    for seed in range(40):
        model = BayesianQuantileRegressor(
            [0.3, 0.8], C="auto", prior_scale=20.0, n_chains=2, n_draws=250, random_state=seed
        ).fit(*rows(seed))
        robust = model.posterior_.robust()
        draws = np.concatenate([robust.flat("coef"), robust.flat("intercept")[..., None]], axis=2)
        low, high = np.quantile(draws, [0.1, 0.9], axis=0)
        inside.append((low <= wanted) & (wanted <= high))
    assert np.mean(inside) == pytest.approx(0.8, abs=0.1)


@pytest.mark.parametrize("cost", [0.2, 20.0])
def test_robust_draws_have_the_law_of_the_sandwich(cost):
    model = BayesianQuantileRegressor(0.3, C=cost, prior_scale=20.0, random_state=0).fit(*rows(0))
    robust, (wanted, _) = model.posterior_.robust(), law_of(0.3, cost, 0)
    draws = np.column_stack([robust.flat("coef"), robust.flat("intercept")])
    scale = np.sqrt(np.diag(wanted.covariance))
    assert np.abs(draws.mean(axis=0) - wanted.centre).max() < 0.1 * scale.min()
    unit = np.cov(draws.T) / np.outer(scale, scale)
    assert unit == pytest.approx(wanted.covariance / np.outer(scale, scale), abs=0.1)


def test_the_centre_and_width_do_not_hang_on_c():
    X, y = rows(0, 1000)
    found = []
    for cost in (0.3, 10.0):
        model = BayesianLinearSVR(C=cost, epsilon=0.3, prior_scale=20.0, random_state=0).fit(X, y)
        robust = model.posterior_.robust()
        found.append((robust["coef"].mean(axis=(0, 1)), robust["coef"].std(axis=(0, 1))))
    (first, wide), (second, narrow) = found
    assert np.abs(first - second).max() < 0.5 * wide.max()
    assert wide == pytest.approx(narrow, rel=0.25)


def test_few_values_beyond_a_line_are_told():
    X, y = rows(0, 60)
    model = BayesianQuantileRegressor(0.97, C="auto", n_draws=200, random_state=0).fit(X, y)
    with pytest.warns(CoverageWarning, match="rarer side"):
        model.posterior_.robust()
