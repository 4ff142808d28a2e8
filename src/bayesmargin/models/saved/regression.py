"""What saving knows of linear regressions: the draws by name, and what a loaded one must hold."""

from typing import Any

import numpy as np

from bayesmargin.models.saved.linear import layout
from bayesmargin.models.saved.requiring import require, require_array
from bayesmargin.saving.classes import Stored

__all__ = ["CLASSES", "check", "layout"]

CLASSES: dict[str, Stored] = {}  # all that a regression holds is held by others, too


def check(model: Any, features: int) -> None:
    """Raise where parts of a model of so many features do not fit each other."""
    from bayesmargin.diagnostics.convergence import Diagnostics
    from bayesmargin.models.registry import model_of
    from bayesmargin.models.regression.settings import quantile_levels
    from bayesmargin.posterior import Posterior

    entry = model_of(model)
    assert entry is not None
    entry.check_settings(model)
    levels = quantile_levels(getattr(model, "quantile", 0.5))
    heads = [] if len(levels) == 1 else [len(levels)]
    require_array(model.coef_, [*heads, features], "f", "coef_")
    if isinstance(model.intercept_, float):
        require(np.isfinite(model.intercept_) and not heads, "intercept_")
    else:
        require_array(model.intercept_, heads or [1], "f", "intercept_")
    posterior = model.posterior_
    require(isinstance(posterior, Posterior), "posterior_")
    coef = require_array(posterior["coef"], [None, None, *heads, features], "f", "coef")
    require_array(posterior["intercept"], [*coef.shape[:2], *heads], "f", "intercept")
    require(isinstance(model.diagnostics_, Diagnostics), "diagnostics_")
