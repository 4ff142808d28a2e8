"""Models of the same rows side by side, by what they forecast of rows that were left out."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesmargin.calibration.forecasts import LeftOutForecasts
from bayesmargin.foundation.types import FloatArray

SMALLEST = 1e-15


def compare_left_out(models: Mapping[Any, Any]) -> Any:
    """Held-out log loss of fitted models, the best first, without a further fit.

    Each training row is forecast by the others, so that settings such as ``C``, the margin or the
    prior can be compared as by cross-validation.

    Parameters
    ----------
    models : mapping of names to fitted models
        Of the same rows, at most 20,000, in the same order.

    Returns
    -------
    pandas.DataFrame
        ``log_loss`` and its standard error ``se``; ``difference`` to the best and ``difference_se``
        of that, which is the one to look at: losses of the same rows go together.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from bayesmargin import BayesianLinearSVC
    >>> from bayesmargin.decisions import compare_left_out
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> models = {C: BayesianLinearSVC(C=C, n_draws=300, random_state=0) for C in (0.01, 1.0)}
    >>> table = compare_left_out({C: model.fit(scale(X), y) for C, model in models.items()})
    >>> table.columns.tolist()
    ['log_loss', 'se', 'difference', 'difference_se']
    """
    import pandas

    if not models:
        raise ValueError("models is empty: pass at least one fitted model by its name")
    losses = {name: _losses(name, model) for name, model in models.items()}
    sizes = {name: len(each) for name, each in losses.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"the models have learned from different rows: their numbers are {sizes}")
    best = min(losses, key=lambda name: float(np.nanmean(losses[name])))
    rows = []
    for each in losses.values():
        apart = each - losses[best]
        rows.append([np.nanmean(each), _error(each), np.nanmean(apart), _error(apart)])
    names = ["log_loss", "se", "difference", "difference_se"]
    table = pandas.DataFrame(rows, index=list(losses), columns=names)
    return table.sort_values("log_loss", kind="stable")


def _losses(name: Any, model: Any) -> FloatArray:
    """Log loss of every training row, NaN for those of weight zero."""
    left_out = getattr(model, "left_out_", None)
    if not isinstance(left_out, LeftOutForecasts) or left_out.place is None:
        raise ValueError(
            f"{name!r} holds no forecasts of all its training rows: linear models are compared, of "
            "at most 20,000 rows in memory"
        )
    known = left_out.place >= 0
    place = left_out.place[known]
    likely = left_out.probability[np.arange(len(left_out.label)), left_out.label]
    losses = np.full(len(known), np.nan)
    losses[known] = -np.log(np.maximum(likely[place], SMALLEST))
    return losses


def _error(values: FloatArray) -> float:
    count = int(np.isfinite(values).sum())
    return float(np.nanstd(values, ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
