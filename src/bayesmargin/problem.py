"""Former home of :mod:`bayesmargin.targets.problem`, kept for two releases."""

import warnings
from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    found = getattr(import_module("bayesmargin.targets.problem"), name)
    warnings.warn(
        "bayesmargin.problem is now bayesmargin.targets.problem; it goes with 0.3",
        DeprecationWarning,
        stacklevel=2,
    )
    return found
