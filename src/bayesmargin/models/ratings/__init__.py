"""Ratings of items by users: max-margin matrix factorization."""

from bayesmargin.models.ratings.factorization import MaxMarginFactorization

__all__ = ["MaxMarginFactorization"]
