"""Squared normals and uniforms made of bits, in single precision: their laws, also far out."""

import numpy as np
import pytest
from scipy import stats

from bayesmargin.augmentation import variates as augmentation_variates
from bayesmargin.augmentation.variates import WORDS, new_lanes
from bayesmargin.foundation.compiling import from_python
from bayesmargin.foundation.random import inverse_gaussian_from as compiled_inverse_gaussian

inverse_gaussian_from = from_python(compiled_inverse_gaussian)
fill_variates = from_python(augmentation_variates.fill_variates)
minus_log = from_python(augmentation_variates.minus_log)
next_lanes = from_python(augmentation_variates.next_lanes)
sine_square = from_python(augmentation_variates.sine_square)
SIZE, BLOCKS = 256, 20_000


@pytest.fixture(scope="module")
def variates():
    """Squares and uniforms (block, row)."""
    return _variates(SIZE, BLOCKS)


def _variates(size, blocks, seed=0):
    lanes = new_lanes(np.random.default_rng(seed), size)
    bits = np.zeros((WORDS, lanes.shape[1]), np.uint32)
    square = np.zeros((blocks, size), np.float32)
    uniform = np.zeros((blocks, size), np.float32)
    for block in range(blocks):
        fill_variates(lanes, np.random.default_rng(0), bits, square[block], uniform[block])
    return square, uniform


def _reference(state):
    """xoshiro128++ in whole numbers of any size."""
    mask = 0xFFFFFFFF

    def rotate(x, k):
        return ((x << k) | (x >> (32 - k))) & mask

    a, b, c, d = state
    while True:
        yield (rotate((a + d) & mask, 7) + a) & mask
        shifted = (b << 9) & mask
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = rotate(d, 11)


def test_every_lane_is_xoshiro():
    lanes = new_lanes(np.random.default_rng(1), 6)
    references = [_reference([int(part) for part in lane]) for lane in lanes.T]
    out = np.zeros(3, np.uint32)
    for _ in range(100):
        next_lanes(lanes, out)
        assert out.tolist() == [next(reference) for reference in references]


def test_logarithm_and_sine_are_those_of_single_precision():
    values = np.exp(-np.random.default_rng(0).uniform(0.0, 22.0, 2000)).astype(np.float32)
    found = np.array([minus_log(value) for value in values])
    np.testing.assert_allclose(found, -np.log(values.astype(float)), rtol=5e-7, atol=1e-7)
    parts = np.r_[0, 1, 2, 2 ** np.arange(2, 31), 2**31 - 1].astype(np.uint32)
    angles = np.pi * (parts.astype(np.float32).astype(float) + 0.5) * 2.0**-32
    found = np.array([sine_square(part) for part in parts])
    np.testing.assert_allclose(found, np.sin(angles) ** 2, rtol=1e-6)


def test_squares_are_those_of_normals(variates):
    square = variates[0].ravel().astype(float)
    assert stats.kstest(square, stats.chi2(1).cdf).pvalue > 1e-3
    for power, moment in ((1, 1.0), (2, 3.0), (3, 15.0)):
        error = np.sqrt(np.var(square**power) / square.size)
        assert abs(np.mean(square**power) - moment) < 4.0 * error


@pytest.mark.parametrize("limit", [1e-10, 1e-8, 1e-6, 1e-4])
def test_small_squares_are_as_frequent_as_they_should_be(variates, limit):
    expected = variates[0].size * stats.chi2(1).cdf(limit)
    assert abs(np.sum(variates[0] < limit) - expected) < 4.0 * np.sqrt(expected)


@pytest.mark.parametrize("limit", [10.0, 15.0, 20.0])
def test_large_squares_are_as_frequent_as_they_should_be(variates, limit):
    expected = variates[0].size * stats.chi2(1).sf(limit)
    assert abs(np.sum(variates[0] > limit) - expected) < 4.0 * np.sqrt(expected)


def test_rows_that_share_an_angle_are_independent(variates):
    first, second = variates[0][:, : SIZE // 2].ravel(), variates[0][:, SIZE // 2 :].ravel()
    edges = stats.chi2(1).ppf(np.linspace(0.0, 1.0, 11))
    edges[-1] = np.inf
    counts = np.histogram2d(first, second, bins=[edges, edges])[0]
    assert stats.chisquare(counts.ravel()).pvalue > 1e-3


def test_uniforms_are_uniform_and_independent_of_the_squares(variates):
    square, uniform = (part.ravel().astype(float) for part in variates)
    assert stats.kstest(uniform, stats.uniform.cdf).pvalue > 1e-3
    assert uniform.min() > 0.0
    small = np.sum(uniform < 1e-5)
    assert abs(small - 1e-5 * uniform.size) < 4.0 * np.sqrt(1e-5 * uniform.size)
    for lag in (0, 1):
        correlation = np.corrcoef(np.sqrt(square[lag:]), uniform[: uniform.size - lag])[0, 1]
        assert abs(correlation) < 4.0 / np.sqrt(uniform.size)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_blocks_of_any_size(size):
    square, uniform = _variates(size, 4000)
    assert stats.kstest(square.ravel(), stats.chi2(1).cdf).pvalue > 1e-3
    assert stats.kstest(uniform.ravel(), stats.uniform.cdf).pvalue > 1e-3


@pytest.mark.parametrize("mean", [0.05, 1.0, 40.0, 1e4])
def test_inverse_gaussians_made_of_them(variates, mean):
    square, uniform = (part.ravel()[:300_000] for part in variates)
    found = np.empty(square.size, np.float32)
    for k in range(square.size):
        found[k] = inverse_gaussian_from(square[k], uniform[k], np.float32(mean))
    assert stats.kstest(found.astype(float), stats.invgauss(mean).cdf).pvalue > 1e-3
    # The law of the reciprocal's excess tests the other end.
    assert abs(np.mean(1.0 / found) - 1.0 - 1.0 / mean) < 4.0 * np.std(1.0 / found) / 547.0
