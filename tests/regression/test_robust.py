"""posterior_.robust() of regressions: intervals that cover, whatever C is."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVR, BayesianQuantileRegressor
from bayesmargin.errors import CoverageWarning


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


@pytest.mark.parametrize("cost", [0.2, 20.0, "auto"])
def test_intervals_of_quantiles_cover(cost):
    """80% intervals of 3 weights of 2 lines over 40 samples.

    Weights of a sample hang together: some 160 independent ones, with an error of 0.03.
    """
    wanted = np.stack([truth(0.3), truth(0.8)])
    inside, sampled = [], []
    for seed in range(40):
        model = BayesianQuantileRegressor(
            [0.3, 0.8], C=cost, prior_scale=20.0, n_chains=2, n_draws=250, random_state=seed
        ).fit(*rows(seed))
        for posterior, held in ((model.posterior_.robust(), inside), (model.posterior_, sampled)):
            draws = np.concatenate(
                [posterior.flat("coef"), posterior.flat("intercept")[..., None]], axis=2
            )
            low, high = np.quantile(draws, [0.1, 0.9], axis=0)
            held.append((low <= wanted) & (wanted <= high))
    assert np.mean(inside) == pytest.approx(0.8, abs=0.1)
    if cost != "auto":
        assert abs(np.mean(sampled) - 0.8) > 0.15  # what C alone would say


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
