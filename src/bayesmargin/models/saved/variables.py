"""How the draws of a fitted model lie in the file of draws: variables, and the places of arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmargin.saving.codec import Place
from bayesmargin.saving.netcdf import Variable, labels_variable, storable

Layout = tuple[list[Variable], dict[int, Place]]


def trace_variable(name: str, values: np.ndarray) -> Variable:
    """A number of every chain and sweep."""
    return Variable(name, ("chain", "sweep"), values.shape, [values])


def mixture_variables(
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
    return labelled(variables, {"chain": range(n_chains), "draw": range(per_chain)}), places


def labelled(variables: list[Variable], axes: dict[str, Any]) -> list[Variable]:
    """The variables with coordinates of the axes that they use and whose labels are known."""
    used = {dim for variable in variables for dim in variable.dims}
    taken = {variable.name for variable in variables}
    named = [labels_variable(dim, labels) for dim, labels in axes.items()
             if dim in used and dim not in taken and len(labels)]  # fmt: skip
    return [*named, *variables]
