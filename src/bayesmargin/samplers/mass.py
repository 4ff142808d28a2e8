"""Mass matrices that a user gives: checked, kept from change, and factored."""

from typing import Any

import numpy as np
from scipy import linalg

from bayesmargin.foundation.types import FloatArray


def given_mass(mass: Any) -> FloatArray:
    """A copy of ``mass`` that nobody can write to, or an error when it is none."""
    kept = np.array(mass, dtype=float)
    mass_factor(kept)
    kept.setflags(write=False)
    return kept


def mass_factor(mass: FloatArray) -> FloatArray:
    """Factor ``F`` of the inverse mass, ``F F' = M^-1``; an error when the mass has none."""
    if not np.all(np.isfinite(mass)):
        raise ValueError("mass holds NaN or infinity")
    if mass.ndim == 1:
        if not np.all(mass > 0):
            raise ValueError(
                f"mass is not positive definite: entry {int(np.argmin(mass))} of the diagonal is "
                f"{mass.min():.3g}"
            )
        return 1.0 / np.sqrt(mass)
    if mass.ndim != 2 or mass.shape[0] != mass.shape[1]:
        raise ValueError(f"mass has shape {mass.shape}: give a vector or a square matrix")
    if not np.allclose(mass, mass.T, rtol=1e-8, atol=1e-12 * np.abs(mass).max()):
        raise ValueError("mass is not symmetric")
    try:
        lower = linalg.cholesky(mass, lower=True)
    except linalg.LinAlgError:
        smallest = float(np.linalg.eigvalsh(mass)[0])
        raise ValueError(
            f"mass is not positive definite: its smallest eigenvalue is {smallest:.3g}"
        ) from None
    return linalg.solve_triangular(lower, np.eye(len(lower)), lower=True).T
