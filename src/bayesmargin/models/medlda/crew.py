"""Threads that share the work of a minibatch, with results that do not depend on their number.

The work is cut into :data:`N_SHARES` shares, each with a generator of its own; threads take shares
as they become free, the largest first so that nobody waits long for the last. What they add up in
common are integers, whose sum has no order; what is not an integer is kept by share and added in
the order of the shares.
"""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np

from bayesmargin.foundation.threads import usable_cores

N_SHARES = 16


def count_threads(n_jobs: int | None) -> int:
    """Number of threads for ``n_jobs`` in the sense of joblib (None is 1, -1 is every core)."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs=0 is not allowed: pass None, a positive number, or -1")
    return n_jobs if n_jobs > 0 else max(1, usable_cores() + 1 + n_jobs)


def cut(length: int) -> list[slice]:
    """Cut ``length`` items into :data:`N_SHARES` slices of nearly equal size.

    Examples
    --------
    >>> from bayesmargin.models.medlda.crew import cut
    >>> cut(40)[:2]
    [slice(0, 2, None), slice(2, 5, None)]
    """
    edges = np.linspace(0, length, N_SHARES + 1).astype(int)
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


class Crew:
    """Run one function over the shares; every thread has one ``tool`` (work space) of its own."""

    elsewhere: Callable[..., tuple[Any, Any]] | None = None
    """Samples a minibatch in other processes, for documents on a cluster."""

    def __init__(self, n_threads: int, make_tool: Callable[[], Any]) -> None:
        self.tools = [make_tool() for _ in range(n_threads)]
        self._pool = ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else None

    def run(self, task: Callable[[int, Any], None], shares: Iterable[int]) -> None:
        """Call ``task(share, tool)`` for every share, begun in the order given.

        The calling thread works along: a step of milliseconds has no time for messages.
        """
        pending = deque(shares)

        def labour(tool: Any) -> None:
            while True:
                try:
                    share = pending.popleft()
                except IndexError:
                    return
                task(share, tool)

        if self._pool is None:
            labour(self.tools[0])
            return
        others = [self._pool.submit(labour, tool) for tool in self.tools[1:]]
        try:
            labour(self.tools[0])
        finally:
            wait(others)
        for other in others:
            other.result()

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
