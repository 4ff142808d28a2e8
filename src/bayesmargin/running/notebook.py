"""A bar in a notebook: HTML that is replaced while a fit goes on, and stays when it has ended."""

import html
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

PAUSE = 0.2  # seconds between two pictures of a bar


class NotebookBar:
    """Draws and the state of a run, a line for each stage, by IPython's own display.

    Parameters
    ----------
    show : callable, optional
        Shows an object and gives a handle with ``update``; that of IPython if not given.
    clock : callable, optional
        Seconds.

    Examples
    --------
    >>> from bayesmargin.running.notebook import NotebookBar
    >>> class Printed:
    ...     def __init__(self, card):
    ...         print(card)
    ...     update = __init__
    >>> with NotebookBar(Printed) as bar:
    ...     bar.update("sampling", 500, 1000, "R-hat 1.02")
    <BLANKLINE>
    sampling 500/1000 R-hat 1.02
    sampling 500/1000 R-hat 1.02
    """

    shown = True

    def __init__(
        self,
        show: Callable[[Any], Any] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.show, self.clock = show or _shown_by_ipython, clock
        self.stages: dict[str, tuple[int, int, str]] = {}
        self.began, self.last = clock(), -PAUSE

    def update(self, stage: str, done: int, total: int, detail: str) -> None:
        """Move the bar of a stage; of quick rounds not all are shown."""
        new = stage not in self.stages
        self.stages[stage] = done, total, detail
        if new or self.clock() - self.last >= PAUSE:
            self._draw()

    def _draw(self) -> None:
        self.last = self.clock()
        self.handle.update(Card(dict(self.stages), self.last - self.began))

    def __enter__(self) -> "NotebookBar":
        self.handle = self.show(Card({}, 0.0))
        return self

    def __exit__(self, *args: object) -> None:
        self._draw()


class Card:
    """What a notebook shows of a run: HTML, or text where it shows none."""

    def __init__(self, stages: dict[str, tuple[int, int, str]], seconds: float) -> None:
        self.stages, self.seconds = stages, seconds

    def __str__(self) -> str:
        lines = (f"{name} {a}/{b} {detail}" for name, (a, b, detail) in self.stages.items())
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td>"
            f'<td><progress value="{a}" max="{max(1, b)}" style="width:12em"></progress></td>'
            f"<td>{a}/{b}</td><td>{html.escape(detail)}</td></tr>"
            for name, (a, b, detail) in self.stages.items()
        )
        style = "font-family:monospace;text-align:left"
        end = f'<div style="{style}">{self.seconds:.1f} s</div>' if rows else ""
        return f'<table style="{style}">{rows}</table>{end}'


def _shown_by_ipython(card: Card) -> Any:
    return import_module("IPython.display").display(card, display_id=True)
