"""Samplers: each a set of settings that an estimator's ``sampler=`` takes, by name or as object."""

from bayesmargin.samplers.augmentation_settings import AugmentationGibbs
from bayesmargin.samplers.auto import Auto
from bayesmargin.samplers.base import Sampler
from bayesmargin.samplers.friction_settings import SGHMC
from bayesmargin.samplers.hamiltonian_settings import LangevinMC, SubgradientHMC
from bayesmargin.samplers.langevin_settings import SSGLD
from bayesmargin.samplers.random_walk_settings import AusterityMetropolis
from bayesmargin.samplers.thermostat_settings import SSGNHT

__all__ = [
    "SGHMC",
    "SSGLD",
    "SSGNHT",
    "AugmentationGibbs",
    "AusterityMetropolis",
    "Auto",
    "LangevinMC",
    "Sampler",
    "SubgradientHMC",
]
