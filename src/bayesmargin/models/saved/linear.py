"""What saving knows of linear models: the draws by name, and what a loaded one must hold."""

from typing import Any

import numpy as np

from bayesmargin.models.saved.requiring import require, require_array, require_number
from bayesmargin.models.saved.variables import Layout, labelled
from bayesmargin.saving.classes import Stored, stored
from bayesmargin.saving.codec import Place
from bayesmargin.saving.netcdf import Variable, storable

CLASSES: dict[str, Stored] = stored("bayesmargin.calibration.label_links", "LabelLinks")


def layout(model: Any) -> Layout:
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
    return labelled(variables, axes), places


def check(model: Any, features: int) -> None:
    """Raise where parts of a model of so many features do not fit each other."""
    from bayesmargin.models.settings import check_linear_settings

    check_linear_settings(model)
    check_draws(model, features)
    blocks = (
        1
        if len(model.classes_) == 2 and not getattr(model, "label_sets_", False)
        else len(model.classes_)
    )
    columns = features + int(model.fit_intercept)
    check_adjustment(model.posterior_.adjustment, blocks, columns)
    check_statistics(model.posterior_)


def check_draws(model: Any, features: int) -> None:
    """Raise where draws and probabilities are not those of so many features."""
    from bayesmargin.calibration.label_links import LabelLinks
    from bayesmargin.calibration.maps import BinaryLink, MulticlassLink
    from bayesmargin.diagnostics.convergence import Diagnostics
    from bayesmargin.posterior import Posterior

    n_classes, sets = len(model.classes_), getattr(model, "label_sets_", False)
    blocks = 1 if n_classes == 2 and not sets else n_classes
    require_array(model.coef_, [blocks, features], "f", "coef_")
    require_array(model.intercept_, [blocks], "f", "intercept_")
    posterior = model.posterior_
    require(isinstance(posterior, Posterior), "posterior_")
    per_class = [] if blocks == 1 else [blocks]
    coef = require_array(posterior["coef"], [None, None, *per_class, features], "f", "coef")
    require_array(posterior["intercept"], [*coef.shape[:2], *per_class], "f", "intercept")
    links = [model.link_]
    if sets:
        require(isinstance(model.link_, LabelLinks) and len(model.link_.links) == blocks, "link_")
        links = list(model.link_.links)
    kind, slopes = (BinaryLink, 4) if blocks == 1 or sets else (MulticlassLink, 2)
    for link in links:
        require(isinstance(link, kind), "link_")
        require_array(link.slopes, [slopes], "f", "slopes of the link")
        require(isinstance(link.margin, float | int), "margin of the link")
        require_number(link.caution, "caution of the link")
        require(isinstance(link.reach, float) and link.reach >= 0.0, "reach of the link")
        if link.precision is not None:
            require_array(link.precision, [slopes + 1] * 2, "f", "precision of the link")
    require(isinstance(model.diagnostics_, Diagnostics), "diagnostics_")
    _check_left_out(getattr(model, "left_out_", None), n_classes, [n_classes] if sets else [])


def _check_left_out(left_out: Any, n_classes: int, sets: list[int]) -> None:
    from bayesmargin.calibration.forecasts import LeftOutForecasts

    if left_out is None:  # models of before it was kept have none
        return
    require(isinstance(left_out, LeftOutForecasts), "left_out_")
    name = "forecasts of rows left out"
    count = len(require_array(left_out.probability, [None, n_classes], "f", name))
    require_array(left_out.label, [count, *sets], "i", name)
    require_array(left_out.number, [count], "f", name)
    require_array(left_out.spread, [count], "f", name)
    require(bool(np.all((left_out.label >= 0) & (left_out.label < n_classes))), name)
    if left_out.place is not None:
        require_array(left_out.place, [None], "i", name)
        require(bool(np.all((left_out.place >= -1) & (left_out.place < count))), name)


def check_statistics(posterior: Any) -> None:
    """Raise where what is told of draws is not of these draws."""
    require(isinstance(posterior.statistics, dict), "statistics")
    for name, found in posterior.statistics.items():
        require(isinstance(name, str), "statistics")
        per_class = posterior["intercept"].shape[2:] if np.ndim(found) == 3 else ()
        wanted = [posterior.n_chains, posterior.n_draws, *per_class]
        require_array(found, wanted, "f", f"statistics {name}")


def check_adjustment(adjustment: Any, blocks: int, columns: int) -> None:
    """Raise where an adjustment is not one of so many blocks of weights."""
    from bayesmargin.uncertainty.adjustment import Adjustment

    if adjustment is None:  # models of many weights, and of before there were any, have none
        return
    require(isinstance(adjustment, Adjustment), "adjustment")
    size = blocks * columns
    require_array(adjustment.mean, [size], "f", "adjustment")
    require_array(adjustment.centre, [size], "f", "adjustment")
    shapes = {1: [size], 2: [size, size], 3: [blocks, columns, columns]}
    wanted = shapes.get(np.ndim(adjustment.stretch), [])
    require_array(adjustment.stretch, wanted, "f", "adjustment")
    require(isinstance(adjustment.doubts, str), "adjustment")
