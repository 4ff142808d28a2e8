"""Bayesian max-margin models sampled by stochastic subgradient MCMC.

>>> from bayesmargin import BayesianLinearSVC
>>> BayesianLinearSVC(C=2.0)
BayesianLinearSVC(C=2.0)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesmargin.models.crowd.voting import MaxMarginVoting
    from bayesmargin.models.dpmnl.classifier import DPMNLClassifier
    from bayesmargin.models.infinite_svc.classifier import InfiniteSVC
    from bayesmargin.models.kernel.classifier import BayesianSVC
    from bayesmargin.models.linear.classifier import BayesianLinearSVC
    from bayesmargin.models.links.estimator import MaxMarginLinks
    from bayesmargin.models.medlda.classifier import MedLDAClassifier
    from bayesmargin.models.ratings.factorization import MaxMarginFactorization
    from bayesmargin.models.regression.quantiles import BayesianQuantileRegressor
    from bayesmargin.models.regression.svr import BayesianLinearSVR
    from bayesmargin.models.saved.checkpoint import Checkpoint
    from bayesmargin.models.saved.folders import load

__version__ = "0.1.0"

_OTHERS = {  # beside the models, which the registry knows
    "Checkpoint": "bayesmargin.models.saved.checkpoint",
    "load": "bayesmargin.models.saved.folders",
}

__all__ = [
    "BayesianLinearSVC",
    "BayesianLinearSVR",
    "BayesianQuantileRegressor",
    "BayesianSVC",
    "Checkpoint",
    "DPMNLClassifier",
    "InfiniteSVC",
    "MaxMarginFactorization",
    "MaxMarginLinks",
    "MaxMarginVoting",
    "MedLDAClassifier",
    "__version__",
    "load",
]


def __getattr__(name: str) -> Any:
    # Imported when first used: `import bayesmargin` should cost no more than the name.
    if name in _OTHERS:
        return getattr(import_module(_OTHERS[name]), name)
    if name in __all__:
        return import_module("bayesmargin.models.registry").MODELS[name].load()
    raise AttributeError(f"module 'bayesmargin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
