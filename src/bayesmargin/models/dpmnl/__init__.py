"""Dirichlet-process mixture of multinomial logit models (Shahbaba and Neal, 2009)."""

from bayesmargin.models.dpmnl.classifier import DPMNLClassifier

__all__ = ["DPMNLClassifier"]
