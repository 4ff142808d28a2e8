"""Infinite SVM: a Dirichlet-process mixture of linear max-margin experts."""

from bayesmargin.models.infinite_svc.classifier import InfiniteSVC

__all__ = ["InfiniteSVC"]
