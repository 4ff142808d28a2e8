"""Products with the metric of an expert, which handle several vectors and lines at a time."""

import numpy as np
import pytest

from bayesmargin.foundation.compiling import from_python
from bayesmargin.models.infinite_svc.anchor import add_unwhitened, whiten


@pytest.mark.parametrize("vectors", [1, 3, 4, 9])
@pytest.mark.parametrize("size", [1, 2, 5, 8])
@pytest.mark.parametrize("width", [0.0, 0.7])
def test_products_with_the_whitener_and_its_transpose(vectors, size, width):
    rng = np.random.default_rng(vectors + 10 * size)
    stored = rng.normal(size=(size, size))  # what is above the diagonal is not read
    matrix = np.tril(stored) if width == 0.0 else width * np.eye(size)
    given, weights = rng.normal(size=(2, vectors, size))
    whitened = np.full(vectors * size, np.nan)
    from_python(whiten)(width, stored, given, whitened)
    whitened = whitened.reshape(vectors, size)
    np.testing.assert_allclose(whitened, given @ matrix.T, rtol=1e-12, atol=1e-12)
    moved = weights.copy()
    from_python(add_unwhitened)(width, stored, given.ravel(), moved)
    np.testing.assert_allclose(moved, weights + given @ matrix, rtol=1e-12, atol=1e-12)
