"""Seeds and the inverse Gaussian law."""

import numpy as np
import pytest
from scipy import stats

from bayesmargin.foundation.compiling import from_python, jit
from bayesmargin.foundation.random import augmentation_precision, inverse_gaussian, spawn_generators


@jit
def many(rng, mean, shape, out):
    for i in range(out.shape[0]):
        out[i] = inverse_gaussian(rng, mean, shape)


@pytest.mark.parametrize(("mean", "shape"), [(0.5, 1.0), (2.0, 1.0), (30.0, 2.0), (1e3, 1.0)])
def test_inverse_gaussian_has_its_law(mean, shape):
    rng = np.random.default_rng(0)
    draws = np.empty(200_000)
    many(rng, mean, shape, draws)
    law = stats.invgauss(mu=mean / shape, scale=shape)
    assert stats.kstest(draws, law.cdf).pvalue > 1e-3
    error = np.sqrt(mean**3 / shape / len(draws))
    assert abs(draws.mean() - mean) < 4 * error


def test_infinite_mean_gives_the_limit_law():
    rng = np.random.default_rng(1)
    draws = np.empty(100_000)
    many(rng, np.inf, 2.0, draws)
    assert stats.kstest(2.0 / draws, stats.chi2(1).cdf).pvalue > 1e-3


def test_a_slack_of_zero_is_no_special_case():
    value = from_python(augmentation_precision)(np.random.default_rng(0), 1.0, 0.0)
    assert np.isfinite(value)
    assert value > 0


def test_seeds_spawn_reproducibly():
    first = [g.random() for g in spawn_generators(11, 3)]
    assert first == [g.random() for g in spawn_generators(11, 3)]
    assert len(set(first)) == 3
    state = np.random.RandomState(4)
    assert spawn_generators(state, 1)[0].random() != spawn_generators(state, 1)[0].random()


@pytest.mark.parametrize("bad", ["seven", -1, 1.5])
def test_bad_seeds_are_named(bad):
    with pytest.raises(ValueError, match="random_state"):
        spawn_generators(bad, 2)
