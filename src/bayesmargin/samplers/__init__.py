"""Samplers: each a set of settings that an estimator's ``sampler=`` takes, by name or as object."""

from bayesmargin.samplers.base import Sampler
from bayesmargin.samplers.stochastic import SGHMC, SSGLD, SSGNHT

__all__ = ["SGHMC", "SSGLD", "SSGNHT", "Sampler"]
