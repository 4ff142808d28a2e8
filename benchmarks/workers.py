"""Work of a benchmark spread over processes of one thread each; one process runs it in place."""

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from joblib import Parallel, delayed


def add_processes(to: argparse.ArgumentParser) -> None:
    """Let the command line say how many processes work."""
    to.add_argument("--processes", type=int, default=1, help="that share the work; 1")


def spread(task: Callable[..., Any], each: Iterable[tuple[Any, ...]], processes: int) -> Iterator:
    """Results of a task for every tuple of arguments, in their order."""
    if processes == 1:
        return (task(*arguments) for arguments in each)
    found: Iterator[Any] = Parallel(n_jobs=processes, return_as="generator")(
        delayed(task)(*arguments) for arguments in each
    )
    return found
