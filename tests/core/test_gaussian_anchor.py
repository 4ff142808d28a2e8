"""What passes over the rows ask of a Gaussian: deviations of scores, and a bound of its norm."""

import numpy as np
import pytest
from scipy import linalg

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.newton import inverse_factor


def correlated(size: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((2 * size, size)) @ rng.standard_normal((size, size))
    return mixed * np.exp(3.0 * rng.standard_normal(size))


def anchor_of(rows: np.ndarray) -> GaussianAnchor:
    return GaussianAnchor(np.zeros(rows.shape[1]), inverse_factor(rows.T @ rows)[0])


@pytest.mark.parametrize("size", [1, 7, 60])
def test_spread_is_the_deviation_of_a_score(size):
    rows = correlated(size)
    anchor = anchor_of(rows)
    assert anchor.triangular
    scaled = (rows * np.sqrt(anchor.variances())).astype(anchor.unit_factor.dtype)
    direct = np.sqrt(np.sum((rows @ anchor.factor) ** 2, axis=1))
    np.testing.assert_allclose(anchor.spread(scaled), direct, rtol=1e-4)


def test_spread_of_a_factor_that_is_no_triangle():
    rows = correlated(6)
    turned = anchor_of(rows).factor @ linalg.qr(rows[:6])[0]
    anchor = GaussianAnchor(np.zeros(6), turned[:, :5])  # a direction left out
    assert not anchor.triangular
    direct = np.sqrt(np.sum((rows @ anchor.factor) ** 2, axis=1))
    scaled = rows * np.sqrt(anchor.variances())
    np.testing.assert_allclose(anchor.spread(scaled), direct, rtol=1e-10)


def test_narrow_directions_are_multiplied_in_double_precision():
    """Two columns that are nearly one: their difference is known as badly as the prior knows it."""
    rng = np.random.default_rng(1)
    twin = rng.standard_normal((100, 1)) * [1e4, 1e4]
    rows = np.vstack([twin, np.eye(2)])
    anchor = anchor_of(rows)
    assert anchor.unit_factor.dtype == np.float64
    sums = np.array([[1e4, 1e4]])  # as narrow beside the weights as 1e-6
    direct = np.sqrt(np.sum((sums @ anchor.factor) ** 2))
    found = anchor.spread(sums * np.sqrt(anchor.variances()))[0]
    assert found == pytest.approx(direct, rel=1e-6)
    assert direct < 1e-4 * np.linalg.norm(sums * np.sqrt(anchor.variances()))


@pytest.mark.parametrize("size", [1, 4, 40])
def test_widest_bounds_the_spectral_norm_closely(size):
    for seed in range(5):
        anchor = anchor_of(correlated(size, seed))
        unit = anchor.factor / np.sqrt(anchor.variances())[:, None]
        norm = np.linalg.norm(unit, 2)
        assert (1.0 - 1e-6) * norm <= anchor.widest() <= 1.3 * norm


def test_widest_is_exact_without_correlations():
    assert GaussianAnchor(np.zeros(50), np.diag(np.arange(1.0, 51.0))).widest() == pytest.approx(1)
    assert GaussianAnchor(np.zeros(50), np.arange(1.0, 51.0)).widest() == 1.0
