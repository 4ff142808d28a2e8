"""Samplers: each a set of settings that an estimator's ``sampler=`` takes, by name or as object."""

from bayesmargin.samplers.anchor import Anchor
from bayesmargin.samplers.augmentation import AugmentationGibbs
from bayesmargin.samplers.auto import Auto
from bayesmargin.samplers.base import Sampler
from bayesmargin.samplers.friction import SGHMC
from bayesmargin.samplers.hamiltonian import LangevinMC, SubgradientHMC
from bayesmargin.samplers.langevin import SSGLD
from bayesmargin.samplers.random_walk import AusterityMetropolis
from bayesmargin.samplers.stochastic import StochasticSampler
from bayesmargin.samplers.thermostat import SSGNHT

__all__ = [
    "SGHMC",
    "SSGLD",
    "SSGNHT",
    "Anchor",
    "AugmentationGibbs",
    "AusterityMetropolis",
    "Auto",
    "LangevinMC",
    "Sampler",
    "StochasticSampler",
    "SubgradientHMC",
]
