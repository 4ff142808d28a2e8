"""Decision regions in the plane, or in the plane of the first two principal components."""

from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.report.context import Context, HeldOut
from bayesmargin.report.frame import COLOURS, Frame, picture, text_width
from bayesmargin.report.markup import Markup, figure, join, note, percent, short, tag
from bayesmargin.report.plane import Plane, plane_of
from bayesmargin.report.png import data_uri

CELLS = 90  # of the grid, on a side
MOST_POINTS = 500
MOST_ROWS = 5000  # that the principal components are computed from
NAMED_SHARE = 0.01  # of the picture that a region needs to get its name written in
SHAPES = 6


def write(context: Context) -> Markup | None:
    """Regions with the rows drawn in, for mixtures of experts and kernels."""
    if context.kind not in ("infinite", "kernel"):
        return None
    held = context.held_out
    if held is None or len(held.rows) < 3:
        return note("Give the report some rows, and the decision regions are drawn around them.")
    X = np.asarray(held.X, dtype=float)
    if X.shape[1] < 2:
        return None
    plane = plane_of(X[:MOST_ROWS], context.feature_names)
    points = plane.project(X)
    frame = _frame(points)
    rows = _as_fitted(context, plane.lift(_grid(frame)))
    chance = context.estimator.predict_proba(rows)
    chosen = chance.argmax(axis=1).reshape(CELLS, CELLS)
    parts = [
        _shades(frame, chance, chosen),
        tag("path", d=_border(frame, chosen), class_="border"),
    ]
    experts = hasattr(context.estimator, "predict_component")
    if experts:
        own = context.estimator.predict_component(rows).reshape(CELLS, CELLS)
        parts.append(tag("path", d=_border(frame, own), class_="cells"))
    parts += [_dots(context, held, frame, points), _names(context, frame, chosen)]
    horizontal, vertical = (short(name, 40) for name in plane.names)
    words = f"Decision regions over {horizontal} and {vertical}, with held-out rows."
    chart = picture(frame, words, frame.y_axis(vertical), frame.x_axis(horizontal), *parts)
    return join([_explain(plane), figure(chart, _caption(experts), _legend(context, held))])


def _as_fitted(context: Context, rows: FloatArray) -> Any:
    """Rows in the form that the model was fitted on: with names of columns where it knows some."""
    names = getattr(context.estimator, "feature_names_in_", None)
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)


def _frame(points: FloatArray) -> Frame:
    low, high = np.quantile(points, [0.005, 0.995], axis=0)
    air = 0.08 * np.maximum(high - low, 1e-9)
    first, second = ((float(low[k] - air[k]), float(high[k] + air[k])) for k in range(2))
    return Frame(first, second, height=420.0)


def _grid(frame: Frame) -> FloatArray:
    """Centres of the cells, from the upper left, row by row."""
    across = np.linspace(*frame.x_limits, 2 * CELLS + 1)[1::2]
    down = np.linspace(*frame.y_limits, 2 * CELLS + 1)[1::2][::-1]
    x, y = np.meshgrid(across, down)
    return np.column_stack([x.ravel(), y.ravel()])


def _shades(frame: Frame, chance: FloatArray, chosen: IntArray) -> Markup:
    """The regions: a colour a class, stronger where the model is surer."""
    best = chance.max(axis=1).reshape(CELLS, CELLS)
    least = 1.0 / chance.shape[1]
    pixels = np.zeros((CELLS, CELLS, 4), dtype=np.uint8)
    pixels[..., :3] = np.array(COLOURS, dtype=np.uint8)[chosen % len(COLOURS)]
    pixels[..., 3] = (30 + 110 * np.clip((best - least) / (1.0 - least), 0.0, 1.0)).astype(np.uint8)
    left, top = frame.x(frame.x_limits[0]), frame.y(frame.y_limits[1])
    width, height = frame.x(frame.x_limits[1]) - left, frame.y(frame.y_limits[0]) - top
    return tag(
        "image", href=data_uri(pixels), x=left, y=top, width=width, height=height,
        preserveAspectRatio="none",
    )  # fmt: skip


def _border(frame: Frame, values: IntArray) -> str:
    """Lines between neighbouring cells that differ."""
    left, top = frame.x(frame.x_limits[0]), frame.y(frame.y_limits[1])
    wide = (frame.x(frame.x_limits[1]) - left) / CELLS
    high = (frame.y(frame.y_limits[0]) - top) / CELLS
    words = []
    for i, j in np.argwhere(values[:, 1:] != values[:, :-1]):
        words.append(f"M{left + wide * (j + 1):.1f} {top + high * i:.1f}v{high:.1f}")
    for i, j in np.argwhere(values[1:] != values[:-1]):
        words.append(f"M{left + wide * j:.1f} {top + high * (i + 1):.1f}h{wide:.1f}")
    return "".join(words)


def _dots(context: Context, held: HeldOut, frame: Frame, points: FloatArray) -> Markup:
    low, high = np.array([frame.x_limits, frame.y_limits]).T
    inside = np.flatnonzero(((points > low) & (points < high)).all(axis=1))
    most = MOST_POINTS if len(context.class_names) <= len(COLOURS) else MOST_POINTS // 3
    if len(inside) > most:
        inside = np.sort(np.random.default_rng(0).choice(inside, most, replace=False))
    codes = held.predicted if held.truth is None else held.truth
    marks = []
    for k in inside:
        if codes[k] < 0:
            continue
        name = context.class_names[int(codes[k])]
        answer = context.class_names[int(held.predicted[k])]
        sure = percent(float(held.probability[k].max()))
        tip = f"{short(held.ids[k], 30)}: {short(name, 30)}, predicted {short(answer, 30)} ({sure})"
        wrong = " wrong" if held.predicted[k] != codes[k] else ""
        path = _shape(int(codes[k]), frame.x(points[k, 0]), frame.y(points[k, 1]))
        kind = f"point f{int(codes[k]) % len(COLOURS)}{wrong}"
        marks.append(tag("path", d=path, class_=kind, data_tip=tip))
    return join(marks)


def _shape(code: int, x: float, y: float) -> str:
    """A closed outline that tells classes apart without colour."""
    r = 4.0
    start = f"M{x:g} {y:g}"
    return (
        start
        + (
            f"m-{r:g} 0a{r:g} {r:g} 0 1 0 8 0a{r:g} {r:g} 0 1 0 -8 0z",
            "m-3.5-3.5h7v7h-7z",
            "m0-4.5l4.3 7.8h-8.6z",
            "m0-5l4.5 5l-4.5 5l-4.5-5z",
            "m-4-2.2l1.8-1.8l2.2 2.2l2.2-2.2l1.8 1.8l-2.2 2.2l2.2 2.2l-1.8 1.8l-2.2-2.2l-2.2 2.2"
            "l-1.8-1.8l2.2-2.2z",
            "m-1.4-4.6h2.8v3.2h3.2v2.8h-3.2v3.2h-2.8v-3.2h-3.2v-2.8h3.2z",
        )[code % SHAPES]
    )


def _names(context: Context, frame: Frame, chosen: IntArray) -> Markup:
    """Names of the classes, written where their regions are deepest."""
    labels: list[Markup] = []
    taken: list[tuple[float, float, float]] = []
    flat = _grid(frame)
    size = np.bincount(chosen.ravel(), minlength=len(context.class_names)) / chosen.size
    for k in np.argsort(-size, kind="stable"):
        if size[k] < NAMED_SHARE:
            break
        place = flat[_deepest(chosen == k)]
        word = short(context.class_names[k], 16)
        half = 0.5 * text_width(word) + 4.0
        right = frame.width - frame.right - half
        x = min(max(frame.x(place[0]), frame.left + half), right)
        y = frame.y(place[1]) + 4.0
        if any(abs(x - u) < half + v and abs(y - w) < 16.0 for u, w, v in taken):
            continue  # no room beside the name of a larger region
        taken.append((x, y, half))
        labels.append(
            tag(
                "text", word, x=round(x, 1), y=round(y, 1), text_anchor="middle",
                class_="region-name",
            )
        )  # fmt: skip
    return join(labels)


def _deepest(mask: Any) -> int:
    """Place (in the flat grid) farthest from the border of a region."""
    layer = np.pad(mask, 1)
    deepest = int(np.flatnonzero(mask.ravel())[0])
    while layer.any():
        inner = layer[1:-1, 1:-1]
        places = np.flatnonzero(inner.ravel())
        if len(places):
            deepest = int(places[len(places) // 2])
        shrunk = inner & layer[:-2, 1:-1] & layer[2:, 1:-1] & layer[1:-1, :-2] & layer[1:-1, 2:]
        layer = np.pad(shrunk, 1)
    return deepest


def _legend(context: Context, held: HeldOut) -> Markup:
    codes = held.predicted if held.truth is None else held.truth
    present = [int(k) for k in np.unique(codes) if k >= 0]
    items = []
    for k in present:
        mark = tag("path", d=_shape(k, 8, 8), class_=f"point f{k % len(COLOURS)}")
        sample = tag("svg", mark, viewBox="0 0 16 16", class_="legend-mark", aria_hidden="true")
        items.append(tag("li", sample, short(context.class_names[k], 30)))
    return tag("ul", *items, class_="legend")


def _caption(experts: bool) -> str:
    words = "Stronger colour: the model is surer. Rows have the mark of their true class; a thick "
    words += "outline means that the prediction is wrong."
    if experts:
        words += " Within each cell of the dotted lines one linear expert of the last draw rules."
    return words


def _explain(plane: Plane) -> Markup | None:
    if plane.share is None:
        return None
    return note(
        "There are more than two features. The picture is the plane through the mean of the rows "
        "spanned by the first two principal components of the standardised features, which holds "
        f"{percent(plane.share)} of their variance. Rows are projected onto it, so a row may lie "
        "in a region of another class and yet be classified rightly where it really is."
    )
