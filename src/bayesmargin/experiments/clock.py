"""A stopwatch that runs only while a chain does.

It counts processor seconds of this process. Experiments keep to one thread, so on an idle machine
these are the seconds on the wall, and on a busy one they do not change with what others do.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Stopwatch:
    """Seconds spent inside ``with watch.running():`` blocks; what lies between costs nothing.

    Examples
    --------
    >>> from bayesmargin.experiments.clock import Stopwatch
    >>> watch = Stopwatch()
    >>> with watch.running():
    ...     total = sum(range(1000))
    >>> watch.seconds > 0
    True
    """

    def __init__(self) -> None:
        self.total = 0.0
        self.began: float | None = None

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return self.total + (0.0 if self.began is None else time.process_time() - self.began)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of a block, also when it fails."""
        self.began = time.process_time()
        try:
            yield
        finally:
            self.total, self.began = self.seconds, None

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Within a running block, leave out the time of another."""
        self.total, self.began = self.seconds, None
        try:
            yield
        finally:
            self.began = time.process_time()


@contextmanager
def one_thread() -> Iterator[Any]:
    """Keep the linear algebra to one thread, so that processor and wall seconds agree."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1) as limits:
        yield limits
