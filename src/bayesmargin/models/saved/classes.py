"""Which classes saved models may hold: those of every model, and those that several share."""

from bayesmargin.models.registry import MODELS
from bayesmargin.saving.classes import Stored, register, stored

COMMON: dict[str, Stored] = {
    **stored("bayesmargin.samplers.auto", "Auto"),
    **stored("bayesmargin.samplers.langevin", "SSGLD"),
    **stored("bayesmargin.samplers.thermostat", "SSGNHT"),
    **stored("bayesmargin.samplers.friction", "SGHMC"),
    **stored("bayesmargin.samplers.hamiltonian", "SubgradientHMC", "LangevinMC"),
    **stored("bayesmargin.samplers.augmentation", "AugmentationGibbs"),
    **stored("bayesmargin.samplers.random_walk", "AusterityMetropolis"),
    **stored(
        "bayesmargin.dynamics.steps", "Constant", "Polynomial", "Unscaled", "AdaGrad", "RMSprop"
    ),
    **stored("bayesmargin.priors.moments", "GaussianBelief", "LaplaceBelief"),
    **stored("bayesmargin.calibration.maps", "BinaryLink", "MulticlassLink"),
    **stored("bayesmargin.models.linear.choosing", "Profile"),
    **stored("bayesmargin.calibration.forecasts", "LeftOutForecasts"),
    **stored("bayesmargin.diagnostics.convergence", "Diagnostics"),
    **stored("bayesmargin.models.saved.checkpoint", "Checkpoint"),
    **stored("bayesmargin.models.mixtures.settings", "HMC", "MixtureGibbs"),
    "Posterior": Stored(
        "bayesmargin.posterior",
        "Posterior",
        ("_draws", "dims", "coords", "attrs", "adjustment", "statistics"),
        later={"adjustment": None, "statistics": {}},
    ),
    **stored("bayesmargin.uncertainty.adjustment", "Adjustment"),
}


def tell_codec() -> None:
    """Let files name the classes of every model of the registry."""
    register(COMMON)
    for model in MODELS.values():
        register(model.saved_parts().CLASSES)
