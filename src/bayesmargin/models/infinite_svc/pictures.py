"""Pictures of a fitted infinite SVM: decision regions with experts, sizes, co-clustering."""

from typing import Any

import numpy as np

from bayesmargin.foundation.arguments import require_count
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.inputs.checks import plain_labels
from bayesmargin.models.infinite_svc.classifier import InfiniteSVC
from bayesmargin.models.infinite_svc.co_clustering import row_numbers


def _axes(axes: Any) -> Any:
    if axes is not None:
        return axes
    from matplotlib.figure import Figure

    return Figure(figsize=(5, 4), layout="constrained").add_subplot()


def plot_regions(
    model: InfiniteSVC, X: Any, y: Any, axes: Any = None, resolution: int = 150
) -> Any:
    """Decision regions in two dimensions, rows coloured by class, local boundaries drawn in.

    A thin line shows where the last draw's most probable component changes: inside each cell one
    linear expert rules. The regions are those of ``predict``, which averages over all draws.

    Parameters
    ----------
    model : fitted InfiniteSVC
    X, y : rows with two features, and their classes
    axes : matplotlib Axes, optional
    resolution : int
        Grid points on each side.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from bayesmargin.models.infinite_svc import InfiniteSVC
    >>> from bayesmargin.models.infinite_svc.pictures import plot_regions
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> axes = plot_regions(InfiniteSVC(n_sweeps=20, random_state=0).fit(X, y), X, y)
    """
    require_count("resolution", resolution, 2)
    rows, codes = _read_plane(model, X, y)
    axes = _axes(axes)
    sides, grid = _grid(rows, resolution)
    points = _with_names(model, grid)
    proba = model.predict_proba(points).reshape(resolution, resolution, -1)
    component = model.predict_component(points).reshape(resolution, resolution)
    colours = _colours(len(model.classes_))
    for k, colour in enumerate(colours):
        lead = proba[..., k] - np.delete(proba, k, axis=-1).max(axis=-1)
        axes.contourf(*sides, lead, levels=[0.0, np.inf], colors=[colour], alpha=0.25)
    used = np.unique(component)
    if len(used) > 1:
        for k in used:
            axes.contour(*sides, component == k, levels=[0.5], colors="0.4", linewidths=0.6)
    for k, colour in enumerate(colours):
        name = str(model.classes_[k])
        axes.scatter(*rows[codes == k].T, color=colour, s=9, linewidths=0, label=name)
    columns = 1 + len(colours) // 11
    axes.legend(loc="upper right", fontsize="small", markerscale=2.0, ncols=columns)
    names = getattr(model, "feature_names_in_", ("feature 0", "feature 1"))
    axes.set(xlabel=names[0], ylabel=names[1])
    axes.set_title(f"{len(used)} local expert{'s' if len(used) > 1 else ''}")
    return axes


def _read_plane(model: InfiniteSVC, X: Any, y: Any) -> tuple[FloatArray, IntArray]:
    """Rows and class numbers to draw; what cannot be drawn is refused."""
    shape = np.shape(X)
    if len(shape) != 2:
        raise ValueError(f"X has shape {shape}: regions need rows with two features")
    if shape[1] != 2:
        raise ValueError(f"X has {shape[1]} features: regions can be drawn for 2 only")
    rows = model._read_rows(X)
    labels = np.asarray(plain_labels(y))
    if labels.shape != (len(rows),):
        raise ValueError(f"y has shape {labels.shape} for {len(rows)} rows of X")
    unknown = [label for label in np.unique(labels) if label not in model.classes_]
    if unknown:
        raise ValueError(f"y has the class {unknown[0]!s}, which the model has not met")
    flat = np.flatnonzero(np.ptp(rows, axis=0) == 0.0)
    if flat.size:
        raise ValueError(f"feature {flat[0]} has one value only in X: there is no plane to draw")
    return rows, np.searchsorted(model.classes_, labels)


def _grid(rows: FloatArray, resolution: int) -> tuple[list[FloatArray], FloatArray]:
    """Both sides of a grid around the rows, and its points one below the other."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    pad = 0.08 * (high - low)
    sides = [np.linspace(low[j] - pad[j], high[j] + pad[j], resolution) for j in range(2)]
    return sides, np.stack(np.meshgrid(*sides), axis=-1).reshape(-1, 2)


def _with_names(model: InfiniteSVC, points: FloatArray) -> Any:
    """Points as the model was given its rows: a data frame if its features have names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return points
    import pandas as pd

    return pd.DataFrame(points, columns=names)


def _colours(number: int) -> list[Any]:
    """As many colours that can be told apart; beyond twenty they come close."""
    from matplotlib import colormaps

    if number <= 20:  # ten full colours, then their pale sisters
        return [colormaps["tab20"](2 * k if k < 10 else 2 * k - 19) for k in range(number)]
    return [colormaps["turbo"](k / (number - 1)) for k in range(number)]


def plot_sizes(model: InfiniteSVC, axes: Any = None) -> Any:
    """Sizes of the components, largest first: mean over draws and the range of 90% of them."""
    sizes = model.component_sizes()
    axes = _axes(axes)
    longest = max(len(line) for line in sizes)
    table = np.zeros((len(sizes), longest))
    for row, line in zip(table, sizes, strict=True):
        row[: len(line)] = line
    edges = np.arange(longest + 1) + 0.5
    low, high = np.quantile(table, [0.05, 0.95], axis=0)
    axes.stairs(high, edges, baseline=low, fill=True, alpha=0.3, label="90% of the draws")
    axes.stairs(table.mean(axis=0), edges, baseline=None, linewidth=1.5, label="mean")
    axes.set_ylim(bottom=0.0)
    axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)
    axes.set_xlabel("component, by size")
    axes.set_ylabel("rows")
    axes.legend(loc="best", frameon=False)
    return axes


def plot_co_clustering(model: InfiniteSVC, rows: Any = None, axes: Any = None) -> Any:
    """Probability that two training rows share a component, rows ordered by the last draw.

    ``rows`` are numbers of training rows, or a mask; all by default.
    """
    labels = model._partitions()[-1]
    index = row_numbers(rows, len(labels))
    index = index[np.argsort(labels[index], kind="stable")]
    axes = _axes(axes)
    image = axes.imshow(model.co_clustering(index), vmin=0, vmax=1, cmap="viridis")
    axes.set(xticks=[], yticks=[], ylabel="training rows, ordered by component")
    axes.set_xlabel(f"the same {len(index)} rows")
    axes.figure.colorbar(image, ax=axes, label="probability of sharing a component")
    return axes
