"""Former home of :mod:`bayesmargin.dynamics.steps`, kept for two releases."""

import warnings
from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    found = getattr(import_module("bayesmargin.dynamics.steps"), name)
    warnings.warn(
        "bayesmargin.steps is now bayesmargin.dynamics.steps; it goes with 0.3",
        DeprecationWarning,
        stacklevel=2,
    )
    return found
