"""Inverse Gaussian variates: moments and distribution, from tiny to infinite mean."""

import numpy as np
import pytest
from scipy import stats

from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.random import augmentation_precision, inverse_gaussian


@jit
def _many(rng, mean, shape, out):
    for k in range(out.shape[0]):
        out[k] = inverse_gaussian(rng, mean, shape)


@jit
def _precisions(rng, cost, slack, out):
    for k in range(out.shape[0]):
        out[k] = augmentation_precision(rng, cost, slack)


@pytest.mark.parametrize(("mean", "shape"), [(0.05, 1.0), (1.0, 1.0), (3.0, 0.5), (40.0, 2.0)])
def test_moments_and_distribution(mean, shape):
    out = np.empty(200_000)
    _many(np.random.default_rng(1), mean, shape, out)
    law = stats.invgauss(mean / shape, scale=shape)
    deviation = np.sqrt(mean**3 / shape)
    assert abs(out.mean() - mean) < 4.0 * deviation / np.sqrt(out.size)
    # Reciprocals have light tails, so their moments test the lower tail as sharply as the mean.
    reciprocal = 1.0 / out
    expected, spread = 1.0 / mean + 1.0 / shape, np.sqrt(1.0 / (mean * shape) + 2.0 / shape**2)
    assert abs(reciprocal.mean() - expected) < 4.0 * spread / np.sqrt(out.size)
    fourth = law.stats(moments="k")
    error = deviation**2 * np.sqrt((float(fourth) + 2.0) / out.size)
    assert abs(out.var() - mean**3 / shape) < 4.0 * error
    assert stats.kstest(out, law.cdf).pvalue > 1e-3


def test_an_infinite_mean_is_the_limit_law():
    out = np.empty(100_000)
    _many(np.random.default_rng(2), np.inf, 1.5, out)
    assert stats.kstest(1.5 / out, stats.chi2(1).cdf).pvalue > 1e-3


@pytest.mark.parametrize("slack", [-2.0, 0.0, 1e-9, 0.7])
def test_mixing_variable_has_the_law_of_the_augmentation(slack):
    out = np.empty(100_000)
    _precisions(np.random.default_rng(3), 1.3, slack, out)
    mean = 2.0 / max(1.3 * abs(slack), 1e-12)
    law = stats.chi2(1).cdf if slack in (0.0, 1e-9) else None
    if law is not None:
        assert stats.kstest(1.0 / out, law).pvalue > 1e-3
    else:
        assert stats.kstest(out, stats.invgauss(mean).cdf).pvalue > 1e-3
