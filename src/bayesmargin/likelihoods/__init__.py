"""Pseudo-likelihoods with kinks: convex piecewise-linear functions of a few scores."""

from bayesmargin.likelihoods.base import OneScore
from bayesmargin.likelihoods.classification import Hinge
from bayesmargin.likelihoods.pieces import Pieces
from bayesmargin.likelihoods.regression import (
    Absolute,
    EpsilonInsensitive,
    PiecewiseLinear,
    Pinball,
)

__all__ = [
    "Absolute",
    "EpsilonInsensitive",
    "Hinge",
    "OneScore",
    "Pieces",
    "PiecewiseLinear",
    "Pinball",
]
