"""What saving knows of max-margin voting: its classes, its draws, what a loaded one must hold."""

from typing import Any

import numpy as np

from bayesmargin.models.saved.linear import layout
from bayesmargin.models.saved.requiring import require, require_array, require_known
from bayesmargin.saving.classes import stored

__all__ = ["CLASSES", "check", "layout"]

CLASSES = {
    **stored("bayesmargin.dynamics.hamiltonian", "HamiltonianState"),
    **stored("bayesmargin.models.crowd.model", "Draw", prefix="crowd."),
}


def check(model: Any, features: int) -> None:
    """Raise where parts of a model do not fit each other."""
    from bayesmargin.models.crowd.settings import check_settings
    from bayesmargin.posterior import Posterior

    plan = check_settings(model)
    require(features == 3, "n_features_in_")
    for name in ("items_", "workers_", "classes_"):
        names = require_array(getattr(model, name), [None], "iufUSb", name)
        require(len(names) and bool((names[1:] > names[:-1]).all()), name)
    size, workers = len(model.classes_), len(model.workers_)
    require(size > 1, "classes_")
    require_known(model.probability_, [len(model.items_), size], "probability_")
    posterior = model.posterior_
    require(isinstance(posterior, Posterior), "posterior_")
    weight = require_known(posterior["weight"], [None, None, workers], "weight")
    require(weight.size > 0, "weight")
    require(("confusion" in posterior) == (plan.pseudo_counts is not None), "confusion")
    if "confusion" in posterior:
        chains, draws, _ = weight.shape
        require_known(posterior["accuracy"], [chains, draws, workers], "accuracy")
        shape = [chains, draws, workers, size, size]
        for name, wanted in (("confusion", shape), ("share", [chains, draws, size])):
            values = require_known(posterior[name], wanted, name)
            require(bool(np.all((values >= 0.0) & (values <= 1.0))), name)
    require(isinstance(vars(model)["diagnostics_"], dict), "diagnostics_")
