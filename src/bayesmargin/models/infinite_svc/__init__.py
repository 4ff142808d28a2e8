"""Infinite SVM: a Dirichlet-process mixture of linear max-margin experts."""

from bayesmargin.models.infinite_svc.classifier import InfiniteSVC
from bayesmargin.models.infinite_svc.components import GaussianComponents
from bayesmargin.models.mixtures.settings import HMC, MixtureGibbs

__all__ = ["HMC", "GaussianComponents", "InfiniteSVC", "MixtureGibbs"]
