"""Every class that a saved model or a checkpoint may contain; nothing else is ever made.

A file names a class by the key of this table. A dataclass or NamedTuple is rebuilt by calling it
with its fields; any other class lists its attributes here, and a file must give exactly these.
"""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

ESTIMATORS = {
    "BayesianLinearSVC": "bayesmargin.models.linear.classifier",
    "DPMNLClassifier": "bayesmargin.models.dpmnl.classifier",
    "InfiniteSVC": "bayesmargin.models.infinite_svc.classifier",
    "MedLDAClassifier": "bayesmargin.models.medlda.classifier",
}


@dataclass(frozen=True)
class Entry:
    """Where a class lives, and how it is taken apart."""

    module: str
    name: str
    attributes: tuple[str, ...] = ()
    """Attributes of a class that is neither dataclass nor NamedTuple."""
    dropped: dict[str, Any] = field(default_factory=dict)
    """Attributes that are not stored, and what they are after loading."""

    def load(self) -> type:
        """The class itself."""
        found: type = getattr(import_module(self.module), self.name)
        return found


def _entries(module: str, *names: str, prefix: str = "") -> dict[str, Entry]:
    return {prefix + name: Entry(f"bayesmargin.{module}", name) for name in names}


_MEDLDA, _INFINITE, _DPMNL = "models.medlda", "models.infinite_svc", "models.dpmnl"

CLASSES: dict[str, Entry] = {
    **_entries("samplers.auto", "Auto"),
    **_entries("samplers.langevin", "SSGLD"),
    **_entries("samplers.thermostat", "SSGNHT"),
    **_entries("samplers.friction", "SGHMC"),
    **_entries("samplers.hamiltonian", "SubgradientHMC", "LangevinMC"),
    **_entries("samplers.augmentation", "AugmentationGibbs"),
    **_entries("samplers.random_walk", "AusterityMetropolis"),
    **_entries("dynamics.steps", "Constant", "Polynomial", "Unscaled", "AdaGrad", "RMSprop"),
    **_entries("priors.moments", "GaussianBelief", "LaplaceBelief"),
    **_entries("calibration.maps", "BinaryLink", "MulticlassLink"),
    **_entries("diagnostics.convergence", "Diagnostics"),
    "Posterior": Entry(
        "bayesmargin.posterior", "Posterior", ("_draws", "dims", "coords", "attrs")
    ),
    **_entries(f"{_MEDLDA}.brevity", "Brevity", prefix="medlda."),
    **_entries(f"{_MEDLDA}.chances", "LabelChances", prefix="medlda."),
    **_entries(f"{_MEDLDA}.documents", "Documents", prefix="medlda."),
    **_entries(f"{_MEDLDA}.expected", "ExpectedTopics", prefix="medlda."),
    **_entries(f"{_MEDLDA}.hinges", "LabelSetHinge", "MultiTaskHinge", prefix="medlda."),
    **_entries(f"{_MEDLDA}.labels", "LabelCode", prefix="medlda."),
    **_entries(f"{_MEDLDA}.link", "ScoreLink", prefix="medlda."),
    **_entries(f"{_MEDLDA}.parameters", "Resolved", prefix="medlda."),
    **_entries(f"{_MEDLDA}.posterior", "TopicPosterior", prefix="medlda."),
    **_entries(f"{_MEDLDA}.quadratic", "QuadraticWorkspace", prefix="medlda."),
    **_entries(f"{_MEDLDA}.settings", "Settings", prefix="medlda."),
    **_entries(f"{_MEDLDA}.weights", "LangevinMover", "ThermostatMover", prefix="medlda."),
    "medlda.Chain": Entry(
        f"bayesmargin.{_MEDLDA}.ssgrld",
        "Chain",
        (
            *("settings", "mover", "generators", "streams", "lanes", "time", "clock"),
            *("topics", "moved", "deviation", "coef"),
        ),
        {"_aids": None},
    ),
    "medlda.PassiveAggressive": Entry(
        f"bayesmargin.{_MEDLDA}.passive_aggressive",
        "PassiveAggressive",
        (
            *("hinge", "alpha", "beta", "rng", "n_rounds", "n_sweeps", "delta", "precision"),
            *("linear", "mean", "covariance", "work", "_topics"),
        ),
    ),
    "medlda.OnlineLearner": Entry(
        f"bayesmargin.{_MEDLDA}.learners",
        "OnlineLearner",
        ("chain", "posterior", "_n_draws", "_n_threads"),
        {"_crew": None},
    ),
    # Collapsed Gibbs sampling has no partial_fit: its chain, which holds all words, is not kept.
    "medlda.BatchLearner": Entry(
        f"bayesmargin.{_MEDLDA}.learners",
        "BatchLearner",
        ("posterior", "_n_draws", "_time"),
        {"chain": None},
    ),
    "medlda.StreamLearner": Entry(
        f"bayesmargin.{_MEDLDA}.learners", "StreamLearner", ("state", "posterior")
    ),
    "medlda.Training": Entry(
        f"bayesmargin.{_MEDLDA}.training",
        "Training",
        (
            *("resolved", "code", "n_words", "n_threads", "n_seen", "columns", "n_chains"),
            *("order", "seed", "learners", "held_out", "known", "n_labelled"),
        ),
        {"_generators": []},
    ),
    **_entries(f"{_INFINITE}.chain", "Settings", prefix="infinite."),
    **_entries("models.mixtures.start", "Scaling", prefix="infinite."),
    **_entries(f"{_INFINITE}.fitting", "Problem", prefix="infinite."),
    **_entries(f"{_INFINITE}.link", "Link", prefix="infinite."),
    **_entries(f"{_INFINITE}.prediction", "Draw", prefix="infinite."),
    **_entries(
        f"{_INFINITE}.state", "Rows", "Base", "UncorrelatedBase", "Hinge", "Components",
        "Assignment", prefix="infinite.",
    ),
    **_entries(f"{_INFINITE}.weights_thermostat", "Thermostat", prefix="infinite."),
    **_entries(f"{_INFINITE}.weights_langevin", "Langevin", prefix="infinite."),
    **_entries(f"{_INFINITE}.weights_hamiltonian", "Hamiltonian", prefix="infinite."),
    **_entries(f"{_INFINITE}.weights_augmentation", "Augmentation", prefix="infinite."),
    **_entries(f"{_DPMNL}.prediction", "Draw", prefix="dpmnl."),
    **_entries(f"{_DPMNL}.state", "Experts", "Hyper", prefix="dpmnl."),
}  # fmt: skip

KEYS = {(entry.module, entry.name): key for key, entry in CLASSES.items()}


def key_of(kind: type) -> str | None:
    """Name under which a class may be stored, None when it may not."""
    return KEYS.get((kind.__module__, kind.__qualname__))
