"""Positions to weights and gradients back, against plain matrix products."""

import numpy as np
import pytest

from bayesmargin.targets.coordinates import fill_gradient, fill_weights, rotated, weights_from


@pytest.mark.parametrize("triangular", [False, True])
@pytest.mark.parametrize("n_blocks", [1, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 11, 16, 19])
def test_rotated_coordinates_are_matrix_products(size, n_blocks, triangular):
    rng = np.random.default_rng(size)
    basis = rng.normal(size=(n_blocks, size, size))
    basis = np.triu(basis) if triangular else basis
    centre, position = rng.normal(size=(2, n_blocks * size))
    coordinates = rotated(centre, basis)
    assert coordinates.triangular == (triangular or size == 1)
    parts = position.reshape(n_blocks, size)
    found = np.empty(n_blocks * size)
    fill_weights(coordinates, position, found)
    np.testing.assert_allclose(found, centre + np.einsum("bij,bj->bi", basis, parts).ravel())
    np.testing.assert_allclose(found, weights_from(coordinates, position[None])[0])
    fill_gradient(coordinates, position, found)
    np.testing.assert_allclose(found, np.einsum("bij,bi->bj", basis, parts).ravel())


def test_a_triangular_basis_is_read_to_its_diagonal_only():
    """The zeros are left out, not multiplied: what is put there later has no effect."""
    coordinates = rotated(np.zeros(24), np.triu(np.ones((24, 24))))
    coordinates.basis[0, 8:16, :8] = np.nan
    coordinates.transposed[0, :8, 8:16] = np.nan
    out = np.empty(24)
    fill_weights(coordinates, np.ones(24), out)
    np.testing.assert_array_equal(out, np.arange(24, 0, -1))
    fill_gradient(coordinates, np.ones(24), out)
    np.testing.assert_array_equal(out, np.arange(1, 25))


@pytest.mark.parametrize("triangular", [False, True])
def test_single_precision_rounds_the_basis_and_little_else(triangular):
    """What compiled code makes of a position is what ``weights_from`` says of it later."""
    rng = np.random.default_rng(0)
    basis = rng.normal(size=(45, 45))
    basis = np.triu(basis) if triangular else basis
    centre, position, gradient = rng.normal(size=(3, 45))
    coordinates = rotated(centre, basis, np.float32)
    assert coordinates.triangular == triangular
    rounded = coordinates.basis[0].astype(float)
    np.testing.assert_allclose(rounded, basis, rtol=1e-7)
    weights, back = np.empty((2, 45))
    fill_weights(coordinates, position, weights)
    np.testing.assert_allclose(weights, centre + rounded @ position, atol=2e-6)
    np.testing.assert_allclose(weights, weights_from(coordinates, position[None])[0], atol=2e-6)
    fill_gradient(coordinates, gradient, back)
    np.testing.assert_allclose(back, rounded.T @ gradient, atol=2e-6)


@pytest.mark.parametrize("triangular", [False, True])
@pytest.mark.parametrize(("size", "width"), [(6, 4), (7, 2), (12, 8), (13, 11), (9, 8), (27, 18)])
def test_positions_may_be_fewer_than_weights(size, width, triangular):
    rng = np.random.default_rng(size)
    basis = rng.normal(size=(size, width))
    if triangular:
        basis[np.arange(size)[:, None] - (size - width) > np.arange(width)] = 0.0
    centre, position, gradient = (rng.normal(size=n) for n in (size, width, size))
    coordinates = rotated(centre, basis)
    assert coordinates.triangular == triangular
    found, back = np.empty(size), np.empty(width)
    fill_weights(coordinates, position, found)
    np.testing.assert_allclose(found, centre + basis @ position)
    np.testing.assert_allclose(found, weights_from(coordinates, position[None])[0])
    fill_gradient(coordinates, gradient, back)
    np.testing.assert_allclose(back, basis.T @ gradient)
