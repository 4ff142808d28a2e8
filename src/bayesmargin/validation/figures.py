"""Figures of the validation page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from bayesmargin.foundation.types import FloatArray
from bayesmargin.validation.bias import BiasCurve
from bayesmargin.validation.calibration import CalibrationRanks
from bayesmargin.validation.geweke import GewekeResult
from bayesmargin.validation.quadrature import Reference

INK, ACCENT, PALE = "#222222", "#c2410c", "#94a3b8"


def _panels(count: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    rows = -(-count // columns)
    figure = Figure(figsize=(columns * width, rows * height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for spare in axes[count:]:
        spare.set_axis_off()
    return figure, axes


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, dpi=80, metadata={"Software": None})


def quantile_plots(results: Mapping[str, GewekeResult], path: Path) -> None:
    """Quantiles of the first weight: chain of the sampler against independent draws."""
    figure, axes = _panels(len(results), 4, 2.3, 2.4)
    share = np.linspace(0.005, 0.995, 100)
    for axis, (name, result) in zip(axes, results.items(), strict=False):
        expected = np.quantile(result.independent[:, 0], share)
        found = np.quantile(result.chain[:, 0], share)
        ends = [expected[0], expected[-1]]
        axis.plot(ends, ends, color=PALE, lw=1)
        axis.plot(expected, found, ".", ms=3, color=INK if result.passes() else ACCENT)
        axis.set_title(f"{name}\nworst score {result.worst:.1f}", fontsize=8)
        axis.tick_params(labelsize=7)
    figure.supxlabel("quantiles of independent joint draws", fontsize=9)
    figure.supylabel("quantiles of the chain under test", fontsize=9)
    _save(figure, path)


def rank_histograms(results: Mapping[str, CalibrationRanks], path: Path) -> None:
    """Histograms of the ranks of the true weights, with the range that chance allows."""
    figure, axes = _panels(len(results), 4, 2.3, 1.9)
    for axis, (name, result) in zip(axes, results.items(), strict=False):
        counts = result.counts(10)
        total = counts[0].sum()
        low, high = stats.binom.ppf([0.005, 0.995], total, 0.1)
        axis.axhspan(low, high, color=PALE, alpha=0.4, lw=0)
        width = 0.8 / len(counts)
        for k, row in enumerate(counts):
            axis.bar(np.arange(10) + k * width, row, width=width, color=[INK, "#64748b"][k % 2])
        axis.set_title(f"{name}\np = {result.p_values().min():.2f}", fontsize=8)
        axis.set_xticks([])
        axis.tick_params(labelsize=7)
    figure.supxlabel("rank of the true weight among the draws", fontsize=9)
    figure.supylabel("data sets", fontsize=9)
    _save(figure, path)


def bias_curves(curves: Mapping[str, BiasCurve], path: Path) -> None:
    """Absolute bias of the second moment against the step, with fitted slopes."""
    figure, axes = _panels(1, 1, 5.6, 4.0)
    axis = axes[0]
    colours = ["#222222", "#c2410c", "#2563eb", "#15803d", "#7c3aed"]
    for colour, (name, curve) in zip(colours, curves.items(), strict=False):
        label = f"{name}: order {curve.order:.2f} ± {curve.order_error:.2f}"
        axis.errorbar(
            curve.steps,
            np.abs(curve.bias),
            yerr=2.0 * curve.error,
            fmt="o",
            ms=4,
            color=colour,
            label=label,
        )
        weight = (curve.bias / curve.error) ** 2
        middle = np.exp(np.average(np.log(np.abs(curve.bias)), weights=weight))
        centre = np.exp(np.average(np.log(curve.steps), weights=weight))
        axis.plot(curve.steps, middle * (curve.steps / centre) ** curve.order, color=colour, lw=1)
    axis.set_xscale("log")
    axis.set_yscale("log")
    ticks = [0.03, 0.05, 0.1, 0.2, 0.4]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_xticks([], minor=True)
    axis.set_xlabel("step h")
    axis.set_ylabel("absolute bias of E x²")
    axis.legend(fontsize=8, frameon=False)
    _save(figure, path)


def plane_panels(reference: Reference, draws: Mapping[str, FloatArray], path: Path) -> None:
    """Density of two weights by quadrature, and the draws of every sampler on its contours."""
    figure, axes = _panels(1 + len(draws), 4, 2.3, 2.4)
    points = reference.points.reshape(*reference.shape, 2)
    density = reference.probability.reshape(reference.shape)
    x, y = points[:, 0, 0], points[0, :, 1]
    order = np.sort(reference.probability)[::-1]
    held = np.cumsum(order)
    levels = sorted(order[np.searchsorted(held, share)] for share in (0.5, 0.9, 0.99))
    spread = 4.0 * np.sqrt(np.diag(reference.covariance))
    for axis in axes[: 1 + len(draws)]:
        axis.set_xlim(reference.mean[0] - spread[0], reference.mean[0] + spread[0])
        axis.set_ylim(reference.mean[1] - spread[1], reference.mean[1] + spread[1])
        axis.tick_params(labelsize=7)
    axes[0].pcolormesh(x, y, density.T, cmap="Greys", shading="nearest", rasterized=True)
    axes[0].set_title("quadrature", fontsize=8)
    for axis, (name, weights) in zip(axes[1:], draws.items(), strict=False):
        flat = weights.reshape(-1, 2)
        axis.plot(*flat[:: max(1, len(flat) // 1500)].T, ",", color=INK, alpha=0.6)
        axis.contour(x, y, density.T, levels=levels, colors=ACCENT, linewidths=0.8)
        axis.set_title(name, fontsize=8)
    figure.supxlabel("first weight", fontsize=9)
    figure.supylabel("second weight", fontsize=9)
    _save(figure, path)
