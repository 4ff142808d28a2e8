"""Which arrays of a fitted model are its draws, and how they lie in the file of draws."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayesmargin.saving.codec import Place
from bayesmargin.saving.netcdf import Variable, labels_variable, storable

Layout = tuple[list[Variable], dict[int, Place]]


def _linear(model: Any) -> Layout:
    """Draws by name, axes and labels as in ``posterior_``."""
    posterior = model.posterior_
    variables, places = [], {}
    axes = {"chain": range(posterior.n_chains), "draw": range(posterior.n_draws)}
    for name, array in posterior.items():
        if not storable(array):
            continue
        dims = ("chain", "draw", *posterior.dims[name])
        variables.append(Variable(name, dims, array.shape, list(array), lead=1))
        places[id(array)] = Place(name, (), array.shape)
        axes.update({dim: posterior.coords[dim] for dim in dims[2:] if dim in posterior.coords})
    return _labelled(variables, axes), places


def _medlda(model: Any) -> Layout:
    """Unnormalised topics and weights; with one-vs-rest an axis of models, one a class."""
    training = model._training
    posteriors, models = model.posterior_, len(training.columns)
    n_draws = len(posteriors[0].topics)
    lead = (training.n_chains, models, n_draws)
    if any(len(posterior.topics) != n_draws for posterior in posteriors):
        return [], {}
    axes: dict[str, Sequence[Any]] = {"chain": range(lead[0]), "draw": range(n_draws)}
    coef = posteriors[0].coef[0]
    names = getattr(model, "feature_names_in_", range(model.n_features_in_))
    axes |= {"word": list(names), "topic": range(coef.shape[1])}
    columns: tuple[str, ...] = ("chain", "model", "draw")
    shape: tuple[int, ...] = lead
    if models == 1:
        columns, shape = ("chain", "draw"), (lead[0], n_draws)
    elif len(model.classes_) == models:
        axes["model"] = model.classes_.tolist()
    if models == 1 and len(model.classes_) == coef.shape[0]:
        axes["class"] = model.classes_.tolist()
    hint = {"long_name": "topics times a constant each: divide by the sum over words"}
    topics = [draw for posterior in posteriors for draw in posterior.topics]
    weights = [draw for posterior in posteriors for draw in posterior.coef]
    size = (model.n_features_in_, coef.shape[1])
    variables = [
        Variable("topics", (*columns, "word", "topic"), (*shape, *size), topics, len(shape),
                 attrs=hint),
        Variable("coef", (*columns, "class", "topic"), (*shape, *coef.shape), weights, len(shape)),
    ]  # fmt: skip
    places: dict[int, Place] = {}
    for name, arrays in (("topics", topics), ("coef", weights)):
        for number, array in enumerate(arrays):
            at = [int(i) for i in np.unravel_index(number, lead)]
            if models == 1:
                del at[1]
            places[id(array)] = Place(name, tuple(at), array.shape)
    return _labelled(variables, axes), places


def _infinite(model: Any) -> Layout:
    """Traces of all sweeps after burn-in, and the components of the kept draws, filled with NaN."""
    n_chains = len(model.n_components_)
    return _mixture(
        model._draws,
        n_chains,
        {
            "population": ("entry",),
            "height": ("entry",),
            "form": ("entry", "feature"),
            "weights": ("component", "output", "column"),
        },
        [
            _trace("n_components", model.n_components_.astype(np.int32)),
            _trace("concentration", model.concentration_),
        ],
    )


def _dpmnl(model: Any) -> Layout:
    """The trace of the number of components, and the components of the kept draws."""
    dims = {
        "mean": ("entry", "feature"),
        "log_variance": ("entry", "feature"),
        "coefficients": ("entry", "class", "column"),
        "log_scale": ("entry", "scale"),
    }
    variables, places = _mixture(
        [draw.experts for draw in model._draws],
        1,
        dims,
        [_trace("n_components", model.n_components_[None].astype(np.int32))],
    )
    weights, more = _mixture(model._draws, 1, {"log_weight": ("entry",)}, [])
    known = {variable.name for variable in variables}
    return [*variables, *(v for v in weights if v.name not in known)], places | more


def _trace(name: str, values: np.ndarray) -> Variable:
    return Variable(name, ("chain", "sweep"), values.shape, [values])


def _mixture(
    draws: Sequence[Any],
    n_chains: int,
    dims: dict[str, tuple[str, ...]],
    traces: list[Variable],
) -> Layout:
    """Draws of different numbers of components, filled up with NaN to the largest."""
    per_chain = len(draws) // n_chains
    variables, places = list(traces), {}
    for name, axes in dims.items():
        arrays = [getattr(draw, name) for draw in draws]
        if not all(storable(array) for array in arrays):
            continue
        shape = (max(len(array) for array in arrays), *arrays[0].shape[1:])
        variables.append(
            Variable(name, ("chain", "draw", *axes), (n_chains, per_chain, *shape), arrays, 2,
                     fill=np.nan)
        )  # fmt: skip
        for number, array in enumerate(arrays):
            places[id(array)] = Place(name, divmod(number, per_chain), array.shape)
    return _labelled(variables, {"chain": range(n_chains), "draw": range(per_chain)}), places


def _labelled(variables: list[Variable], axes: dict[str, Any]) -> list[Variable]:
    """The variables with coordinates of the axes that they use and whose labels are known."""
    used = {dim for variable in variables for dim in variable.dims}
    taken = {variable.name for variable in variables}
    named = [labels_variable(dim, labels) for dim, labels in axes.items()
             if dim in used and dim not in taken and len(labels)]  # fmt: skip
    return [*named, *variables]


LAYOUTS: dict[str, Callable[[Any], Layout]] = {
    "BayesianLinearSVC": _linear,
    "MedLDAClassifier": _medlda,
    "InfiniteSVC": _infinite,
    "DPMNLClassifier": _dpmnl,
}
