"""What a notebook shows of a part of a fitted model: a sentence, a small picture, a small table.

A card brings its own styles, so that it looks alike in every notebook and in pages made of them,
and takes its text colour from where it stands, dark or light.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.diagnostics.bars import FEWEST_EFFECTIVE, TOLERATED_BIAS, TOLERATED_RHAT
from bayesmargin.foundation.types import FloatArray
from bayesmargin.report.markup import Markup, join, number, short, tag

MOST_SHOWN = 12  # scalars of a posterior; the surest come first
MOST_SUMMARISED = 4096  # scalars that are looked at to find them
BLUE, GREEN, RED = "#3572b0", "#2e8b57", "#c0392b"
WIDTH, ROW, LEFT = 420.0, 20.0, 150.0
NAME = 20  # characters beside a picture


def posterior_card(posterior: Any) -> str:
    """The surest scalars of a posterior with their intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.posterior import Posterior
    >>> draws = 3.0 + np.random.default_rng(0).standard_normal((2, 50, 2))
    >>> posterior = Posterior({"coef": draws}, {"coef": ("feature",)}, {"feature": ["a", "b"]}, {})
    >>> html = posterior._repr_html_()
    >>> html.count("<svg"), "coef[a]" in html, "2 chains" in html
    (1, True, True)
    """
    size = sum(int(np.prod(array.shape[2:])) for array in posterior.values())
    kind = f"{posterior.n_chains} chains of {posterior.n_draws:,} draws, {posterior.intervals}"
    title = f"Posterior: {kind}"
    if size > MOST_SUMMARISED:
        shapes = ", ".join(f"{name} {array.shape[2:]}" for name, array in posterior.items())
        return _card(title, f"{size:,} scalars ({shapes}): summary() has them all.")
    summary = posterior.summary(0.9)
    sure = (summary["mean"].abs() / summary["sd"].where(summary["sd"] > 0.0)).fillna(0.0)
    shown = summary.loc[sure.sort_values(ascending=False, kind="stable").index[:MOST_SHOWN]]
    words = "" if len(shown) == size else f" (of {size:,}; summary() has them all)"
    heading = f"Means and 90% intervals of those farthest from zero{words}"
    picture = _forest(shown.index.tolist(), shown["mean"].to_numpy(), shown[["5%", "95%"]].values)
    head = ["", "mean", "sd", "5%", "95%", "R-hat", "ESS"]
    figures = ["mean", "sd", "5%", "95%", "r_hat", "ess_bulk"]
    rows = [[short(name, 60), *row] for name, row in zip(shown.index, shown[figures].values,
                                                         strict=True)]  # fmt: skip
    return _card(title, heading, picture, _table(head, rows))


class Scale(NamedTuple):
    """A figure on a line of which one part is as it should be."""

    name: str
    value: float
    low: float
    high: float
    good: tuple[float, float]


def diagnostics_card(found: Any, n_chains: int = 4) -> str:
    """Each figure of a linear fit on a line, with the range in which it is trusted.

    How many draws are enough hangs on the number of chains, of which a usual fit has four.

    Examples
    --------
    >>> from bayesmargin.diagnostics.convergence import Diagnostics
    >>> found = Diagnostics(1.01, 800.0, 700.0, 1.0, 0.1, 0.01, 0, 4000, 1.5, True, True)
    >>> html = found._repr_html_()
    >>> html.count("<svg"), "can be trusted" in html
    (1, True)
    """
    fewest, off = float(FEWEST_EFFECTIVE * n_chains), TOLERATED_BIAS
    most = max(10.0 * fewest, 1.1 * _finite(found.min_bulk_ess), 1.1 * _finite(found.min_tail_ess))
    scales = [
        Scale("worst R-hat", found.max_rhat, 1.0, 1.1, (1.0, TOLERATED_RHAT)),
        Scale("fewest draws, bulk", found.min_bulk_ess, 0.0, most, (fewest, most)),
        Scale("fewest draws, tails", found.min_tail_ess, 0.0, most, (fewest, most)),
        Scale(
            "temperature",
            found.temperature,
            1.0 - 2.0 * off,
            1.0 + 2.0 * off,
            (1.0 - off, 1.0 + off),
        ),
        Scale("bias of variances", found.bias, -2.0 * off, 2.0 * off, (-off, off)),
    ]
    return _card("Diagnostics", str(found), _lines(scales), good=found.trustworthy)


def mixture_card(found: Any, components: Any) -> str:
    """How often the chains had how many components, and the figures of what they are judged by."""
    numbers, counts = np.unique(np.asarray(components), return_counts=True)
    shares = counts / counts.sum()
    head = ["", "mean", "R-hat", "effective sweeps"]
    rows = [[name, part["mean"], part["r_hat"], part["effective_draws"]]
            for name, part in found.quantities.items()]  # fmt: skip
    picture = _bars(numbers, shares, "components")
    return _card("Mixture", str(found), picture, _table(head, rows), good=found.trustworthy)


def topics_card(found: Any, traces: Mapping[str, FloatArray]) -> str:
    """How the size of the weights and the breadth of the topics went along the kept draws."""
    rows = [[name, part["mean"], f"{100 * part['drift']:.1f}%"] for name, part in found.items()]
    pictures = [_trace(name, chains) for name, chains in traces.items()]
    table = _table(["", "mean", "drift"], rows)
    return _card("Topics", str(found), *pictures, table, good=found.trustworthy)


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def _card(title: str, sentence: str, *parts: Any, good: bool | None = None) -> str:
    colour = {True: GREEN, False: RED, None: BLUE}[None if good is None else bool(good)]
    frame = (
        f"border-left:4px solid {colour};padding:.3em .9em;margin:.4em 0;max-width:720px;"
        "font-family:system-ui,sans-serif;font-size:13px"
    )
    told = tag("p", tag("strong", title), ". ", sentence, style="margin:.2em 0 .5em")
    return str(tag("div", told, *parts, style=frame))


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Markup:
    right = "text-align:right;padding:1px 8px"
    left = "text-align:left;padding:1px 8px;font-weight:normal"
    lines = [
        tag("tr", tag("th", row[0], scope="row", style=left),
            *(tag("td", cell if isinstance(cell, str) else number(cell), style=right)
              for cell in row[1:]))
        for row in rows
    ]  # fmt: skip
    top = tag("tr", *(tag("th", name, scope="col", style=right) for name in head))
    body = tag("tbody", *lines)
    style = "border-collapse:collapse;margin:.4em 0;font-size:inherit"
    return tag("table", tag("thead", top), body, style=style)


def _svg(height: float, description: str, *parts: Markup, width: float = WIDTH) -> Markup:
    return tag(
        "svg", *parts, viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=description,
        style=f"max-width:{width:g}px;width:100%;display:block;font-size:11px",
    )  # fmt: skip


def _text(words: Any, x: float, y: float, anchor: str = "start") -> Markup:
    return tag("text", words, x=round(x, 1), y=round(y, 1), text_anchor=anchor, fill="currentColor")


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1.0) -> Markup:
    path = f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"
    return tag("path", d=path, stroke=colour, stroke_width=width, fill="none")


def _forest(names: Sequence[str], means: FloatArray, ranges: FloatArray) -> Markup:
    low, high = min(0.0, float(ranges.min())), max(0.0, float(ranges.max()))
    unit = (WIDTH - LEFT - 10.0) / max(high - low, 1e-300)

    def place(value: float) -> float:
        return LEFT + unit * (value - low)

    height = ROW * len(names) + 18.0
    parts = [_line(place(0.0), 2.0, place(0.0), height - 16.0, "currentColor", 0.5)]
    for k, (name, mean, (start, end)) in enumerate(zip(names, means, ranges, strict=True)):
        y = ROW * (k + 0.6)
        parts += [
            _text(short(name, NAME), LEFT - 8.0, y + 4.0, "end"),
            _line(place(start), y, place(end), y, BLUE, 3.0),
            tag("circle", cx=round(place(mean), 1), cy=round(y, 1), r=3.5, fill=BLUE),
        ]
    parts += [_text(number(low), LEFT, height - 3.0),
              _text(number(high), WIDTH - 10.0, height - 3.0, "end")]  # fmt: skip
    return _svg(height, "means and 90% intervals", *parts)


def _lines(scales: Sequence[Scale]) -> Markup:
    end = WIDTH - 70.0
    parts: list[Markup] = []
    for k, scale in enumerate(scales):
        unit = (end - LEFT) / (scale.high - scale.low)
        y = ROW * (k + 0.6)
        from_, to = (LEFT + unit * (bound - scale.low) for bound in scale.good)
        parts += [
            _text(scale.name, LEFT - 8.0, y + 4.0, "end"),
            _line(LEFT, y, end, y, "#9994", 6.0),
            _line(from_, y, to, y, GREEN + "66", 6.0),
            _text(number(scale.value), end + 8.0, y + 4.0),
        ]
        if not math.isnan(scale.value):
            inside = scale.good[0] <= scale.value <= scale.good[1]
            x = LEFT + unit * (min(max(scale.value, scale.low), scale.high) - scale.low)
            colour = GREEN if inside else RED
            parts.append(tag("circle", cx=round(x, 1), cy=round(y, 1), r=4.5, fill=colour))
    return _svg(ROW * len(scales) + 8.0, "figures and the ranges they are trusted in", *parts)


def _bars(numbers: Any, shares: FloatArray, what: str) -> Markup:
    most = np.argsort(-shares, kind="stable")[:MOST_SHOWN]
    parts: list[Markup] = []
    for k, place in enumerate(np.sort(most)):
        y, width = ROW * k + 4.0, (WIDTH - LEFT - 60.0) * shares[place] / shares.max()
        parts += [
            _text(f"{number(numbers[place])} {what}", LEFT - 8.0, y + 11.0, "end"),
            tag("rect", x=LEFT, y=y, width=round(width, 1), height=ROW - 6.0, fill=BLUE),
            _text(f"{100 * shares[place]:.0f}%", LEFT + width + 6.0, y + 11.0),
        ]
    return _svg(ROW * len(most) + 8.0, f"share of the draws by their number of {what}", *parts)


def _trace(name: str, chains: FloatArray) -> Markup:
    height, top = 70.0, 18.0
    low, high = float(np.nanmin(chains)), float(np.nanmax(chains))
    across = WIDTH / max(1, chains.shape[1] - 1)
    up = (height - top - 6.0) / max(high - low, 1e-300)
    lines = []
    for k, chain in enumerate(chains):
        points = " ".join(
            f"{across * j:.1f},{height - 4.0 - up * (value - low):.1f}"
            for j, value in enumerate(chain)
        )
        dash = None if k == 0 else f"{2 * k + 1} 2"
        lines.append(
            tag("polyline", points=points, fill="none", stroke=BLUE, stroke_dasharray=dash)
        )
    words = f"{name}: {number(low)} to {number(high)} along the kept draws"
    return _svg(height, words, _text(words, 0.0, 12.0), join(lines))
