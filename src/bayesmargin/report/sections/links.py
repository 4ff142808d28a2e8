"""Links between entities: their probabilities as a sorted picture, and the features behind them."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.report import charts
from bayesmargin.report.context import Context
from bayesmargin.report.frame import COLOURS, Frame, picture
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
)
from bayesmargin.report.png import data_uri
from bayesmargin.report.sections.components import posterior_of_number

MOST_NAMED = 30  # entities whose names fit beside the picture
MOST_RELATIONS = 12
MOST_CELLS = 600  # of a picture, on a side
MOST = 500  # rows of a table
SIDE = 420.0


def matrix(context: Context) -> Markup:
    """Probabilities of links between all entities, those of like features beside each other."""
    model = context.estimator
    order, names = model.order(), model.relations_.tolist()
    panels = [
        (short(name), _picture(model, model.probability_matrix(name)[np.ix_(order, order)], order))
        for name in names[:MOST_RELATIONS]
    ]
    found = [
        paragraph(
            "Entities of like features stand beside each other, in the order of the last draw, so "
            "that those which are linked alike make blocks. The darker a cell, the more probable "
            "the link; probabilities are means over all draws."
        ),
        choice("Relation", panels),
    ]
    if len(names) > len(panels):
        found.append(note(f"{len(panels)} of {len(names)} relations are shown."))
    return join(found)


def features(context: Context) -> Markup:
    """How many features there are, and whom each entity is like."""
    model = context.estimator
    counts = model.n_features_.ravel()
    low, high = np.quantile(counts, [0.05, 0.95])
    return join([
        paragraph(
            f"The links ask for {number(float(counts.mean()))} features on average (90% of the "
            f"sweeps lie between {number(int(low))} and {number(int(high))}). Features have no "
            "names, and no numbers that last; how many two entities share does not depend on that."
        ),
        posterior_of_number(counts, "features"),
        _entities(model),
    ])  # fmt: skip


def _picture(model: Any, chance: FloatArray, order: Any) -> Markup:
    """A heat map with names where there is room for them, else pixels."""
    words = "Probabilities of links, by the features of entities: dark blocks are groups."
    if len(order) > MOST_NAMED:
        return figure(_pixels(chance, words), f"All {len(order):,} entities, from 0 to 1.")
    names = [str(name) for name in model.entities_[order].tolist()]
    labels = [[f"{100.0 * value:.0f}" for value in line] for line in chance]
    tips = [
        [f"{one} and {other}: {percent(value)}" for other, value in zip(names, line, strict=True)]
        for one, line in zip(names, chance.tolist(), strict=True)
    ]
    titles = ("from", "to") if model.directed else ("entity", "entity")
    chart = charts.heat_map(names, names, chance, labels, tips, titles, words)
    return figure(chart, "Probabilities of links in per cent.")


def _pixels(chance: FloatArray, words: str) -> Markup:
    every = -(-len(chance) // MOST_CELLS)  # means of squares of cells where there are very many
    edges = np.arange(0, len(chance), every)
    sums = np.add.reduceat(np.add.reduceat(chance, edges, axis=0), edges, axis=1)
    sizes = np.diff(np.append(edges, len(chance)))
    shade = sums / np.outer(sizes, sizes)
    pixels = np.zeros((*shade.shape, 4), dtype=np.uint8)
    pixels[..., :3] = COLOURS[0]
    pixels[..., 3] = np.round(255.0 * shade)
    count = float(len(chance))
    frame = Frame((0.0, count), (0.0, count), width=SIDE, height=SIDE - 18.0, bottom=34.0)
    left, top = frame.x(0.0), frame.y(count)
    image = tag(
        "image", href=data_uri(pixels), x=left, y=top, width=frame.x(count) - left,
        height=frame.y(0.0) - top, preserveAspectRatio="none", style="image-rendering:pixelated",
    )  # fmt: skip
    axes = frame.y_axis("entities", []), frame.x_axis("entities, by their features", [])
    return picture(frame, words, *axes, image)


def _entities(model: Any) -> Markup:
    """How many links each is expected to have, and with whom it shares most features."""
    shared = model.co_features()
    held = shared.diagonal().copy()
    np.fill_diagonal(shared, -1.0)
    nearest = shared.argmax(axis=1)
    chance = sum(model.probability_matrix(name) for name in model.relations_.tolist())
    expected = chance.sum(axis=1) + (chance.sum(axis=0) if model.directed else 0.0)
    rows = [
        [
            Cell(name_of(model.entities_[i])),
            Cell(number(float(expected[i])), float(expected[i])),
            Cell(number(float(held[i])), float(held[i])),
            Cell(name_of(model.entities_[nearest[i]])),
            Cell(number(float(shared[i, nearest[i]])), float(shared[i, nearest[i]])),
        ]
        for i in np.argsort(-expected, kind="stable")[:MOST]
    ]
    columns = ["entity", "links expected", "features", "most alike", "features shared"]
    found = [table("Entities, those of most links first", columns, rows, filterable=True)]
    if len(expected) > MOST:
        found.append(note(f"The table shows the first {MOST} of {len(expected):,}."))
    return join(found)
