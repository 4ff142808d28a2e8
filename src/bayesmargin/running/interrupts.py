"""Ctrl-C noted while a step is under way, and heeded where the state of a fit is whole."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self


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
