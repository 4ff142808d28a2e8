"""Demands on the parts of a loaded model, so that nothing compiled reads amiss."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmargin.errors import SavedModelError


def require(condition: Any, what: str) -> None:
    """Raise :class:`SavedModelError` where a part is not as it should be."""
    if not condition:
        raise SavedModelError(f"its parts do not fit each other: {what}")


def require_array(value: Any, shape: Sequence[int | None], kinds: str, what: str) -> np.ndarray:
    """An array of the given shape (None: any length) and kind of type."""
    require(isinstance(value, np.ndarray) and value.dtype.kind in kinds, what)
    require(value.dtype.kind != "f" or value.dtype in (np.float32, np.float64), what)
    fits = len(value.shape) == len(shape) and all(
        wanted is None or size == wanted for size, wanted in zip(value.shape, shape, strict=True)
    )
    require(fits, f"{what} has the shape {value.shape}")
    array: np.ndarray = value
    return array


def require_known(value: Any, shape: Sequence[int | None], what: str) -> np.ndarray:
    """Likewise of real numbers, none of them NaN."""
    array = require_array(value, shape, "f", what)
    require(not np.isnan(array).any(), f"{what} has values that are no numbers")
    return array


def require_number(value: Any, what: str) -> None:
    """A finite number."""
    require(isinstance(value, float) and np.isfinite(value), what)


def is_whole(value: Any) -> bool:
    """Whether something is a whole number and no truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
