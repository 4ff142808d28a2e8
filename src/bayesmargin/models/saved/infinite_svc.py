"""What saving knows of the infinite SVM: its classes, its draws, what a loaded one must hold."""

from typing import Any

import numpy as np

from bayesmargin.models.saved.requiring import require, require_array, require_number
from bayesmargin.models.saved.variables import Layout, mixture_variables, trace_variable
from bayesmargin.saving.classes import stored

_HOME, _PREFIX = "bayesmargin.models.infinite_svc", "infinite."

CLASSES = {
    **stored(f"{_HOME}.chain", "Settings", prefix=_PREFIX),
    **stored("bayesmargin.models.mixtures.start", "Scaling", prefix=_PREFIX),
    **stored(f"{_HOME}.components", "GaussianComponents", prefix=_PREFIX),
    **stored(f"{_HOME}.fitting", "Problem", prefix=_PREFIX),
    **stored("bayesmargin.calibration.floored", "Link", prefix=_PREFIX),
    **stored(f"{_HOME}.prediction", "Draw", prefix=_PREFIX),
    **stored(
        f"{_HOME}.state", "Rows", "Base", "UncorrelatedBase", "Hinge", "Components",
        "Assignment", prefix=_PREFIX,
    ),
    **stored(f"{_HOME}.weights_thermostat", "Thermostat", prefix=_PREFIX),
    **stored(f"{_HOME}.weights_langevin", "Langevin", prefix=_PREFIX),
    **stored(f"{_HOME}.weights_hamiltonian", "Hamiltonian", prefix=_PREFIX),
    **stored(f"{_HOME}.weights_augmentation", "Augmentation", prefix=_PREFIX),
}  # fmt: skip


def layout(model: Any) -> Layout:
    """Traces of all sweeps after burn-in, and the components of the kept draws, filled with NaN."""
    n_chains = len(model.n_components_)
    return mixture_variables(
        model._draws,
        n_chains,
        {
            "population": ("entry",),
            "height": ("entry",),
            "form": ("entry", "feature"),
            "weights": ("component", "output", "column"),
        },
        [
            trace_variable("n_components", model.n_components_.astype(np.int32)),
            trace_variable("concentration", model.concentration_),
        ],
    )


def check(model: Any, features: int) -> None:
    """Raise where parts of a model of so many features do not fit each other."""
    from bayesmargin.calibration.floored import Link
    from bayesmargin.models.infinite_svc.fitting import Problem
    from bayesmargin.models.infinite_svc.settings import check_settings
    from bayesmargin.models.infinite_svc.state import Base, Hinge, feature_count

    check_settings(model)
    problem = model._problem
    require(isinstance(problem, Problem) and isinstance(problem.base, Base), "_problem")
    require(isinstance(problem.hinge, Hinge), "_problem")
    for value in (*problem.hinge, problem.base.strength, problem.base.degrees):
        require_number(value, "base measure or hinge")
    require_number(problem.base.weight_scale, "base measure")
    require_array(problem.base.student, [None], "f", "base measure")
    require_array(problem.scaling.centre, [features], "f", "scaling")
    require_array(problem.scaling.width, [features], "f", "scaling")
    chosen = problem.with_covariates
    if isinstance(chosen, np.ndarray):
        require_array(chosen, [None], "i", "columns of the Gaussians")
        require(bool(np.all((chosen >= 0) & (chosen < features))), "columns of the Gaussians")
        size = len(chosen)
    else:
        size = features if chosen else 0
    require_array(problem.base.location, [size], "f", "base measure")
    require_array(problem.base.scatter, [size, size], "f", "base measure")
    columns = features + int(problem.with_intercept)
    n_classes = len(model.classes_)
    outputs = 1 if n_classes == 2 else n_classes
    require(len(model._draws) > 0, "draws")
    for draw in model._draws:
        number = len(draw.weights)
        require_array(draw.weights, [number, outputs, columns], "f", "weights of a draw")
        require_array(draw.population, [number + 1], "f", "population of a draw")
        require_array(draw.height, [number + 1], "f", "height of a draw")
        length = feature_count(size, problem.base.diagonal)
        require_array(draw.form, [number + 1, length], "f", "form of a draw")
    link = getattr(model, "link_", None)  # models of before there were links have none
    if link is not None:
        require(isinstance(link, Link), "link_")
        require_number(link.slope, "slope of the link")
        require_number(link.floor, "floor of the link")
        require(link.slope > 0.0 and 0.0 <= link.floor <= 1.0, "link_")
    rows = len(model._labels[0]) if model._labels else 0
    for labels in model._labels:
        require_array(labels, [rows], "i", "labels of a draw")
    shape = model.n_components_.shape
    require(len(shape) == 2, "n_components_")
    require_array(model.concentration_, shape, "f", "concentration_")
