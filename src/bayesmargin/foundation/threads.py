"""Threads that share work: chains beside each other, parts of a minibatch, groups of components.

Work is cut into parts that do not depend on the number of threads, each with a generator of its
own; threads take parts as they become free. What parts add up in common are integers, whose sum has
no order; what is not an integer is kept by part and added in the order of the parts. So results do
not depend on the number of threads.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from itertools import pairwise
from threading import Event
from typing import Any, Self, TypeVar

import numpy as np

Result = TypeVar("Result")
N_SHARES = 16  # parts that work on many items is cut into


def usable_cores() -> int:
    """Cores that this process may use: fewer than the machine has in many a container."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def n_threads(n_jobs: int | None, n_parts: int | None = None) -> int:
    """Threads for ``n_jobs``, no more than ``n_parts``; None is every core this process may use.

    Inside a task that joblib runs beside others, such as a fold of a grid search, None is one
    thread: the others have the cores. Negative numbers are counted down from all cores, as joblib
    does: -1 is every core, -2 all but one.

    Examples
    --------
    >>> from bayesmargin.foundation.threads import n_threads
    >>> n_threads(3, n_parts=8), n_threads(3, n_parts=2)
    (3, 2)
    """
    wanted = (1 if _among_tasks() else -1) if n_jobs is None else n_jobs
    wanted = wanted if wanted >= 0 else usable_cores() + 1 + wanted
    return max(1, wanted if n_parts is None else min(wanted, n_parts))


def _among_tasks() -> bool:
    """Whether joblib runs this as one of several tasks."""
    joblib = sys.modules.get("joblib.parallel")
    return joblib is not None and bool(joblib.get_active_backend()[0].nesting_level)


@lru_cache
def cut(length: int) -> tuple[slice, ...]:
    """Cut ``length`` items into :data:`N_SHARES` slices of nearly equal size.

    Examples
    --------
    >>> from bayesmargin.foundation.threads import cut
    >>> cut(40)[:2]
    (slice(0, 2, None), slice(2, 5, None))
    """
    edges = np.linspace(0, length, N_SHARES + 1).astype(int)
    return tuple(slice(int(a), int(b)) for a, b in pairwise(edges))


class ThreadPool:
    """Runs one function over parts of some work.

    Parameters
    ----------
    n_threads : int
        Threads, of which the calling one is one: a step of milliseconds has no time for messages.
    make_tool : callable, optional
        Makes the work space that every thread has for itself.

    Examples
    --------
    >>> from bayesmargin.foundation.threads import ThreadPool
    >>> squares = [0, 0, 0]
    >>> def square(part, tool):
    ...     squares[part] = part**2
    >>> with ThreadPool(2) as pool:
    ...     pool.run(square, range(3))
    >>> squares
    [0, 1, 4]
    """

    def __init__(self, n_threads: int, make_tool: Callable[[], Any] = lambda: None) -> None:
        self.tools = [make_tool() for _ in range(n_threads)]
        self._pool = ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else None

    def run(self, task: Callable[[int, Any], None], parts: Iterable[int]) -> None:
        """Call ``task(part, tool)`` for every part, begun in the order given.

        After an error, or Ctrl-C, no further part is begun.
        """
        pending = deque(parts)

        def labour(tool: Any) -> None:
            while True:
                try:
                    part = pending.popleft()
                except IndexError:
                    return
                try:
                    task(part, tool)
                except BaseException:
                    pending.clear()
                    raise

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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run_chains(
    run: Callable[..., Result], jobs: Iterable[tuple[object, ...]], workers: int
) -> tuple[list[Result], bool]:
    """Results of ``run(*job, stop=...)``, and whether Ctrl-C has cut them short.

    ``run`` looks at ``stop.is_set()`` after every sweep and returns what it has when that is true.
    Chains that had not begun are left out; an error of one chain stops the others, and is raised.

    Examples
    --------
    >>> from bayesmargin.foundation.threads import run_chains
    >>> run_chains(lambda number, stop: 2 * number, [(1,), (2,)], workers=2)
    ([2, 4], False)
    """
    stop, interrupted = Event(), False
    futures: list[Future[Result]] = []
    with ThreadPoolExecutor(max(1, workers)) as pool:
        try:
            futures += [pool.submit(run, *job, stop=stop) for job in jobs]
            wait(futures, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            interrupted = True
        finally:
            stop.set()
            for future in futures:
                future.cancel()
    return [future.result() for future in futures if not future.cancelled()], interrupted


def pool_for(parts: int, n_jobs: int | None) -> AbstractContextManager[Executor | None]:
    """Threads for work in so many parts, as ``n_jobs`` of an estimator allows; None of one.

    Examples
    --------
    >>> from bayesmargin.foundation.threads import pool_for
    >>> with pool_for(4, n_jobs=1) as pool:
    ...     print(pool)
    None
    """
    workers = n_threads(n_jobs, parts)
    return nullcontext() if workers == 1 else ThreadPoolExecutor(workers)
