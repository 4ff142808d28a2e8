"""Showing how a fit goes: a live bar in a terminal or notebook, a few lines in a log file."""

import sys
import time
from types import TracebackType
from typing import Protocol


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
            sys.stderr.write(f"[{elapsed:7.1f} s] {stage}: {done}/{total} draws  {detail}\n")
            sys.stderr.flush()

    def __enter__(self) -> "LogLines":
        return self

    def __exit__(self, *args: object) -> None:
        return None


class LiveBar:
    """A bar with draws, draws per second, time left and the worst R-hat so far."""

    shown = True

    def __init__(self) -> None:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars

        self.bars = Bars(
            TextColumn("{task.description:<9}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[detail]}"),
        )
        self.tasks: dict[str, object] = {}

    def update(self, stage: str, done: int, total: int, detail: str) -> None:
        """Move the bar of a stage."""
        if stage not in self.tasks:
            self.tasks[stage] = self.bars.add_task(stage, total=total, detail=detail)
        task = self.tasks[stage]
        self.bars.update(task, completed=done, total=total, detail=detail)  # type: ignore[arg-type]

    def __enter__(self) -> "LiveBar":
        self.bars.start()
        return self

    def __exit__(self, *args: object) -> None:
        self.bars.stop()


def progress_for(verbose: int) -> Progress:
    """Progress display that suits ``verbose`` and where the output goes."""
    if verbose <= 0:
        return Silence()
    from rich.console import Console

    console = Console()
    if console.is_terminal or console.is_jupyter:
        return LiveBar()
    return LogLines()
