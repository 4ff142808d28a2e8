"""The frame of a chart: from values to places on the page, axes and their ticks."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from bayesmargin.report.markup import MINUS, Markup, join, number, tag

WIDTH = 420
LARGEST = 1.25  # times its own size is a picture shown at the most: its text is that of tables then
# Colours of classes and chains, readable on light and dark ground; the style sheet has the same,
# --c0 to --c7.
COLOURS = (
    (37, 99, 235), (217, 119, 6), (5, 150, 105), (190, 24, 93),
    (124, 58, 237), (2, 132, 199), (101, 163, 13), (185, 28, 28),
)  # fmt: skip


@dataclass(frozen=True)
class Frame:
    """A rectangle for data with room around it for labels."""

    x_limits: tuple[float, float]
    y_limits: tuple[float, float]
    height: float = 300.0
    width: float = WIDTH
    left: float = 52.0
    right: float = 20.0
    top: float = 10.0
    bottom: float = 44.0

    def x(self, value: float) -> float:
        """Place of a value, from the left edge of the picture."""
        low, high = self.x_limits
        room = self.width - self.left - self.right
        return round(self.left + room * (value - low) / (high - low), 1)

    def y(self, value: float) -> float:
        """Place of a value, from the upper edge."""
        low, high = self.y_limits
        room = self.height - self.top - self.bottom
        return round(self.height - self.bottom - room * (value - low) / (high - low), 1)

    def path(self, xs: Sequence[float], ys: Sequence[float]) -> str:
        """The data of a line through points; places without a number break it."""
        words, pen = [], "M"
        for x, y in zip(xs, ys, strict=True):
            if not (math.isfinite(x) and math.isfinite(y)):
                pen = "M"
                continue
            words.append(f"{pen}{self.x(x):g} {self.y(y):g}")
            pen = "L"
        return "".join(words)

    def x_axis(self, title: str, marks: Sequence[float] | None = None) -> Markup:
        """Ticks with numbers below the frame, and a title."""
        marks = ticks(*self.x_limits) if marks is None else marks
        base = self.height - self.bottom
        parts = [_line(self.left, base, self.width - self.right, base, "axis")]
        for value in marks:
            at = self.x(value)
            parts.append(_line(at, base, at, base + 4, "axis"))
            parts.append(_label(tick_label(value, marks), at, base + 17, "middle"))
        middle = 0.5 * (self.left + self.width - self.right)
        parts.append(_label(title, middle, self.height - 6, "middle", "title"))
        return join(parts)

    def y_axis(self, title: str, marks: Sequence[float] | None = None) -> Markup:
        """Ticks with numbers and faint lines across, and a title along the side."""
        marks = ticks(*self.y_limits) if marks is None else marks
        parts = []
        for value in marks:
            at = self.y(value)
            parts.append(_line(self.left, at, self.width - self.right, at, "grid"))
            parts.append(_label(tick_label(value, marks), self.left - 6, at + 4, "end"))
        middle = 0.5 * (self.top + self.height - self.bottom)
        parts.append(
            tag(
                "text", title, class_="title", text_anchor="middle",
                transform=f"translate(13 {middle:g}) rotate(-90)",
            )
        )  # fmt: skip
        return join(parts)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _label(text: str, x: float, y: float, anchor: str, kind: str | None = None) -> Markup:
    return tag("text", text, x=x, y=y, text_anchor=anchor, class_=kind)


def picture(frame: Frame, description: str, *parts: Markup) -> Markup:
    """The SVG element, described in words for those who cannot see it."""
    return tag(
        "svg", *parts, viewBox=f"0 0 {frame.width:g} {frame.height:g}", role="img",
        aria_label=description, class_="chart", style=f"max-width:{LARGEST * frame.width:g}px",
    )  # fmt: skip


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers that divide a range into about so many parts.

    Examples
    --------
    >>> from bayesmargin.report.frame import ticks
    >>> ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low]
    rough = span / about
    digits = math.floor(math.log10(rough))
    scale = 10.0**digits
    step = next(m * scale for m in (1.0, 2.0, 5.0, 10.0) if m * scale >= 0.999 * rough)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(k * step, 1 - digits) + 0.0 for k in range(first, last + 1)]


def text_width(text: str) -> float:
    """About how wide a label is, in units of the picture."""
    return sum(8.9 if c.isupper() or c in "mw%…" else 6.7 for c in text)


def tick_label(value: float, marks: Sequence[float]) -> str:
    """A number with as many decimals as tell it from its neighbours.

    Examples
    --------
    >>> from bayesmargin.report.frame import tick_label
    >>> tick_label(120.5, [120.0, 120.5, 121.0]), tick_label(2000.0, [0.0, 2000.0])
    ('120.5', '2,000')
    """
    gaps = [b - a for a, b in itertools.pairwise(marks)]
    if not gaps or not 1e-4 < min(gaps) < 1e6:
        return number(value, 4)
    decimals = max(0, -math.floor(math.log10(min(gaps) * 1.001)))
    return f"{value:,.{decimals}f}".replace("-", MINUS)


def limits(low: float, high: float, share: float = 0.05) -> tuple[float, float]:
    """A range with some air around it; never empty."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return 0.0, 1.0
    air = share * (high - low) or 0.5 * abs(high) or 0.5
    return low - air, high + air
