"""Modules that moved are found where they were, for two releases."""

import importlib

import pytest

from bayesmargin.dynamics.steps import AdaGrad
from bayesmargin.targets.problem import Problem


@pytest.mark.parametrize(("module", "kind"), [("steps", AdaGrad), ("problem", Problem)])
def test_former_homes_forward_with_a_warning(module, kind):
    old = importlib.import_module(f"bayesmargin.{module}")
    with pytest.warns(DeprecationWarning, match=f"bayesmargin.{module} is now bayesmargin"):
        assert getattr(old, kind.__name__) is kind
    with pytest.raises(AttributeError, match="nonsense"):
        getattr(old, "nonsense")  # noqa: B009
