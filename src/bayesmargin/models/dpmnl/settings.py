"""Checks of the parameters of :class:`DPMNLClassifier`."""

from typing import Any

from bayesmargin.foundation.arguments import require_count, require_given
from bayesmargin.models.mixtures.classifier import check_sweeps


def check_settings(estimator: Any) -> int:
    """Raise a clear error for the first parameter that is not allowed; return the burn-in."""
    for name in ("n_draws", "n_auxiliary", "n_leapfrog"):
        require_count(name, getattr(estimator, name), 1)
    require_count("split_merge", estimator.split_merge, 0)
    require_given(step=estimator.step)
    return check_sweeps(estimator)[1]
