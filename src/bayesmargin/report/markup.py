"""HTML and SVG as Python calls; whatever is not markup already is escaped."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

LONGEST = 60  # characters of a name that are shown; hovering shows LONGEST_TIP of them
LONGEST_TIP = 300
DASH, MINUS = "\u2013", "\u2212"
VOID = {"meta", "input", "br", "img"}


class Markup(str):
    """Text that is markup already; only this module and templates of the package make it."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element. Children that are not :class:`Markup` are escaped, as are all attributes.

    A trailing underscore of an attribute's name is dropped and others become hyphens; the values
    None and False leave an attribute out, True gives a bare one.

    Examples
    --------
    >>> from bayesmargin.report.markup import tag
    >>> tag("p", "a < b", class_="note", data_tip='"x"')
    '<p class="note" data-tip="&quot;x&quot;">a &lt; b</p>'
    """
    words = [name]
    for key, value in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        words.append(key if value is True else f'{key}="{escape(_text(value))}"')
    opening = f"<{' '.join(words)}>"
    if name in VOID:
        return Markup(opening)
    return Markup(f"{opening}{join(children)}</{name}>")


def join(parts: Iterable[Any]) -> Markup:
    """Parts side by side, escaped where they are not markup; None is left out."""
    return Markup("".join(_child(part) for part in parts if part is not None))


def _child(value: Any) -> str:
    return value if isinstance(value, Markup) else escape(_text(value), quote=False)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def number(value: Any, digits: int = 3) -> str:
    """A figure for people: significant digits, thousands set apart, a dash for what is missing.

    Examples
    --------
    >>> from bayesmargin.report.markup import number
    >>> number(0.123456), number(1234567), number(float("nan")), number(-3.0)
    ('0.123', '1,234,567', '–', '−3')
    """
    if value is None:
        return DASH
    value = float(value)
    if math.isnan(value):
        return DASH
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    if value == int(value) and abs(value) < 1e15:
        text = f"{int(value):,}"
    elif abs(value) >= 10.0**digits:
        text = f"{value:,.0f}"
    else:
        text = f"{value:.{digits}g}"
    return text.replace("-", MINUS)


def percent(value: float, digits: int = 1) -> str:
    """A share as a percentage."""
    return DASH if math.isnan(value) else f"{100.0 * value:.{digits}f}%"


def short(text: Any, longest: int = LONGEST) -> str:
    """Text on one line, cut with an ellipsis, unprintable characters replaced."""
    line = " ".join(str(text)[: 20 * longest].split())
    line = "".join(character if character.isprintable() else "�" for character in line)
    return line if len(line) <= longest else line[: longest - 1] + "…"


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what is shown, and the value by which it is sorted."""

    shown: Any
    value: float | None = None


def table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    filterable: bool = False,
    plain: bool = False,
) -> Markup:
    """A table with sortable columns, in a box that scrolls sideways on a narrow screen.

    Cells are text, numbers or :class:`Cell`; the first of a row is its header. ``plain`` leaves
    sorting out.
    """
    head = tag("tr", *(_heading(name, plain) for name in columns))
    body = tag("tbody", *(_row(row) for row in rows))
    inner = tag(
        "table",
        tag("caption", caption),
        tag("thead", head),
        body,
        class_=None if plain else "sortable",
    )
    kind = "scroll" if plain else "scroll tall"
    box = tag("div", inner, class_=kind, tabindex="0", role="region", aria_label=caption)
    if not filterable:
        return box
    field = tag(
        "label",
        "Show rows that contain ",
        tag("input", type="search", class_="filter", autocomplete="off"),
        tag("span", class_="count", aria_live="polite"),
        class_="tools",
    )
    return tag("div", field, box, class_="filtered")


def _heading(name: str, plain: bool) -> Markup:
    if plain:
        return tag("th", name, scope="col")
    return tag("th", tag("button", name, type="button"), scope="col", aria_sort="none")


def _row(row: Sequence[Any]) -> Markup:
    return tag("tr", *(_cell(value, k == 0) for k, value in enumerate(row)))


def _cell(value: Any, first: bool) -> Markup:
    cell = value if isinstance(value, Cell) else None
    if cell is None:
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        cell = Cell(number(value), float(value)) if numeric else Cell(value)
    sort = None if cell.value is None or math.isnan(cell.value) else f"{cell.value:.9g}"
    kind = "number" if cell.value is not None else None
    if first:
        return tag("th", cell.shown, scope="row", class_=kind, data_value=sort)
    return tag("td", cell.shown, class_=kind, data_value=sort)


def name_of(text: Any, longest: int = LONGEST) -> Markup:
    """A name from the data: shortened, the longer form on hovering."""
    shown = short(text, longest)
    longer = short(text, LONGEST_TIP)
    return tag("span", shown, class_="name", data_tip=longer if longer != shown else None)


def choice(label: str, panels: Sequence[tuple[str, Markup]]) -> Markup:
    """Panels of which one is shown at a time, chosen from a list; one panel needs no list."""
    if len(panels) == 1:
        return panels[0][1]
    options = [tag("option", short(name), value=str(k)) for k, (name, _) in enumerate(panels)]
    chooser = tag("label", label + " ", tag("select", *options, class_="chooser"), class_="tools")
    bodies = [
        tag("div", tag("h4", short(name), class_="panel-name"), body, class_="panel")
        for name, body in panels
    ]
    return tag("div", chooser, *bodies, class_="choice")


def note(*parts: Any) -> Markup:
    """A paragraph in small print."""
    return tag("p", *parts, class_="note")


def paragraph(*parts: Any) -> Markup:
    """A paragraph."""
    return tag("p", *parts)


def verdict(good: bool | None, sentence: str) -> Markup:
    """A sentence with a mark: good, bad, or unknown (None); the mark is also said in words."""
    kind, mark, words = {
        True: ("good", "✓", "Good: "),
        False: ("bad", "!", "Caution: "),
        None: ("open", "?", "Not known: "),
    }[good]
    return tag(
        "p",
        tag("span", mark, class_="mark", aria_hidden="true"),
        tag("span", tag("strong", words), sentence),
        class_=f"verdict {kind}",
    )


def figure(chart: Markup, caption: Any, *more: Any) -> Markup:
    """A chart with its caption."""
    return tag("figure", chart, tag("figcaption", caption), *more)


def details(summary: str, *content: Any) -> Markup:
    """Content that is folded away."""
    return tag("details", tag("summary", summary), *content)
