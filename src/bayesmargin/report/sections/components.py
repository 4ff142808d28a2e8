"""Components of an infinite mixture: how many, how large, and what their experts look at."""

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.mixtures.components import Component, kept_draws
from bayesmargin.report import charts
from bayesmargin.report.context import Context
from bayesmargin.report.markup import (
    Markup,
    choice,
    figure,
    join,
    note,
    number,
    paragraph,
    percent,
    tag,
)

MOST_EXPERTS = 20
MOST_SIZES = 40
WEIGHTS = 12


def write(context: Context) -> Markup | None:
    """Posterior of the number, sizes, and the experts of the last draw."""
    if context.kind != "infinite":
        return None
    counts = np.atleast_2d(context.estimator.n_components_).ravel()
    parts = [
        paragraph(
            f"The data ask for {number(float(counts.mean()))} components on average (90% of the "
            f"sweeps lie between {number(int(np.quantile(counts, 0.05)))} and "
            f"{number(int(np.quantile(counts, 0.95)))})."
        ),
        posterior_of_number(counts, "components"),
        _sizes(context),
        tag("h3", "Experts of the last draw"),
        _experts(context),
    ]
    return join(parts)


def posterior_of_number(counts: IntArray, what: str) -> Markup:
    """How often the chains had how many of something."""
    low, high = int(counts.min()), int(counts.max())
    share = np.bincount(counts - low, minlength=high - low + 1) / len(counts)
    if len(share) > 60:  # too many bars to tell apart
        edges = np.array_split(np.arange(len(share)), 40)
        names = [f"{low + int(part[0])}" for part in edges]
        share = np.array([share[part].sum() for part in edges])
    else:
        names = [str(low + k) for k in range(len(share))]
    chart = charts.columns(
        share.tolist(), names, f"number of {what}", "share of sweeps",
        f"Posterior of the number of {what}, from {low} to {high}.",
    )  # fmt: skip
    return figure(chart, f"Posterior of the number of {what}.")


def sizes_by_rank(context: Context) -> FloatArray:
    """Sizes of the components, largest first, (draw, rank); zero where there is none."""
    draws = [draw.components() for draw in kept_draws(context.estimator)]
    lines = [sorted((float(one.size) for one in draw), reverse=True) for draw in draws]
    table = np.zeros((len(lines), max(len(line) for line in lines)))
    for row, line in zip(table, lines, strict=True):
        row[: len(line)] = line
    return table


def _sizes(context: Context) -> Markup:
    table = sizes_by_rank(context)
    total = max(float(table.sum(axis=1).mean()), 1.0)
    kept = table[:, :MOST_SIZES]
    low, high = np.quantile(kept, [0.05, 0.95], axis=0)
    names = [str(k + 1) for k in range(kept.shape[1])]
    chart = charts.columns(
        kept.mean(axis=0).tolist(), names, "component, by size", "rows",
        "Sizes of the components, largest first, with the range of 90% of the draws.",
        (low.tolist(), high.tolist()),
    )  # fmt: skip
    first = percent(float(kept[:, 0].mean()) / total)
    return figure(
        chart, f"Mean size and range of 90% of the draws; the largest holds {first} of the rows."
    )


def _experts(context: Context) -> Markup:
    last = kept_draws(context.estimator)[-1]
    experts = sorted(last.components(), key=lambda expert: -expert.size)
    total = max(1, sum(expert.size for expert in experts))
    panels = []
    for k, expert in enumerate(experts[:MOST_EXPERTS]):
        title = f"{k + 1}: {expert.size:,} rows ({percent(expert.size / total)})"
        panels.append((title, _weights(context, expert)))
    hidden = len(experts) - len(panels)
    more = f" {hidden} smaller components are not shown." if hidden else ""
    return join(
        [
            choice("Component", panels),
            note(
                "Weights belong to standardised features. Components have no identity beyond a "
                f"draw, so there are no intervals here.{more}"
            ),
        ]
    )


def _weights(context: Context, expert: Component) -> Markup:
    features = [*context.feature_names, "(intercept)"]
    values = expert.weights
    if len(values) > 1:
        values = values - values.mean(axis=0)
    order = np.argsort(-np.abs(values), axis=None, kind="stable")[:WEIGHTS]
    names, shown = [], []
    for place in order:
        row, column = divmod(int(place), values.shape[1])
        prefix = "" if len(values) == 1 else f"{context.class_names[row]}: "
        names.append(prefix + features[column])
        shown.append(float(values[row, column]))
    chart = charts.signed_bars(
        names, shown, "weight", f"Strongest weights of a component with {expert.size} rows."
    )
    words = (
        f"Right: for {context.class_names[1]}, left: for {context.class_names[0]}."
        if len(values) == 1
        else "Right: for the class, left: against it (relative to the mean of the classes)."
    )
    return figure(chart, words)
