"""Saving fitted models without pickle, and checkpoints of fits under way.

The files here are formats and know no model; what is known of models stands in
``bayesmargin.models.saved``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesmargin.models.saved.folders import load, read_model, write_model

__all__ = ["load", "read_model", "write_model"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("bayesmargin.models.saved.folders"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
