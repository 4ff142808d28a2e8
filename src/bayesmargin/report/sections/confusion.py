"""Which classes are taken for which."""

import numpy as np

from bayesmargin.foundation.types import IntArray
from bayesmargin.report import charts
from bayesmargin.report.context import Context
from bayesmargin.report.markup import (
    Cell,
    Markup,
    choice,
    figure,
    join,
    name_of,
    note,
    percent,
    table,
)

MOST_CLASSES = 40
MOST_PAIRS = 60


def write(context: Context) -> Markup | None:
    """A heat map (shares or counts) and the most frequent confusions."""
    held = context.held_out
    if held is None or held.truth is None or held.label_sets or not len(held.known):
        return None
    size = len(context.class_names)
    truth, predicted = held.truth[held.known], held.predicted[held.known]
    counts = np.bincount(truth * size + predicted, minlength=size * size).reshape(size, size)
    shown = np.arange(size)
    parts: list[Markup] = []
    if size > MOST_CLASSES:
        shown = np.sort(np.argsort(-counts.sum(axis=1), kind="stable")[:MOST_CLASSES])
        parts.append(note(f"The picture shows the {MOST_CLASSES} largest of {size} classes."))
    panels = [
        ("share of the true class", _map(context, counts, shown, by_row=True)),
        ("number of rows", _map(context, counts, shown, by_row=False)),
    ]
    parts += [choice("Show", panels), _pairs(context, counts)]
    return join(parts)


def _map(context: Context, counts: IntArray, shown: IntArray, by_row: bool) -> Markup:
    names = [context.class_names[k] for k in shown]
    part = counts[np.ix_(shown, shown)].astype(float)
    totals = np.maximum(counts.sum(axis=1)[shown], 1)[:, None]
    share = part / totals
    strength = share if by_row else part / max(1.0, part.max())
    labels, tips = [], []
    for i in range(len(shown)):
        labels.append(
            [
                "" if not part[i, j] else _compact(share[i, j]) if by_row else f"{int(part[i, j])}"
                for j in range(len(shown))
            ]
        )
        tips.append(
            [
                f"{names[i]} taken for {names[j]}: {int(part[i, j])} of {int(totals[i, 0])} rows "
                f"({percent(float(share[i, j]))})"
                for j in range(len(shown))
            ]
        )
    chart = charts.heat_map(
        names, names, strength, labels, tips, ("true class", "predicted class"),
        "Confusion matrix; the table below lists its largest entries off the diagonal.",
    )  # fmt: skip
    return figure(chart, "Rows are true classes, columns predictions; the diagonal is right.")


def _compact(share: float) -> str:
    text = f"{100.0 * share:.0f}"
    return "<1" if text == "0" else "100" if share == 1 else ">99" if text == "100" else text


def _pairs(context: Context, counts: IntArray) -> Markup:
    off = counts.copy()
    np.fill_diagonal(off, 0)
    order = np.argsort(-off, axis=None, kind="stable")[:MOST_PAIRS]
    rows = []
    for place in order:
        i, j = divmod(int(place), len(counts))
        if not off[i, j]:
            break
        share = off[i, j] / counts[i].sum()
        rows.append(
            [
                Cell(name_of(context.class_names[i])),
                Cell(name_of(context.class_names[j])),
                int(off[i, j]),
                Cell(percent(float(share)), float(share)),
            ]
        )
    if not rows:
        return note("No row is taken for another class.")
    return table(
        "Most frequent confusions",
        ["true class", "taken for", "rows", "share of the true class"],
        rows,
        filterable=len(rows) > 10,
    )
