"""Chains beside each other in threads, which Ctrl-C stops at the end of the sweep under way."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from threading import Event
from typing import TypeVar

Result = TypeVar("Result")


def usable_cores() -> int:
    """Cores that this process may use: fewer than the machine has in many a container."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def n_threads(n_jobs: int | None, n_chains: int) -> int:
    """Threads for ``n_chains`` chains: ``n_jobs``, or every core this process may use."""
    wanted = -1 if n_jobs is None else n_jobs
    wanted = wanted if wanted >= 0 else usable_cores() + 1 + wanted
    return max(1, min(wanted, n_chains))


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
    """Threads for work in so many parts, as ``n_jobs`` of an estimator allows; None for one.

    Examples
    --------
    >>> from bayesmargin.foundation.threads import pool_for
    >>> with pool_for(4, n_jobs=None) as pool:
    ...     print(pool)
    None
    """
    workers = 1 if n_jobs is None else n_threads(n_jobs, parts)
    return nullcontext() if workers == 1 else ThreadPoolExecutor(workers)
