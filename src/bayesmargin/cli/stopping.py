"""Requests to stop: what a scheduler sends is heeded like Ctrl-C."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM, by which ``timeout``, systemd and clusters stop a job, interrupt as Ctrl-C does.

    Examples
    --------
    >>> import signal
    >>> from bayesmargin.cli.stopping import stoppable
    >>> try:
    ...     with stoppable():
    ...         signal.raise_signal(signal.SIGTERM)
    ... except KeyboardInterrupt:
    ...     print("stopped in good order")
    stopped in good order
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        own = signal.getsignal(signal.SIGINT)  # in jobs of a shell's background it is ignored
        if not callable(own):
            raise KeyboardInterrupt
        own(number, frame)

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
