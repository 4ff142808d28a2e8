"""Columns that repeat a value: widths stay above a bound, and the bound is part of the law."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from bayesmargin import DPMNLClassifier
from bayesmargin.foundation.compiling import jit
from bayesmargin.models.dpmnl.blocks import BLOCKS
from bayesmargin.models.dpmnl.chain import start_chain
from bayesmargin.models.dpmnl.parameters import _update_level
from bayesmargin.models.dpmnl.resolution import least_log_variances
from bayesmargin.models.dpmnl.state import NARROWEST, draw_log_variance
from bayesmargin.running.gibbs import sweep

# Columns of few values do not let rows move, and fits say so.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")


def _narrowest(X, y, sweeps):
    chain = start_chain(np.random.default_rng(0), X, y, X[:, 1] > 0, 2, 0.2, 2, 2)
    for _ in range(sweeps):
        sweep(BLOCKS, chain)
        used = chain.experts.order[: chain.experts.size[0]]
        yield chain.experts.log_variance[used].min()


def test_the_width_of_a_component_of_equal_values_has_a_bound():
    """Widths fell until one was zero, the mean NaN, and a slice was sought that does not exist.

    A default fit of 2,000 rows with a column of as many zeros as ones never returned.
    """
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal(400), np.where(np.arange(400) % 2, 1.0, -1.0)])
    lowest = 0.0
    for lowest in _narrowest(X, (X[:, 0] > 0).astype(np.int64), 30):
        assert lowest >= NARROWEST
    assert lowest < NARROWEST + 5.0  # it is there that the bound is needed


def test_constant_columns_change_nothing():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 3))
    y = X[:, 0] + X[:, 1] > 0
    padded = np.insert(X, 1, 5.0, axis=1)
    model = DPMNLClassifier(n_sweeps=12, random_state=0).fit(X, y)
    wide = DPMNLClassifier(n_sweeps=12, random_state=0).fit(padded, y)
    np.testing.assert_allclose(wide.predict_proba(padded), model.predict_proba(X), rtol=1e-9)
    padded[:, 1] = -3.0  # nothing was learned about it
    np.testing.assert_allclose(wide.predict_proba(padded), model.predict_proba(X), rtol=1e-9)


def test_nothing_but_constant_columns():
    y = np.arange(60) % 3 == 0
    model = DPMNLClassifier(n_sweeps=40, random_state=0).fit(np.ones((60, 2)), y)
    np.testing.assert_allclose(model.predict_proba(np.zeros((2, 2)))[:, 1], 1 / 3, atol=0.1)


@pytest.mark.parametrize(("mean", "spread"), [(-44.0, 2.0), (-60.0, 3.0), (0.0, 40.0)])
def test_draws_above_the_bound(mean, spread):
    @jit
    def fill(rng, out):
        for i in range(out.shape[0]):
            out[i] = draw_log_variance(rng, mean, spread, NARROWEST)

    draws = np.empty(20_000)
    fill(np.random.default_rng(0), draws)
    law = stats.truncnorm((NARROWEST - mean) / spread, np.inf, mean, spread)
    assert stats.kstest(draws, law.cdf).pvalue > 1e-3


def test_level_and_spread_of_values_near_the_bound_against_quadrature():
    values = NARROWEST + np.linspace(0.1, 20.0, 30)

    @jit
    def fill(rng, out):
        level, log_variance = -10.0, 6.0
        for i in range(out.shape[0]):
            level, log_variance = _update_level(rng, values, level, log_variance, 1.0, NARROWEST)
            out[i, 0], out[i, 1] = level, log_variance

    draws = np.empty((100_000, 2))
    fill(np.random.default_rng(0), draws)
    level, log_variance = np.meshgrid(np.linspace(-12, 6, 400), np.linspace(2, 12, 800))
    deviation = np.exp(0.5 * log_variance)
    log_density = -0.5 * (level**2 + log_variance**2)
    for value in values:
        log_density += stats.norm.logpdf(value, level, deviation)
    log_density -= len(values) * stats.norm.logsf(NARROWEST, level, deviation)
    mass = np.exp(log_density - log_density.max())
    mass /= mass.sum()
    plain = mass * stats.norm.sf(NARROWEST, level, deviation) ** len(values)
    plain /= plain.sum()
    for k, points in enumerate([level, log_variance]):
        means = draws[:, k].reshape(50, -1).mean(axis=1)
        error = means.std(ddof=1) / math.sqrt(50)
        assert abs(means.mean() - (mass * points).sum()) < 4.0 * error
        assert abs(means.mean() - (plain * points).sum()) > 5.0 * error  # without the bound


def test_no_component_is_narrower_than_what_was_rounded_away():
    """Splits ended in components of one value of a column, 1e-10 wide."""
    X, y = load_iris(return_X_y=True)
    model = DPMNLClassifier(n_sweeps=60, random_state=0).fit(X, y)
    unit = 0.1 / X.std(axis=0)
    for draw in model._draws:
        width = np.exp(0.5 * draw.experts.log_variance)
        assert np.all(width > 0.999 * unit / math.sqrt(12.0))
        np.testing.assert_allclose(np.exp(0.5 * draw.base.narrowest), unit / math.sqrt(12.0))


def test_least_widths():
    rng = np.random.default_rng(0)
    fine = rng.standard_normal(200)
    rare = np.where(np.arange(200) == 0, 14.0, -0.07)  # its unit is wider than the column
    X = np.column_stack([fine, fine.round(2), rare, np.zeros(200)])
    found = np.exp(0.5 * least_log_variances(X))
    np.testing.assert_allclose(found, [1e-10, 0.01 / math.sqrt(12.0), 0.1, 1e-10], rtol=1e-6)
    assert least_log_variances(X[:2, :1]) == NARROWEST  # two rows are no sign of rounding
