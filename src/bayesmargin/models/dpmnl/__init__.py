"""Dirichlet-process mixture of multinomial logit models (Shahbaba and Neal, 2009)."""

from bayesmargin.models.dpmnl.classifier import DPMNLClassifier
from bayesmargin.models.mixtures.settings import HMC, MixtureGibbs

__all__ = ["HMC", "DPMNLClassifier", "MixtureGibbs"]
