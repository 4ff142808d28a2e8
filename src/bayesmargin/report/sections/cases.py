"""The rows the model is most sure of, least sure of, and sure of though wrong."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import IntArray
from bayesmargin.report.context import Context, HeldOut
from bayesmargin.report.markup import (
    Cell,
    Markup,
    choice,
    join,
    name_of,
    note,
    percent,
    short,
    table,
    tag,
)
from bayesmargin.report.sections.reasons import reasons

EACH = 15
SNIPPET = 160  # characters of a text


def write(context: Context) -> Markup | None:
    """Lists to choose from, each with what spoke for the answer."""
    held = context.held_out
    if held is None or not len(held.rows):
        return None
    if held.label_sets:
        return note("Cases are listed for models of one label a row only.")
    top = held.probability.max(axis=1)
    lists: list[tuple[str, IntArray]] = [
        ("most doubtful", np.argsort(top, kind="stable")[:EACH]),
        ("most certain", np.argsort(-top, kind="stable")[:EACH]),
    ]
    if held.truth is not None:
        wrong = np.flatnonzero(held.predicted != held.truth)
        surest = wrong[np.argsort(-top[wrong], kind="stable")][:EACH]
        lists.insert(0, ("confidently wrong", surest))
    panels = [(name, _list(context, held, rows, name)) for name, rows in lists]
    return join([tag("p", _sentence(held)), choice("Show the rows that are", panels)])


def _sentence(held: HeldOut) -> str:
    top = held.probability.max(axis=1)
    sure, open_ = float((top > 0.95).mean()), float((top < 0.6).mean())
    words = f"The model is more than 95% sure of {percent(sure)} of the rows"
    words += f" and less than 60% sure of {percent(open_)}."
    if held.truth is not None and (top > 0.95).any():
        wrong = float((held.predicted != held.truth)[top > 0.95].mean())
        words += f" Of those it is more than 95% sure of, {percent(wrong)} are wrong."
    return words


def _list(context: Context, held: HeldOut, rows: IntArray, name: str) -> Markup:
    if not len(rows):
        return note("There is none.")
    why = reasons(context, held, rows)
    columns = ["row", *(["text"] if held.texts is not None else []), "predicted", "probability"]
    columns += ["true class"] if held.truth is not None else []
    columns += ["runner-up"] if len(context.class_names) > 2 else []
    columns += ["what spoke for it"] if why else []
    lines = [_line(context, held, int(r), why[k] if why else None) for k, r in enumerate(rows)]
    return table(f"Rows that are {name}", columns, lines, filterable=True)


def _line(context: Context, held: HeldOut, row: int, why: Markup | None) -> list[Any]:
    chance = held.probability[row]
    chosen = int(held.predicted[row])
    names = context.class_names
    cells: list[Any] = [
        Cell(name_of(held.ids[row], 28)),
        Cell(name_of(names[chosen], 28)),
        Cell(_chance(float(chance[chosen])), float(chance[chosen])),
    ]
    if held.truth is not None:
        cells.append(_true(names, chosen, int(held.truth[row])))
    if len(names) > 2:
        second = int(np.argsort(-chance, kind="stable")[1])
        words = join([name_of(names[second], 20), f" ({_chance(float(chance[second]))})"])
        cells.append(Cell(words, float(chance[second])))
    if why is not None:
        cells.append(why)
    if held.texts is not None:
        text = short(held.texts[row], SNIPPET)
        tip = short(held.texts[row], 4 * SNIPPET)
        cells.insert(1, tag("span", text, class_="snippet", data_tip=tip))
    return cells


def _true(names: list[str], chosen: int, truth: int) -> Markup:
    if truth < 0:
        return tag("span", "? (unknown to the model)", class_="wrong")
    if truth == chosen:
        return tag("span", "✓ ", name_of(names[truth], 28), class_="right")
    return tag("span", "✗ ", name_of(names[truth], 28), class_="wrong")


def _chance(value: float) -> str:
    return ">99.9%" if value > 0.999 else "<0.1%" if value < 0.001 else percent(value)
