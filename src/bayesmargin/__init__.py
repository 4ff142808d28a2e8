"""Bayesian max-margin models sampled by stochastic subgradient MCMC.

>>> from bayesmargin import BayesianLinearSVC
>>> BayesianLinearSVC(C=2.0)
BayesianLinearSVC(C=2.0)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesmargin.models.dpmnl import DPMNLClassifier
    from bayesmargin.models.infinite_svc import InfiniteSVC
    from bayesmargin.models.linear.classifier import BayesianLinearSVC
    from bayesmargin.models.medlda import MedLDAClassifier
    from bayesmargin.saving import load

__version__ = "0.1.0"

# Imported when first used: `import bayesmargin` should cost no more than the name.
_HOMES = {
    "BayesianLinearSVC": "bayesmargin.models.linear.classifier",
    "DPMNLClassifier": "bayesmargin.models.dpmnl",
    "InfiniteSVC": "bayesmargin.models.infinite_svc",
    "MedLDAClassifier": "bayesmargin.models.medlda",
    "load": "bayesmargin.saving",
}

__all__ = [
    "BayesianLinearSVC",
    "DPMNLClassifier",
    "InfiniteSVC",
    "MedLDAClassifier",
    "__version__",
    "load",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'bayesmargin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
