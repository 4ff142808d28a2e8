"""Pictures of a posterior and of probabilities; matplotlib is imported when one is drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin.posterior import Posterior
from bayesmargin.types import FloatArray

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
    posterior: Posterior,
    variable: str = "coef",
    names: Sequence[str] | None = None,
    strongest: int = 20,
    path: str | Path | None = None,
) -> Any:
    """Posterior intervals of the strongest weights: 50% as a bar, 90% as a line.

    Parameters
    ----------
    posterior : Posterior
    variable : str
        Which variable; with several classes all of them compete for a place.
    names : sequence of str, optional
        Names of the features; those of the posterior by default.
    strongest : int
        How many weights, by posterior mean over posterior sd.
    path : str or path, optional
        Where to save the picture.

    Returns
    -------
    matplotlib.axes.Axes
    """
    draws = posterior.flat(variable)
    features = [str(name) for name in (names or posterior.coords["feature"])]
    labels = features
    if draws.ndim == 3:
        classes = posterior.coords["class"]
        labels = [f"{one}: {feature}" for one in classes for feature in features]
        draws = draws.reshape(len(draws), -1)
    strength = np.abs(draws.mean(axis=0)) / draws.std(axis=0)
    order = np.argsort(strength)[-strongest:]
    quantiles = np.quantile(draws[:, order], [0.05, 0.25, 0.5, 0.75, 0.95], axis=0)
    axes = _new_axes(6.5, 0.6 + 0.27 * len(order))
    height = np.arange(len(order))
    axes.axvline(0.0, color=PALE, linewidth=1)
    axes.hlines(height, quantiles[0], quantiles[4], color=INK, linewidth=1)
    axes.hlines(height, quantiles[1], quantiles[3], color=INK, linewidth=4)
    axes.plot(quantiles[2], height, "o", color=ACCENT, markersize=4)
    axes.set_yticks(height, [labels[k] for k in order])
    axes.set_xlabel("weight (median, 50% and 90% posterior intervals)")
    return _finish(axes, path)


def plot_reliability(
    y: Any, probability: FloatArray, bins: int = 10, path: str | Path | None = None
) -> Any:
    """Observed frequency against forecast probability, in bins of equally many rows.

    Parameters
    ----------
    y : array of 0 and 1
    probability : array
        Forecast probability of 1.
    bins : int
    path : str or path, optional
        Where to save the picture.

    Returns
    -------
    matplotlib.axes.Axes
    """
    y, probability = np.asarray(y, dtype=float), np.asarray(probability, dtype=float)
    parts = np.array_split(np.argsort(probability), bins)
    forecast = np.array([probability[part].mean() for part in parts])
    observed = np.array([y[part].mean() for part in parts])
    error = np.sqrt(observed * (1 - observed) / np.array([len(part) for part in parts]))
    axes = _new_axes(4.6, 4.6)
    axes.plot([0, 1], [0, 1], color=PALE, linewidth=1, label="perfect")
    axes.errorbar(
        forecast, observed, yerr=error, fmt="o-", color=ACCENT, ecolor=INK, elinewidth=1,
        label="forecasts, ± one standard error",
    )  # fmt: skip
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    axes.set_xlabel("forecast probability")
    axes.set_ylabel("observed frequency")
    axes.legend(frameon=False)
    return _finish(axes, path)
