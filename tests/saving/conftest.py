"""Checkpoints as often as there can be."""

import pytest

from bayesmargin.running import checkpoint as checkpoints


@pytest.fixture
def always_due(monkeypatch):
    """Checkpoints at every opportunity."""
    monkeypatch.setattr(checkpoints, "LARGEST_SHARE", 1e9)
