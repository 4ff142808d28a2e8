"""What saving knows of max-margin factorization: classes, draws, what a loaded one must hold."""

from typing import Any

from bayesmargin.models.saved.linear import layout
from bayesmargin.models.saved.requiring import require, require_array, require_known
from bayesmargin.saving.classes import stored

__all__ = ["CLASSES", "check", "layout"]

CLASSES = {
    **stored("bayesmargin.dynamics.base", "State"),
    **stored("bayesmargin.models.ratings.model", "Draw", prefix="ratings."),
    **stored("bayesmargin.models.ratings.priors", "Priors", prefix="ratings."),
}


def check(model: Any, features: int) -> None:
    """Raise where parts of a model do not fit each other."""
    from bayesmargin.models.ratings.settings import check_settings
    from bayesmargin.posterior import Posterior

    check_settings(model)
    require(features == 3, "n_features_in_")
    for name in ("users_", "items_"):
        names = require_array(getattr(model, name), [None], "iufUSb", name)
        require(len(names) and bool((names[1:] > names[:-1]).all()), name)
    levels = require_array(model.levels_, [None], "iufUSb", "levels_")
    require(len(levels) > 1, "levels_")
    posterior = model.posterior_
    require(isinstance(posterior, Posterior), "posterior_")
    bias = require_known(posterior["user_bias"], [None, None, len(model.users_)], "user_bias")
    require(bias.size > 0, "user_bias")
    chains, draws, users = bias.shape
    items, cuts = len(model.items_), len(levels) - 1
    if model.n_factors == "infinite":
        require_known(posterior["n_features"], [chains, draws], "n_features")
        factors = posterior["item_factors"].shape[-1]
    else:
        factors = int(model.n_factors)
    for name, shape in (
        ("user_factors", [users, factors]),
        ("thresholds", [users, cuts]),
        ("item_bias", [items]),
        ("item_factors", [items, factors]),
        ("new_user", [1 + factors + cuts]),
        ("new_item", [1 + factors]),
    ):
        require_known(posterior[name], [chains, draws, *shape], name)
    require(isinstance(vars(model)["diagnostics_"], dict), "diagnostics_")
