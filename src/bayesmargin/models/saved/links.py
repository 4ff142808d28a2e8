"""What saving knows of max-margin links: classes, draws, what a loaded one must hold."""

from typing import Any

import numpy as np

from bayesmargin.models.saved.linear import layout
from bayesmargin.models.saved.requiring import (
    require,
    require_array,
    require_known,
    require_number,
)
from bayesmargin.saving.classes import stored

__all__ = ["CLASSES", "check", "layout"]

CLASSES = {
    **stored("bayesmargin.models.links.model", "Draw", prefix="links."),
    **stored("bayesmargin.models.links.answers", "Chances", prefix="links."),
}


def check(model: Any, features: int) -> None:
    """Raise where parts of a model do not fit each other."""
    from bayesmargin.models.links.answers import Chances
    from bayesmargin.models.links.model import Draw
    from bayesmargin.models.links.settings import check_settings
    from bayesmargin.posterior import Posterior

    check_settings(model)
    entities = require_array(model.entities_, [features], "iufUSb", "entities_")
    relations = len(require_array(model.relations_, [None], "iufUSb", "relations_"))
    require(len(entities) > 2 and relations > 0, "entities_")
    require(isinstance(model.chances_, Chances), "chances_")
    require_number(model.chances_.slope, "chances_")
    require_number(model.chances_.offset, "chances_")
    require_array(model.n_features_, [None, None], "i", "n_features_")
    posterior = model.posterior_
    require(isinstance(posterior, Posterior), "posterior_")
    intercept = require_known(posterior["intercept"], [None, None, relations], "intercept")
    chains, draws, _ = intercept.shape
    require_known(posterior["n_features"], [chains, draws], "n_features")
    require(chains * draws > 0 and len(model._draws) == chains * draws, "draws")
    for draw in model._draws:
        require(isinstance(draw, Draw), "draws")
        held = require_array(draw.held, [features, None], "i", "features of a draw")
        require(bool(np.isin(held, (0, 1)).all()), "features of a draw")
        size = held.shape[1]
        require_known(draw.weights, [relations, size, size], "weights of a draw")
        require_known(draw.intercept, [relations], "intercepts of a draw")
    require(isinstance(vars(model)["diagnostics_"], dict), "diagnostics_")
