"""Showing how a fit goes: a live bar in a terminal or notebook, a few lines in a log file.

A program that fits models for others, such as the command line, chooses the display itself and may
hand over rows to watch the accuracy on: see :func:`watching`.
"""

import numbers
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, NamedTuple, Protocol

import numpy as np

WIDE = 110  # columns of a terminal that has room for everything


class Progress(Protocol):
    """Receives the state of a run after every round; nothing is computed for one not shown."""

    shown: bool

    def update(self, stage: str, done: int, total: int, detail: str) -> None:
        """``done`` of ``total`` draws of a stage are there; ``detail`` is for the reader."""

    def __enter__(self) -> "Progress": ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class Silence:
    """Shows nothing."""

    shown = False

    def update(self, stage: str, done: int, total: int, detail: str) -> None:
        """Show nothing."""

    def __enter__(self) -> "Silence":
        return self

    def __exit__(self, *args: object) -> None:
        return None


class LogLines:
    """One line for every quarter of a stage, for output that is not a terminal."""

    shown = True

    def __init__(self) -> None:
        self.began = time.perf_counter()
        self.said: tuple[str, int] = ("", -1)

    def update(self, stage: str, done: int, total: int, detail: str) -> None:
        """Print a line when another quarter is done."""
        quarter = (stage, 4 * done // max(1, total))
        if quarter != self.said:
            self.said = quarter
            elapsed = time.perf_counter() - self.began
            sys.stderr.write(f"[{elapsed:7.1f} s] {stage}: {done}/{total}  {detail}\n")
            sys.stderr.flush()

    def __enter__(self) -> "LogLines":
        return self

    def __exit__(self, *args: object) -> None:
        return None


class LiveBar:
    """A bar with draws, draws per second, time left and the worst R-hat so far, on stderr."""

    shown = True

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars

        console = console or Console(stderr=True)
        narrow = console.width < WIDE  # R-hat and accuracy say more than a long bar
        self.room = max(20, console.width - 36) if narrow else console.width
        elapsed = [] if narrow else [TimeElapsedColumn()]
        self.bars = Bars(
            TextColumn("{task.description}"),
            BarColumn(5 if narrow else 30),
            MofNCompleteColumn(),
            *elapsed,
            TimeRemainingColumn(),
            TextColumn("{task.fields[detail]}"),
            console=console,
        )
        self.tasks: dict[str, Any] = {}

    def update(self, stage: str, done: int, total: int, detail: str) -> None:
        """Move the bar of a stage."""
        detail = detail[: self.room]
        if stage not in self.tasks:
            self.tasks[stage] = self.bars.add_task(stage, total=total, detail=detail)
        self.bars.update(self.tasks[stage], completed=done, total=total, detail=detail)

    def __enter__(self) -> "LiveBar":
        self.bars.start()
        return self

    def __exit__(self, *args: object) -> None:
        self.bars.stop()


def display() -> Progress:
    """A live bar where stderr is a terminal or a notebook, else lines for a log."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_jupyter:  # that of rich asks for widgets there, and shows nothing without
        from bayesmargin.running.notebook import NotebookBar

        return NotebookBar()
    return LiveBar(console) if console.is_terminal else LogLines()


class Watch(NamedTuple):
    """What a program that fits models for others wants to see."""

    progress: Progress
    held_out: tuple[Any, Any] | None
    """Rows and labels that took no part in the fit."""


_watch: ContextVar[Watch | None] = ContextVar("bayesmargin_watch", default=None)


@contextmanager
def watching(progress: Progress, held_out: tuple[Any, Any] | None = None) -> Iterator[None]:
    """Have every fit in this context show itself on ``progress``, whatever its ``verbose``.

    Parameters
    ----------
    progress : Progress
        The display.
    held_out : tuple of rows and labels, optional
        The accuracy on these rows is shown while a fit goes on. They never influence a draw.

    Examples
    --------
    >>> from bayesmargin import DPMNLClassifier
    >>> from bayesmargin.running.progress import Silence, watching
    >>> class Loud(Silence):
    ...     shown = True
    ...     def update(self, stage, done, total, detail):
    ...         print(stage, done, "of", total)
    >>> model = DPMNLClassifier(n_sweeps=2, n_draws=1, random_state=0)
    >>> with watching(Loud()):
    ...     _ = model.fit([[0.0], [1.0], [4.0]], [0, 0, 1])
    sweep 1 of 2
    sweep 2 of 2
    """
    token = _watch.set(Watch(progress, held_out))
    try:
        yield
    finally:
        _watch.reset(token)


def watched_rows() -> tuple[Any, Any] | None:
    """Rows and labels to show the accuracy on, when somebody watches and wants to see it."""
    watch = _watch.get()
    return watch.held_out if watch is not None and watch.progress.shown else None


def require_verbosity(verbose: Any) -> None:
    """Raise a clear error when ``verbose`` is no number."""
    if not isinstance(verbose, numbers.Real | np.bool_):
        raise ValueError(
            f"verbose={verbose!r} is not allowed: it is 0 to show nothing, 1 to show how a fit goes"
        )


def progress_for(verbose: int) -> Progress:
    """Progress display that suits ``verbose`` and where the output goes."""
    require_verbosity(verbose)
    watch = _watch.get()
    if watch is not None:
        return watch.progress
    return Silence() if verbose <= 0 else display()
