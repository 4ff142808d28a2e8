"""What saving knows of linear regressions: the draws by name, and what a loaded one must hold."""

from typing import Any

import numpy as np

from bayesmargin.models.saved.linear import check_adjustment, check_statistics, layout
from bayesmargin.models.saved.requiring import (
    require,
    require_array,
    require_known,
    require_number,
)
from bayesmargin.saving.classes import Stored, stored

__all__ = ["CLASSES", "check", "layout"]

CLASSES: dict[str, Stored] = stored("bayesmargin.calibration.residuals", "LeftOut")


def check(model: Any, features: int) -> None:
    """Raise where parts of a model of so many features do not fit each other."""
    from bayesmargin.calibration.residuals import LeftOut
    from bayesmargin.diagnostics.convergence import Diagnostics
    from bayesmargin.models.registry import model_of
    from bayesmargin.models.regression.settings import quantile_levels
    from bayesmargin.posterior import Posterior

    entry = model_of(model)
    assert entry is not None
    entry.check_settings(model)
    levels = quantile_levels(getattr(model, "quantile", 0.5))
    if not hasattr(model, "n_outputs_"):
        model.n_outputs_ = 1  # saved before there were more
    outputs = model.n_outputs_
    require(isinstance(outputs, int) and outputs > 0, "n_outputs_")
    count = len(levels) * outputs
    heads = [] if count == 1 else [count]
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
    found, columns = model.left_out_, 3 if len(levels) > 1 else outputs
    require(isinstance(found, LeftOut), "left_out_")
    rows = len(require_known(found.weight, [None], "left_out_"))
    require_known(found.residual, [rows, columns], "left_out_")
    require_known(found.variance, [rows, columns], "left_out_")
    require_known(found.inflation, [count], "left_out_")
    costs = np.atleast_1d(model.C_)
    require(costs.shape == (count,) and np.all(costs > 0.0), "C_")
    if hasattr(model, "epsilon_") and outputs == 1:
        require_number(model.epsilon_, "epsilon_")
    elif hasattr(model, "epsilon_"):
        require_array(model.epsilon_, [outputs], "f", "epsilon_")
    columns = features + int(model.fit_intercept)
    check_adjustment(posterior.adjustment, count, columns)
    check_statistics(posterior)
