"""Pictures of a posterior and of probabilities; matplotlib is imported when one is drawn."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesmargin.calibration.reliability import curve_of, events_and_chances
from bayesmargin.decisions.risk import risk_curve
from bayesmargin.foundation.arguments import require_count
from bayesmargin.inputs.names import names_of
from bayesmargin.models.linear.predictions import LinearPredictions
from bayesmargin.posterior import Posterior

ONE_HINGE = "crammer_singer"
INK, ACCENT, PALE = "#1f2933", "#c2410c", "#94a3b8"


def _new_axes(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _finish(axes: Any, path: str | Path | None) -> Any:
    if path is not None:
        axes.figure.savefig(path, dpi=150)
    return axes


def plot_posterior(
    posterior: Any,
    variable: str = "coef",
    names: Any = None,
    strongest: int = 20,
    path: str | Path | None = None,
) -> Any:
    """Posterior intervals of the strongest weights: 50% as a bar, 90% as a line.

    Of several classes under one hinge (Crammer and Singer's) the data know differences alone. What
    the classes share has the law of the prior and would hide how well the differences are known, so
    weights are shown less their mean over the classes.

    Parameters
    ----------
    posterior : Posterior, or a fitted estimator that has one
        An estimator of two classes tells which of them positive weights speak for.
    variable : str
        Which variable, "coef" or "intercept"; with several classes all of them compete for a place.
    names : sequence or array of str, optional
        Names of the features; those of the posterior by default.
    strongest : int
        How many weights, by posterior mean over posterior sd.
    path : str or path, optional
        Where to save the picture.

    Returns
    -------
    matplotlib.axes.Axes
    """
    given, posterior = posterior, getattr(posterior, "posterior_", posterior)
    if isinstance(given, LinearPredictions):
        check_is_fitted(given)
    if not isinstance(posterior, Posterior):
        raise TypeError(
            f"plot_posterior takes the posterior_ of a fitted BayesianLinearSVC or the model "
            f"itself, not a {type(given).__name__}"
        )
    require_count("strongest", strongest, 1)
    draws, less = posterior.flat(variable), ""
    if "class" in posterior.dims[variable] and posterior.attrs.get("multi_class") == ONE_HINGE:
        draws, less = draws - draws.mean(axis=1, keepdims=True), "less the mean of the classes;\n"
    draws = draws.reshape(len(draws), -1)
    labels = _labels(posterior, variable, names)
    strength = np.abs(draws.mean(axis=0)) / np.maximum(draws.std(axis=0), 1e-300)
    order = np.argsort(strength)[-strongest:]
    quantiles = np.quantile(draws[:, order], [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
    shown = [_shortened(labels[k]) for k in order]
    axes = _new_axes(max(6.5, 3.6 + 0.09 * max(map(len, shown))), 0.8 + 0.27 * len(order))
    height = np.arange(len(order))
    axes.axvline(0.0, color=PALE, linewidth=1)
    axes.hlines(height, quantiles[0], quantiles[4], color=INK, linewidth=1)
    axes.hlines(height, quantiles[1], quantiles[3], color=INK, linewidth=4)
    axes.plot(quantiles[2], height, "o", color=ACCENT, markersize=4)
    axes.set_yticks(height, shown)
    axes.set_ylim(-0.7, len(order) - 0.3)
    classes: Any = getattr(given, "classes_", ())
    towards = f"for class {_shortened(str(classes[1]), 24)}\n" if len(classes) == 2 else ""
    axes.set_xlabel(f"weight {towards}({less}median, 50% and 90% posterior intervals)")
    return _finish(axes, path)


def _shortened(name: str, longest: int = 60) -> str:
    """A name that fits beside a picture: the middle of a very long one is left out."""
    half = longest // 2 - 1
    return name if len(name) <= longest else f"{name[:half]} … {name[-half:]}"


def _labels(posterior: Posterior, variable: str, names: Any) -> list[str]:
    """Names of the values of a draw: of a class, a feature, or of both; ``names`` are features'."""
    coords = {name: [str(one) for one in values] for name, values in posterior.coords.items()}
    if names is not None:
        coords["feature"] = names_of(names, len(coords["feature"]), "names")
    axes = [coords[name] for name in posterior.dims[variable]]
    return [": ".join(parts) or variable for parts in itertools.product(*axes)]


def plot_reliability(
    y: Any,
    probability: Any,
    bins: int = 10,
    path: str | Path | None = None,
    *,
    pos_label: Any = None,
) -> Any:
    """Observed frequency against forecast probability, in bins of equally many rows.

    Parameters
    ----------
    y : array of labels (row,)
        0 and 1, or False and True, or any two labels with ``pos_label``.
    probability : array (row,)
        Forecast probability of 1, or of ``pos_label``: a column of ``predict_proba``.
    bins : int
        At most; fewer where there are not that many rows.
    path : str or path, optional
        Where to save the picture.
    pos_label : label, optional
        The label whose probability was forecast; every other label counts as its absence.

    Returns
    -------
    matplotlib.axes.Axes
    """
    event, chance = events_and_chances(y, probability, pos_label)
    require_count("bins", bins, 1)
    curve = curve_of(chance, event, min(bins, len(chance)))
    axes = _new_axes(4.6, 4.6)
    axes.plot([0, 1], [0, 1], color=PALE, linewidth=1, label="perfect")
    axes.errorbar(
        curve.forecast, curve.observed, yerr=curve.error, fmt="o-", color=ACCENT, ecolor=INK,
        elinewidth=1, label="forecasts, ± one standard error",
    )  # fmt: skip
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    axes.set_xlabel("forecast probability")
    axes.set_ylabel("observed frequency")
    axes.legend(frameon=False)
    return _finish(axes, path)


def plot_risk(
    y: Any,
    probability: Any,
    classes: Any = None,
    path: str | Path | None = None,
) -> Any:
    """Share of errors against the share of rows answered, the most certain first.

    Parameters
    ----------
    y : array of labels (row,)
    probability : array (row, class)
        As ``predict_proba`` gives them.
    classes : array (class,), optional
        Labels of the columns, ``classes_`` of a model; by default those in ``y``, sorted.
    path : str or path, optional
        Where to save the picture.

    Returns
    -------
    matplotlib.axes.Axes
    """
    y = np.asarray(y)
    names = np.unique(y) if classes is None else np.asarray(classes)
    unknown = np.setdiff1d(y, names)
    if len(unknown):
        raise ValueError(
            f"y holds {unknown.tolist()[:5]!r}, which are not among the classes "
            f"{names.tolist()[:8]!r}"
        )
    order = np.argsort(names)
    curve = risk_curve(probability, order[np.searchsorted(names, y, sorter=order)])
    axes = _new_axes(4.6, 3.6)
    axes.step(curve.answered, curve.risk, where="post", color=ACCENT)
    axes.axhline(curve.risk[-1], color=PALE, linewidth=1, label="all rows answered")
    axes.set(xlim=(0.0, 1.0))
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("share of rows answered")
    axes.set_ylabel("errors among them")
    axes.legend(frameon=False)
    return _finish(axes, path)


def plot_profile(profile: Any, path: str | Path | None = None) -> Any:
    """What the candidates of ``"auto"`` were worth: their losses on rows left out, by setting.

    Every dot is a candidate, the bar the standard error of its difference to the best, the filled
    one what was chosen. Of several settings there is a panel for each, on which the others vary.

    Parameters
    ----------
    profile : Profile
        ``profile_`` or ``sizes_`` of a model.
    path : str or path, optional
        Where to save the picture.

    Returns
    -------
    array of matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.linear.choosing import Profile
    >>> from bayesmargin.plots import plot_profile
    >>> values, behind = np.array([[0.1], [1.0], [10.0]]), np.array([0.02, 0.0, 0.01])
    >>> (axes,) = plot_profile(Profile(("C",), values, np.array([0.4, 0.3, 0.31]), behind))
    >>> axes.get_xlabel()
    'C'
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6 * len(profile.names), 3.0), layout="constrained")
    panels = figure.subplots(1, len(profile.names), sharey=True, squeeze=False)[0]
    chosen = profile.best
    for k, (name, axes) in enumerate(zip(profile.names, panels, strict=True)):
        values = profile.values[:, k]
        axes.errorbar(
            values, profile.loss, profile.behind, fmt="o", color=PALE, mfc="white", ecolor=PALE
        )
        best = np.all(profile.values == [chosen[one] for one in profile.names], axis=1)
        axes.plot(values[best], profile.loss[best], "o", color=ACCENT)
        axes.set_xscale("log")
        axes.set_xlabel(name)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("log loss of rows left out")
    if path is not None:
        figure.savefig(path, dpi=150)
    return panels


def plot_links(model: Any, relation: Any = None, path: str | Path | None = None) -> Any:
    """Probabilities of links between all entities, those of like features beside each other.

    Parameters
    ----------
    model : MaxMarginLinks
        Fitted.
    relation : name, optional
        Which one; may be left out where there is one.
    path : str or path, optional
        Where to save the picture.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin import MaxMarginLinks
    >>> from bayesmargin.plots import plot_links
    >>> links = np.kron(np.eye(2), np.ones((4, 4)))
    >>> model = MaxMarginLinks(n_sweeps=10, n_chains=1, random_state=0).fit(links)
    >>> plot_links(model).get_xlabel()
    'entities, by their features'
    """
    chance, order = model.probability_matrix(relation), model.order()
    axes = _new_axes(4.6, 4.0)
    shown = axes.imshow(
        chance[np.ix_(order, order)], cmap="magma_r", vmin=0.0, vmax=1.0, interpolation="nearest"
    )
    axes.set(xticks=[], yticks=[], xlabel="entities, by their features", ylabel="the same")
    axes.figure.colorbar(shown, ax=axes, label="probability of a link", shrink=0.85)
    return _finish(axes, path)
