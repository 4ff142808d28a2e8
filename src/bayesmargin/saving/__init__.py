"""Saving fitted models without pickle, and checkpoints of fits under way."""

from bayesmargin.saving.models import load, read_model, write_model

__all__ = ["load", "read_model", "write_model"]
