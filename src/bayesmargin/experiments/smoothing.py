"""Polynomial smoothing: an energy with two kinks and its smoothed versions."""

from typing import Any

import numpy as np

from bayesmargin.experiments.drawing import panels
from bayesmargin.experiments.results import Result, Verdict
from bayesmargin.experiments.sizes import Setup
from bayesmargin.foundation.types import FloatArray
from bayesmargin.plots import ACCENT, INK, PALE
from bayesmargin.validation.smoothing import LARGEST_GAP, smoothed_hinge

KINKS = (-1.0, 1.0)
WIDTHS = (0.6, 0.3, 0.15)
PRINTED = 0.15  # half width of the paper's picture

TEXT = (
    "The energy of a quadratic prior and two hinges, with kinks at {left:g} and {right:g}, and its "
    "smoothed versions. The paper smooths with half width {printed_width:g} and says that the "
    "curves differ only next to the kinks. Here the smoothed energy equals the exact one "
    "outside the neighbourhoods (largest difference {outside:.1e}) and lies above it inside, by "
    "{gap_c1:.4f} at most with one continuous derivative and {gap_c2:.4f} with two, against the "
    "bounds {bound_c1:.4f} and {bound_c2:.4f}. The samplers of this library do not smooth: with "
    "the Metropolis test, subgradients leave the exact posterior invariant."
)


def energy(position: FloatArray, width: float | None = None, order: int = 1) -> FloatArray:
    """A prior ``x^2/8`` and two hinges that meet the line from both sides, exact or smoothed."""
    total = position**2 / 8.0
    for kink, sign in zip(KINKS, (1.0, -1.0), strict=True):
        slack = sign * (position - kink)
        total = total + (
            np.maximum(slack, 0.0) if width is None else smoothed_hinge(slack, width, order)
        )
    return np.asarray(total)


def run(setup: Setup) -> Result:
    """Tabulate, measure the gaps, draw."""
    grid = np.linspace(-2.2, 2.2, 881)
    exact = energy(grid)
    smooth = {
        (width, order): energy(grid, width, order) for width in WIDTHS for order in LARGEST_GAP
    }
    numbers: list[dict[str, Any]] = [
        {
            "x": x,
            "energy": exact[k],
            **{f"width {w:g}, C{order}": values[k] for (w, order), values in smooth.items()},
        }
        for k, x in enumerate(grid)
    ]
    beyond = np.min([np.abs(grid - kink) for kink in KINKS], axis=0) >= PRINTED
    gaps = {order: smooth[PRINTED, order] - exact for order in LARGEST_GAP}
    facts = {
        "left": KINKS[0],
        "right": KINKS[1],
        "outside": max(float(np.abs(gap[beyond]).max()) for gap in gaps.values()),
        "gap_c1": float(gaps[1].max()),
        "gap_c2": float(gaps[2].max()),
        "bound_c1": LARGEST_GAP[1] * PRINTED,
        "bound_c2": LARGEST_GAP[2] * PRINTED,
    }
    inside = all(
        float(gap.min()) > -1e-12 and gap.max() <= LARGEST_GAP[order] * PRINTED + 1e-12
        for order, gap in gaps.items()
    )
    verdicts = [
        Verdict(
            "exact and smoothed curves coincide outside the neighbourhoods of the kinks",
            facts["outside"] < 1e-12,
            "Largest difference {outside:.1e}",
        ),
        Verdict(
            "the smoothed energy lies above the exact one, within the bound of each polynomial",
            inside,
            "Largest gaps {gap_c1:.4f} and {gap_c2:.4f}, bounds {bound_c1:.4f} and {bound_c2:.4f}",
        ),
    ]
    return Result(
        title="Polynomial smoothing",
        text=TEXT,
        figure=_draw(grid, exact, smooth),
        numbers=numbers,
        facts=facts,
        paper={"printed_width": PRINTED},
        verdicts=verdicts,
    )


def _draw(grid: FloatArray, exact: FloatArray, smooth: Any) -> Any:
    figure, axes = panels(1, 2, 4.4, 3.2)
    for axis, zoom in zip(axes[0], (None, (0.6, 1.4)), strict=True):
        axis.plot(grid, exact, color=INK, lw=1.6, label="exact")
        for width, style in zip(WIDTHS, (":", "--", "-"), strict=True):
            axis.plot(
                grid,
                smooth[width, 1],
                style,
                color=ACCENT,
                lw=1.2,
                label=f"smoothed, e = {width:g}",
            )
        for kink in KINKS:
            axis.axvspan(kink - PRINTED, kink + PRINTED, color=PALE, alpha=0.25, lw=0)
        axis.set_xlabel("weight", fontsize=9)
        if zoom is not None:
            axis.set_xlim(*zoom)
            seen = (grid > zoom[0]) & (grid < zoom[1])
            axis.set_ylim(exact[seen].min() - 0.05, exact[seen].max() + 0.05)
            axis.set_title("at the right kink", fontsize=9)
    axes[0, 0].set_ylabel("energy", fontsize=9)
    axes[0, 0].set_title("energy with two kinks", fontsize=9)
    axes[0, 0].legend(fontsize=7, frameon=False)
    return figure
