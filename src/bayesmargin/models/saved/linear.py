"""What saving knows of linear models: the draws by name, and what a loaded one must hold."""

from typing import Any

import numpy as np

from bayesmargin.models.saved.requiring import require, require_array, require_number
from bayesmargin.models.saved.variables import Layout, labelled
from bayesmargin.saving.classes import Stored
from bayesmargin.saving.codec import Place
from bayesmargin.saving.netcdf import Variable, storable

CLASSES: dict[str, Stored] = {}  # all that a linear model holds is held by others, too


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
    blocks = 1 if len(model.classes_) == 2 else len(model.classes_)
    columns = features + int(model.fit_intercept)
    check_adjustment(model.posterior_.adjustment, blocks, columns)


def check_draws(model: Any, features: int) -> None:
    """Raise where draws and probabilities are not those of so many features."""
    from bayesmargin.calibration.maps import BinaryLink, MulticlassLink
    from bayesmargin.diagnostics.convergence import Diagnostics
    from bayesmargin.posterior import Posterior

    n_classes = len(model.classes_)
    blocks = 1 if n_classes == 2 else n_classes
    require_array(model.coef_, [blocks, features], "f", "coef_")
    require_array(model.intercept_, [blocks], "f", "intercept_")
    posterior = model.posterior_
    require(isinstance(posterior, Posterior), "posterior_")
    per_class = [] if blocks == 1 else [blocks]
    coef = require_array(posterior["coef"], [None, None, *per_class, features], "f", "coef")
    require_array(posterior["intercept"], [*coef.shape[:2], *per_class], "f", "intercept")
    kind, slopes = (BinaryLink, 4) if blocks == 1 else (MulticlassLink, 2)
    require(isinstance(model.link_, kind), "link_")
    require_array(model.link_.slopes, [slopes], "f", "slopes of the link")
    require(isinstance(model.link_.margin, float | int), "margin of the link")
    require_number(model.link_.caution, "caution of the link")
    if model.link_.precision is not None:
        require_array(model.link_.precision, [slopes + 1] * 2, "f", "precision of the link")
    require(isinstance(model.diagnostics_, Diagnostics), "diagnostics_")
    _check_left_out(getattr(model, "left_out_", None), n_classes)


def _check_left_out(left_out: Any, n_classes: int) -> None:
    from bayesmargin.calibration.forecasts import LeftOutForecasts

    if left_out is None:  # models of before it was kept have none
        return
    require(isinstance(left_out, LeftOutForecasts), "left_out_")
    name = "forecasts of rows left out"
    count = len(require_array(left_out.probability, [None, n_classes], "f", name))
    require_array(left_out.label, [count], "i", name)
    require_array(left_out.number, [count], "f", name)
    require_array(left_out.spread, [count], "f", name)
    require(bool(np.all((left_out.label >= 0) & (left_out.label < n_classes))), name)
    if left_out.place is not None:
        require_array(left_out.place, [None], "i", name)
        require(bool(np.all((left_out.place >= -1) & (left_out.place < count))), name)


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
