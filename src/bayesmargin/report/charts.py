"""The kinds of charts: traces, bars, intervals, reliability, heat maps."""

from collections.abc import Sequence

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.report.frame import COLOURS, Frame, limits, picture, text_width
from bayesmargin.report.markup import Markup, join, number, short, tag

MOST_POINTS = 160  # of a line
LABEL = 26  # characters of a label beside a bar
PITCH = 22.0  # height of a row of bars
ROOM = 680.0  # width of a heat map
WIDE = 460.0  # from which a picture scrolls sideways on a narrow screen


def traces(
    chains: FloatArray, x_title: str, y_title: str, description: str, first: int = 1
) -> Markup:
    """One line a chain, (chain, time); long ones are thinned. Dashes tell chains apart."""
    count = chains.shape[1]
    kept = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS)).astype(int))
    frame = Frame(
        (float(first), float(first + max(1, count - 1))),
        limits(float(np.nanmin(chains)), float(np.nanmax(chains))),
        height=220.0,
    )
    lines = [
        tag(
            "path",
            d=frame.path((kept + first).tolist(), line[kept].tolist()),
            class_=f"line c{k % len(COLOURS)} dash{k % 4}",
            data_tip=f"chain {k + 1}: mean {number(line.mean())}, sd {number(line.std())}",
        )
        for k, line in enumerate(chains)
    ]
    return picture(frame, description, frame.y_axis(y_title), frame.x_axis(x_title), *lines)


def columns(
    values: Sequence[float],
    names: Sequence[str],
    x_title: str,
    y_title: str,
    description: str,
    spread: tuple[Sequence[float], Sequence[float]] | None = None,
) -> Markup:
    """Upright bars; ``spread`` draws a range over each."""
    top = max(max(values), max(spread[1]) if spread else 0.0, 1e-12)
    frame = Frame((0.0, float(len(values))), (0.0, 1.06 * top), height=230.0)
    parts: list[Markup] = [frame.y_axis(y_title)]
    every = max(1, -(-len(values) // 12))
    for k, (value, name) in enumerate(zip(values, names, strict=True)):
        left, right = frame.x(k + 0.12), frame.x(k + 0.88)
        base, height = frame.y(0.0), frame.y(0.0) - frame.y(value)
        tip = f"{name}: {number(value)}"
        if spread:
            tip += f" ({number(spread[0][k])} to {number(spread[1][k])})"
        parts.append(
            tag(
                "rect", x=left, y=base - height, width=round(right - left, 1),
                height=round(max(height, 0.5), 1), class_="bar", data_tip=tip,
            )
        )  # fmt: skip
        if spread:
            middle = frame.x(k + 0.5)
            path = f"M{middle:g} {frame.y(spread[0][k]):g}V{frame.y(spread[1][k]):g}"
            parts.append(tag("path", d=path, class_="whisker"))
        if k % every == 0:
            place = frame.height - frame.bottom + 17
            parts.append(tag("text", name, x=frame.x(k + 0.5), y=place, text_anchor="middle"))
    return picture(frame, description, *parts, frame.x_axis(x_title, []))


def _side_labels(frame: Frame, names: Sequence[str]) -> list[Markup]:
    return [
        tag(
            "text", short(name, LABEL), x=frame.left - 6, y=frame.top + PITCH * (k + 0.5) + 4,
            text_anchor="end", data_tip=short(name, 200) if len(str(name)) > LABEL else None,
        )
        for k, name in enumerate(names)
    ]  # fmt: skip


def _side_frame(names: Sequence[str], span: tuple[float, float]) -> Frame:
    longest = max((text_width(short(name, LABEL)) for name in names), default=1.0)
    height = 10.0 + PITCH * len(names) + 44.0
    return Frame(span, (0.0, 1.0), height=height, left=14.0 + longest)


def intervals(
    names: Sequence[str], quantiles: FloatArray, x_title: str, description: str
) -> Markup:
    """Quantiles 5, 25, 50, 75 and 95% (5, name): a thin line, a thick one, and a dot."""
    span = limits(min(0.0, float(quantiles.min())), max(0.0, float(quantiles.max())))
    frame = _side_frame(names, span)
    parts = [_zero(frame)]
    for k, (low, q1, middle, q3, high) in enumerate(quantiles.T):
        y = frame.top + PITCH * (k + 0.5)
        tip = f"{short(names[k], 80)}: median {number(middle)}, 90% {number(low)} to {number(high)}"
        parts.append(
            tag(
                "g",
                tag("path", d=f"M{frame.x(low):g} {y:g}H{frame.x(high):g}", class_="whisker"),
                tag("path", d=f"M{frame.x(q1):g} {y:g}H{frame.x(q3):g}", class_="box"),
                tag("circle", cx=frame.x(middle), cy=y, r=4, class_="dot"),
                tag(
                    "rect", x=frame.left, y=y - PITCH / 2, height=PITCH, class_="hit",
                    width=frame.width - frame.left - frame.right,
                ),
                data_tip=tip,
            )
        )  # fmt: skip
    return picture(frame, description, *parts, *_side_labels(frame, names), frame.x_axis(x_title))


def _zero(frame: Frame) -> Markup:
    at = frame.x(0.0)
    return tag("line", x1=at, x2=at, y1=frame.top, y2=frame.height - frame.bottom, class_="zero")


def signed_bars(
    names: Sequence[str], values: Sequence[float], x_title: str, description: str
) -> Markup:
    """Bars to either side of zero, one a row."""
    frame = _side_frame(names, limits(min(0.0, *values), max(0.0, *values)))
    parts = [_zero(frame)]
    for k, value in enumerate(values):
        left, right = sorted((frame.x(0.0), frame.x(value)))
        parts.append(
            tag(
                "rect", x=left, y=frame.top + PITCH * k + 4, height=PITCH - 8,
                width=round(max(right - left, 0.5), 1),
                class_="bar" if value >= 0 else "bar negative",
                data_tip=f"{short(names[k], 80)}: {number(value)}",
            )
        )  # fmt: skip
    return picture(frame, description, *parts, *_side_labels(frame, names), frame.x_axis(x_title))


def reliability(
    forecast: FloatArray,
    observed: FloatArray,
    error: FloatArray,
    cases: FloatArray,
    title: str,
    axes: tuple[str, str] = ("forecast probability", "observed frequency"),
) -> Markup:
    """Observed frequency against forecast, with one standard error either way."""
    frame = Frame((0.0, 1.0), (0.0, 1.0), height=400.0)
    marks = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    parts = [
        frame.y_axis(axes[1], marks),
        frame.x_axis(axes[0], marks),
        tag("path", d=frame.path([0, 1], [0, 1]), class_="ideal"),
        tag("path", d=frame.path(forecast.tolist(), observed.tolist()), class_="line c0"),
    ]
    for x, y, e, n in zip(forecast, observed, error, cases, strict=True):
        low, high = frame.y(max(0.0, y - e)), frame.y(min(1.0, y + e))
        tip = f"forecast {number(x)}, observed {number(y)} ± {number(e, 2)} ({number(n)} cases)"
        parts.append(
            tag(
                "g",
                tag("path", d=f"M{frame.x(x):g} {low:g}V{high:g}", class_="whisker"),
                tag("circle", cx=frame.x(x), cy=frame.y(y), r=5, class_="dot"),
                data_tip=tip,
            )
        )
    words = f"Reliability curve, {title}. The table below it holds its points."
    return picture(frame, words, *parts)


def risk(answered: FloatArray, errors: FloatArray) -> Markup:
    """Share of errors against the share of rows answered."""
    top = max(0.02, 1.1 * float(errors.max()))
    frame = Frame((0.0, 1.0), (0.0, top), height=300.0)
    parts = [
        frame.y_axis("errors among them"),
        frame.x_axis("share of rows answered", [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        tag("path", d=frame.path(answered.tolist(), errors.tolist()), class_="line c0"),
    ]
    words = "Risk against the share of rows answered. The table below it holds some of its points."
    return picture(frame, words, *parts)


def heat_map(
    rows: Sequence[str],
    names: Sequence[str],
    strength: FloatArray,
    labels: Sequence[Sequence[str]],
    tips: Sequence[Sequence[str]],
    titles: tuple[str, str],
    description: str,
) -> Markup:
    """Cells shaded by ``strength`` (0 to 1, signed for two colours); text where there is room."""
    shown_rows = [short(name, 22) for name in rows]
    left = 30.0 + max(text_width(name) for name in shown_rows)
    cell = min(44.0, max(9.0, (ROOM - left) / len(names)))
    high = max(14.0, min(cell, 30.0))
    upright = cell < 20.0  # narrow columns have no room for slanted names
    length = max(text_width(short(name, 18)) for name in names) + 8.0
    level = length <= cell  # short names stand as they are
    slanted = 18.0 if level else length if upright else 0.72 * length + 8.0
    beyond = 12.0 if upright or level else 0.72 * length
    width = max(left + cell * len(names) + beyond, 300.0)
    frame = Frame(
        (0.0, 1.0), (0.0, 1.0), width=width, height=slanted + 22.0 + high * len(rows) + 6.0
    )
    top = slanted + 22.0
    parts: list[Markup] = [
        tag("text", titles[1], x=left, y=12, class_="title"),
        tag(
            "text", titles[0], class_="title", text_anchor="middle",
            transform=f"translate(11 {top + 0.5 * high * len(rows):g}) rotate(-90)",
        ),
    ]  # fmt: skip
    for j, name in enumerate(names):
        if level:
            at = round(left + cell * (j + 0.5), 1)
            parts.append(tag("text", name, x=at, y=top - 6, text_anchor="middle"))
            continue
        turn = 90 if upright else 45
        place = f"translate({left + cell * (j + 0.6) + 2.0:g} {top - 5:g}) rotate(-{turn})"
        parts.append(tag("text", short(name, 18), transform=place))
    for i in range(len(rows)):
        y = top + high * i
        parts.append(
            tag("text", shown_rows[i], x=left - 6, y=round(y + high / 2 + 4, 1), text_anchor="end")
        )
        for j in range(len(names)):
            label = labels[i][j] if cell >= 26.0 else ""
            box = (round(left + cell * j, 1), y, cell, high)
            parts.append(_shaded(box, float(strength[i, j]), label, tips[i][j]))
    chart = picture(frame, description, join(parts))
    return tag("div", chart, class_="wide") if width > WIDE else chart


def _shaded(box: tuple[float, ...], value: float, label: str, tip: str) -> Markup:
    """One cell of a heat map in ``box``: its left and upper edge, width and height."""
    x, y, width, height = box
    shade = round(min(1.0, abs(value)), 3) if np.isfinite(value) else 0.0
    inner = [
        tag(
            "rect", x=x, y=round(y, 1), width=round(width - 1, 1), height=round(height - 1, 1),
            class_="cell" if value >= 0 else "cell negative", fill_opacity=shade,
        )
    ]  # fmt: skip
    if label:
        inner.append(
            tag(
                "text", label, x=round(x + width / 2, 1), text_anchor="middle",
                y=round(y + height / 2 + 4, 1), class_="strong" if shade > 0.55 else None,
            )
        )  # fmt: skip
    return tag("g", *inner, data_tip=tip)
