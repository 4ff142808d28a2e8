"""What saving knows of dpMNL: its classes, its draws, what a loaded one must hold."""

from typing import Any

import numpy as np

from bayesmargin.models.saved.requiring import require, require_array, require_known
from bayesmargin.models.saved.variables import Layout, mixture_variables, trace_variable
from bayesmargin.saving.classes import stored

_HOME, _PREFIX = "bayesmargin.models.dpmnl", "dpmnl."

CLASSES = {
    **stored(f"{_HOME}.prediction", "Draw", prefix=_PREFIX),
    **stored(f"{_HOME}.state", "Experts", "Hyper", prefix=_PREFIX),
}


def layout(model: Any) -> Layout:
    """The trace of the number of components, and the components of the kept draws."""
    dims = {
        "mean": ("entry", "feature"),
        "log_variance": ("entry", "feature"),
        "coefficients": ("entry", "class", "column"),
        "log_scale": ("entry", "scale"),
    }
    variables, places = mixture_variables(
        [draw.experts for draw in model._draws],
        1,
        dims,
        [trace_variable("n_components", model.n_components_[None].astype(np.int32))],
    )
    weights, more = mixture_variables(model._draws, 1, {"log_weight": ("entry",)}, [])
    known = {variable.name for variable in variables}
    return [*variables, *(v for v in weights if v.name not in known)], places | more


def check(model: Any, features: int) -> None:
    """Raise where parts of a model of so many features do not fit each other."""
    from bayesmargin.models.dpmnl.settings import check_settings

    check_settings(model)
    require_array(model._scaling.centre, [features], "f", "scaling")
    require_array(model._scaling.width, [features], "f", "scaling")
    require(len(model._draws) > 0, "draws")
    for draw in model._draws:
        _check_logit_draw(draw, features, len(model.classes_))
    require_array(model.n_components_, [None], "i", "n_components_")


def _check_logit_draw(draw: Any, features: int, n_classes: int) -> None:
    from bayesmargin.models.dpmnl.prediction import Draw
    from bayesmargin.models.dpmnl.state import Experts, Hyper

    require(isinstance(draw, Draw) and isinstance(draw.experts, Experts), "experts of a draw")
    weights, experts, base = draw
    number = len(require_known(weights, [None], "weights of a draw"))
    require(number > 0, "weights of a draw")
    for name, length in (("population", number), ("order", number), ("size", 1)):
        require_array(getattr(experts, name), [length], "i", name)
    require_known(experts.log_scale, [number, 2], "scales of a draw")
    require_known(experts.mean, [number, features], "means of a draw")
    require_known(experts.log_variance, [number, features], "variances of a draw")
    shape = [number, n_classes, features + 1]
    require_known(experts.coefficients, shape, "coefficients of a draw")
    if base is not None:  # models of before it was kept have none
        require(isinstance(base, Hyper), "base measure of a draw")
        for part in base[:4]:
            require_known(part, [features], "base measure of a draw")
        require_known(base.log_concentration, [1], "base measure of a draw")
        if base.narrowest is not None:
            require_known(base.narrowest, [features], "base measure of a draw")
