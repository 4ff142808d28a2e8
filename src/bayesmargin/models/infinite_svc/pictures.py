"""Pictures of a fitted infinite SVM: decision regions with experts, sizes, co-clustering."""

from typing import Any

import numpy as np

from bayesmargin.models.infinite_svc.classifier import InfiniteSVC


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
    linear expert rules.

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
    X = np.asarray(X, dtype=float)
    if X.shape[1] != 2:
        raise ValueError(f"X has {X.shape[1]} features: regions can be drawn for 2 only")
    axes = _axes(axes)
    low, high = X.min(axis=0), X.max(axis=0)
    pad = 0.08 * (high - low)
    sides = [np.linspace(low[j] - pad[j], high[j] + pad[j], resolution) for j in range(2)]
    grid = np.stack(np.meshgrid(*sides), axis=-1)
    flat = grid.reshape(-1, 2)
    proba = model.predict_proba(flat)
    region = proba.argmax(axis=1).reshape(resolution, resolution)
    component = model.predict_component(flat).reshape(resolution, resolution)
    levels = np.arange(len(model.classes_) + 1) - 0.5
    axes.contourf(*sides, region, levels=levels, alpha=0.25, cmap="tab10", vmin=0, vmax=9)
    for k in np.unique(component):
        axes.contour(*sides, component == k, levels=[0.5], colors="0.4", linewidths=0.6)
    codes = np.searchsorted(model.classes_, y)
    axes.scatter(*X.T, c=codes, cmap="tab10", vmin=0, vmax=9, s=9, linewidths=0)
    axes.set_title(f"{len(np.unique(component))} local experts")
    return axes


def plot_sizes(model: InfiniteSVC, axes: Any = None) -> Any:
    """Sizes of the components, largest first: mean over draws and the range of 90% of them."""
    axes = _axes(axes)
    sizes = model.component_sizes()
    longest = max(len(line) for line in sizes)
    table = np.zeros((len(sizes), longest))
    for row, line in zip(table, sizes, strict=True):
        row[: len(line)] = line
    rank = np.arange(1, longest + 1)
    low, high = np.quantile(table, [0.05, 0.95], axis=0)
    axes.fill_between(rank, low, high, alpha=0.3, step="mid")
    axes.step(rank, table.mean(axis=0), where="mid")
    axes.set_xlabel("component, by size")
    axes.set_ylabel("rows")
    return axes


def plot_co_clustering(model: InfiniteSVC, rows: Any = None, axes: Any = None) -> Any:
    """Probability that two training rows share a component, rows ordered by the last draw."""
    axes = _axes(axes)
    labels = model._labels[-1]
    index = np.arange(len(labels)) if rows is None else np.asarray(rows)
    index = index[np.argsort(labels[index], kind="stable")]
    image = axes.imshow(model.co_clustering(index), vmin=0, vmax=1, cmap="viridis")
    axes.figure.colorbar(image, ax=axes, label="probability of sharing a component")
    return axes
