"""Ctrl-C noted while a step is under way, and heeded where the state of a fit is whole."""

import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

from bayesmargin.errors import InterruptedWarning


class Stopped(KeyboardInterrupt):
    """The first Ctrl-C, heeded where the state of a fit is whole."""


class Interruptible:
    """What notes the first Ctrl-C for a fit to see; the second stops at once.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C was pressed while it was watched.

    Examples
    --------
    >>> import signal
    >>> from bayesmargin.running.interrupts import Interruptible
    >>> with Interruptible().watching() as fit:
    ...     fit._note(signal.SIGTERM, None)
    ...     print(fit.interrupted)
    True
    """

    interrupted = False
    even_if_ignored = False  # shells let their jobs in the background ignore Ctrl-C
    _ignored = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._ignored and number == signal.SIGINT:
            return
        if self.interrupted:
            raise KeyboardInterrupt
        self.interrupted = True

    @contextmanager
    def watching(self) -> Iterator[Self]:
        """Let the first Ctrl-C stop the fit where its state is whole; the second stops at once."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = signal.signal(signal.SIGINT, self._note)
        self._ignored = before is signal.SIG_IGN and not self.even_if_ignored
        try:
            yield self
        finally:
            signal.signal(signal.SIGINT, before)


def warn_of_interrupt(done: int, planned: int, unit: str, depth: int = 1) -> None:
    """Warn that Ctrl-C has cut a fit short; ``depth`` functions lie between it and its caller.

    Examples
    --------
    >>> import warnings
    >>> from bayesmargin.running.interrupts import warn_of_interrupt
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     warn_of_interrupt(60, 100, "sweeps")
    >>> print(said[0].message)
    sampling was interrupted after 60 of 100 sweeps; the model holds the draws made so far: fit \
again for a full run
    """
    warnings.warn(
        f"sampling was interrupted after {done} of {planned} {unit}; the model holds the draws "
        f"made so far: fit again for a full run",
        InterruptedWarning,
        stacklevel=2 + depth,
    )
