"""Noise of 256 levels: its moments, its independence, and that both sources serve a kernel."""

import numpy as np
import pytest
from scipy.stats import kstest

from bayesmargin.foundation.compiling import from_python
from bayesmargin.foundation.noise import LEVELS, fill_noise
from bayesmargin.foundation.streams import seed_from_generator

FILL = from_python(fill_noise)


def _stream(rng):
    stream = np.empty(1, np.uint64)
    seed_from_generator(stream, rng)
    return stream


def _from_stream(size, seed=0):
    values = np.full(size, np.nan)
    FILL(_stream(np.random.default_rng(seed)), values)
    return values


def test_levels_share_seven_moments_with_the_normal_law():
    moments = [np.mean(LEVELS**k) for k in range(1, 9)]
    assert moments[:7] == pytest.approx([0.0, 1.0, 0.0, 3.0, 0.0, 15.0, 0.0], abs=1e-9)
    assert moments[7] == pytest.approx(105.0, rel=0.06)
    assert np.all(np.diff(LEVELS) > 0.0)


@pytest.mark.parametrize("size", [1, 7, 8, 9, 594])
def test_every_place_is_filled_with_a_level(size):
    assert np.isin(_from_stream(size), LEVELS).all()


def test_levels_are_equally_frequent_and_independent():
    values = _from_stream(800_000)
    counts = np.bincount(np.searchsorted(LEVELS, values), minlength=256)
    expected = len(values) / 256
    assert abs(np.sum((counts - expected) ** 2) / expected - 255) < 5 * np.sqrt(2 * 255)
    for lag in range(1, 17):
        for power in (1, 2):
            part = values**power - np.mean(LEVELS**power)
            correlation = np.mean(part[lag:] * part[:-lag]) / np.mean(part**2)
            assert abs(correlation) < 5 / np.sqrt(len(values))


def test_streams_of_a_generator_differ_and_repeat():
    rng = np.random.default_rng(3)
    first, second = np.empty(64), np.empty(64)
    FILL(_stream(rng), first)
    FILL(_stream(rng), second)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, _from_stream(64, 3))


def test_a_generator_gives_its_own_normal_variates():
    values = np.empty(100)
    FILL(np.random.default_rng(5), values)
    np.testing.assert_array_equal(values, np.random.default_rng(5).standard_normal(100))


def test_sums_of_a_few_are_normal_to_the_eye_of_a_test():
    sums = _from_stream(8 * 50_000).reshape(-1, 8).sum(axis=1) / np.sqrt(8)
    assert kstest(sums, "norm").pvalue > 0.01
