"""How far predictions of a regression are off, and whether intervals hold what they promise."""

import math

import numpy as np

from bayesmargin.calibration.reliability import error_of
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.report import charts
from bayesmargin.report.context import Context
from bayesmargin.report.held_values import LEVELS, SHOWN, HeldValues
from bayesmargin.report.markup import (
    Cell,
    Markup,
    choice,
    figure,
    join,
    name_of,
    note,
    number,
    paragraph,
    percent,
    short,
    table,
    tag,
    verdict,
)

EACH = 15
SNIPPET = 160  # characters of a text
CHANCE = 3.0  # standard errors within which a share is as promised
MISSING = (
    "No held-out rows with values were given, so nothing can be said about errors. Give the report "
    "rows that took no part in the fit, with their values."
)


def write(context: Context) -> Markup:
    """Errors beside those of a constant answer."""
    held = context.held_values
    if held is None or held.truth is None or not len(held.rows):
        return note(MISSING)
    away = np.abs(held.truth - held.predicted)
    constant = np.abs(held.truth - np.median(held.truth, axis=0))
    lines = []
    for k, name in enumerate(held.names):
        spread = float(held.truth[:, k].var())
        square = float(np.mean((held.truth - held.predicted)[:, k] ** 2))
        lines.append([
            Cell(name_of(name)), float(away[:, k].mean()), float(constant[:, k].mean()),
            float(np.median(away[:, k])), math.sqrt(square),
            1.0 - square / spread if spread else math.nan,
        ])  # fmt: skip
    mean, error = headline(held)
    return join([
        paragraph(
            tag("strong", f"{number(mean)} ± {number(error, 2)}"),
            f" is the mean absolute error over {len(held.rows):,} held-out rows (± one standard "
            f"error). Always answering their median would miss by {number(constant.mean())}.",
        ),
        table(
            "Errors",
            ["of", "mean absolute", "of the median alone", "median", "root mean square", "R2"],
            lines, plain=True,
        ),
        note("R2 is the share of the variance that is explained: 1 is perfect, 0 is the mean."),
    ])  # fmt: skip


def headline(held: HeldValues) -> tuple[float, float]:
    """Mean absolute error and its standard error."""
    assert held.truth is not None
    away = np.abs(held.truth - held.predicted).mean(axis=1)
    return float(away.mean()), float(away.std() / math.sqrt(len(away)))


def intervals(context: Context) -> Markup | None:
    """How many values lie inside intervals of four widths."""
    held = context.held_values
    if held is None or held.truth is None or not len(held.rows):
        return None
    panels = [(name, _panel(held, k)) for k, name in enumerate(held.names)]
    good = all(
        _kept(held, k, level) for k in range(len(held.names)) for level in range(len(LEVELS))
    )
    sentence = (
        "intervals hold as many new values as they promise, to within chance."
        if good
        else "some intervals hold more or fewer new values than they promise: see whether these "
        "rows differ from the training rows."
    )
    return join([verdict(good, sentence), choice("Intervals of", panels)])


def _share(held: HeldValues, value: int, level: int) -> tuple[float, float]:
    share = float(held.inside(level)[:, value].mean())
    return share, error_of(LEVELS[level], len(held.rows))


def _kept(held: HeldValues, value: int, level: int) -> bool:
    share, error = _share(held, value, level)
    return abs(share - LEVELS[level]) <= CHANCE * error


def _panel(held: HeldValues, value: int) -> Markup:
    shares = np.array([_share(held, value, k) for k in range(len(LEVELS))])
    rows = []
    for k, level in enumerate(LEVELS):
        width = float(np.diff(held.ends[k, :, value], axis=1).mean())
        rows.append([percent(level), _percent(shares[k, 0]), _percent(shares[k, 1]), width])
    counts = np.full(len(LEVELS), float(len(held.rows)))
    chart = charts.reliability(
        np.array(LEVELS), shares[:, 0], shares[:, 1], counts,
        title=f"intervals of the {held.names[value]}", axes=("promised share", "share inside"),
    )  # fmt: skip
    return figure(
        chart,
        "On the dashed line intervals hold exactly what they promise; above it they are too wide.",
        table("Intervals", ["promised", "inside", "chance (one sd)", "mean width"], rows),
    )


def _percent(share: float) -> Cell:
    return Cell(percent(float(share)), float(share))


def cases(context: Context) -> Markup | None:
    """Rows that lie farthest beyond their interval, and those whose intervals are widest."""
    held = context.held_values
    if held is None or not len(held.rows):
        return None
    lists: list[tuple[str, int, IntArray]] = []
    for k, name in enumerate(held.names):
        low, high = held.ends[SHOWN, :, k].T
        width = np.maximum(high - low, 1e-300)
        where = "" if len(held.names) == 1 else f", {name}"
        if held.truth is not None:
            beyond = np.maximum(low - held.truth[:, k], held.truth[:, k] - high) / width
            lists.append((f"farthest off{where}", k, _first(-beyond)))
        lists.append((f"least certain{where}", k, _first(-width)))
    panels = [(name, _list(held, k, rows, name)) for name, k, rows in lists]
    return choice("Show the rows that are", panels)


def _first(order: FloatArray) -> IntArray:
    found: IntArray = np.argsort(order, kind="stable")[:EACH]
    return found


def _list(held: HeldValues, value: int, rows: IntArray, name: str) -> Markup:
    columns = ["row", *(["text"] if held.texts is not None else []), "predicted", "sd of the line"]
    columns += ["90% from", "to", *(["true value"] if held.truth is not None else [])]
    lines = []
    for row in rows.tolist():
        ends = held.ends[SHOWN, row, value]
        line: list[object] = [Cell(name_of(held.ids[row], 28))]
        if held.texts is not None:
            line.append(tag("span", short(held.texts[row], SNIPPET), class_="snippet"))
        line += [
            float(held.predicted[row, value]),
            float(held.deviation[row, value]),
            *map(float, ends),
        ]
        if held.truth is not None:
            line.append(float(held.truth[row, value]))
        lines.append(line)
    return table(f"Rows that are {name}", columns, lines, filterable=True)
