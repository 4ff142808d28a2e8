"""The look that all pictures share."""

from typing import Any

from bayesmargin.plots import ACCENT, INK, PALE

OURS = "ours (auto)"
COLOURS = {
    "SSGLD": "#2563eb",
    "SSGNHT": "#15803d",
    "SRWM": "#7c3aed",
    "Gibbs": INK,
    OURS: ACCENT,
    "quadrature": PALE,
}


def panels(
    n_rows: int, n_columns: int, width: float, height: float, **options: Any
) -> tuple[Any, Any]:
    """Figure and array of axes (rows, columns), the upper and right spines removed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * n_columns, height * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
    return figure, axes
