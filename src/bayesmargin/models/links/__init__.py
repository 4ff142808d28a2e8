"""Links between entities, explained by features that nobody has seen."""

from bayesmargin.models.links.estimator import MaxMarginLinks

__all__ = ["MaxMarginLinks"]
