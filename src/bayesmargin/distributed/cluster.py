"""Where tasks run: on the workers of the active Dask client, or in threads of this process.

Tasks are functions of their arguments alone. Whatever a lost worker held can therefore be computed
again elsewhere, with the same result to the last bit. Nothing is scattered, since scattered data
die with their worker: :func:`share` puts a value into the graph instead.
"""

import logging
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from bayesmargin.errors import ClusterError, PartitionError
from bayesmargin.foundation.threads import usable_cores

FAN_IN = 8  # results that one step of a reduction takes together
REFRESH = 2.0  # seconds for which the list of workers is believed
_logger = logging.getLogger("bayesmargin")


class Cluster(Protocol):
    """What a distributed fit needs of the place where it runs."""

    name: str

    def submit(self, label: str, function: Callable[..., Any], *args: Any) -> Any:
        """Handle of a result; ``args`` may hold handles, also in lists."""

    def read(self, delayed: Sequence[Any]) -> list[Any]:
        """Handles of delayed partitions, computed once and kept."""

    def submit_to(self, number: int, label: str, function: Callable[..., Any], *args: Any) -> Any:
        """Like ``submit``, if possible to worker ``number``, counted round and round."""

    def submit_reading(
        self, label: str, function: Callable[..., Any], delayed: Any, *args: Any
    ) -> Any:
        """Like ``submit``; the first argument is a delayed partition that nobody keeps."""

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """The results themselves."""

    def memory(self) -> float:
        """Bytes that the workers may use together."""


def _itself(value: Any) -> Any:
    return value


def share(cluster: Cluster, value: Any) -> Any:
    """Handle of a value that many tasks read."""
    return cluster.submit("share", _itself, value)


def _added(parts: list[Any]) -> Any:
    first = parts[0]
    if isinstance(first, tuple):
        return tuple(sum(column[1:], column[0]) for column in zip(*parts, strict=True))
    return sum(parts[1:], first)


def total(cluster: Cluster, label: str, handles: Sequence[Any]) -> Any:
    """Sum of numbers, arrays or tuples of them, by a tree; the order of additions is fixed."""
    level = list(handles)
    while len(level) > 1:
        groups = [level[i : i + FAN_IN] for i in range(0, len(level), FAN_IN)]
        level = [cluster.submit(f"{label}-sum", _added, group) for group in groups]
    return cluster.gather(level)[0]


class ClientCluster:
    """The cluster behind a :class:`distributed.Client`."""

    name = "cluster"

    def __init__(self, client: Any) -> None:
        self.client = client
        self._known: list[str] = []
        self._asked = -np.inf

    def _workers(self) -> list[str]:
        """Addresses of the workers, asked for at most every few seconds."""
        if time.monotonic() - self._asked > REFRESH:
            info = _guarded(lambda: self.client.scheduler_info(n_workers=-1))
            self._known, self._asked = sorted(info["workers"]), time.monotonic()
        return self._known

    def submit(self, label: str, function: Callable[..., Any], *args: Any) -> Any:
        """Submit a task whose name in the dashboard is ``bayesmargin-label``."""
        key = f"bayesmargin-{label}-{uuid.uuid4().hex}"
        return _guarded(lambda: self.client.submit(function, *args, key=key, pure=False))

    def submit_to(self, number: int, label: str, function: Callable[..., Any], *args: Any) -> Any:
        """Submit with a preference; a worker that is gone or late changes nothing."""
        key = f"bayesmargin-{label}-{uuid.uuid4().hex}"
        known, options = self._workers(), {}
        if known:
            chosen = [known[number % len(known)]]
            options = {"workers": chosen, "allow_other_workers": True}
        return _guarded(lambda: self.client.submit(function, *args, key=key, pure=False, **options))

    def read(self, delayed: Sequence[Any]) -> list[Any]:
        """Compute the partitions on the workers and keep them there."""
        from distributed import wait

        futures = _guarded(lambda: self.client.compute(list(delayed)))
        _guarded(lambda: wait(futures))
        for number, future in enumerate(futures):
            if future.status == "error":
                cause = future.exception()
                raise _unreadable(number, len(futures), cause) from cause
        return list(futures)

    def submit_reading(
        self, label: str, function: Callable[..., Any], delayed: Any, *args: Any
    ) -> Any:
        """Read the partition and work on it in one go."""
        from dask import delayed as delay

        key = f"bayesmargin-{label}-{uuid.uuid4().hex}"
        task = delay(function)(delayed, *args, dask_key_name=key)
        return _guarded(lambda: self.client.compute(task))

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for results and fetch them."""
        return list(_guarded(lambda: self.client.gather(list(handles))))

    def memory(self) -> float:
        """Bytes that the workers may use together."""
        workers = _guarded(lambda: self.client.scheduler_info(n_workers=-1))["workers"].values()
        return float(sum(worker["memory_limit"] or 0 for worker in workers)) or float("inf")


def _guarded(action: Callable[[], Any]) -> Any:
    """Run something that talks to the scheduler; say clearly what a failure means."""
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError

    from distributed import KilledWorker

    try:
        return action()
    except KilledWorker as error:
        raise ClusterError(
            "a task was running on several workers when they died, one after another: most likely "
            "a partition does not fit into a worker's memory; use smaller partitions or larger "
            f"workers ({error})"
        ) from error
    except (CommClosedError, CancelledError, TimeoutError) as error:
        raise ClusterError(
            "the connection to the Dask scheduler was lost, and with it what the workers held: "
            "start a cluster and fit again; with a checkpoint the fit goes on from where it was "
            f"({type(error).__name__}: {error})"
        ) from error


def _unreadable(number: int, count: int, cause: BaseException | None) -> PartitionError:
    if isinstance(cause, PartitionError):
        return cause
    return PartitionError(
        f"partition {number} of {count} (counted from 0) could not be read: "
        f"{type(cause).__name__}: {cause}"
    )


class LocalThreads:
    """Threads of this process, for collections passed without a client."""

    name = "threads of this process"

    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(usable_cores())
        _logger.info("no Dask client is active: the fit runs in threads of this process")

    def submit(self, label: str, function: Callable[..., Any], *args: Any) -> Any:
        """Submit a task; its dependencies were submitted before it, so waiting cannot block."""
        return self.pool.submit(lambda: function(*(_value(arg) for arg in args)))

    def submit_to(self, number: int, label: str, function: Callable[..., Any], *args: Any) -> Any:
        """Threads are all alike."""
        return self.submit(label, function, *args)

    def read(self, delayed: Sequence[Any]) -> list[Any]:
        """Compute the partitions one after another and keep them."""
        return [
            self.submit("read", _compute_one, part, number, len(delayed))
            for number, part in enumerate(delayed)
        ]

    def submit_reading(
        self, label: str, function: Callable[..., Any], delayed: Any, *args: Any
    ) -> Any:
        """Read the partition, then work on it."""
        return self.submit(label, function, self.read([delayed])[0], *args)

    def gather(self, handles: Sequence[Any]) -> list[Any]:
        """Wait for results."""
        return [_value(handle) for handle in handles]

    def memory(self) -> float:
        """Bytes that this process may use, where ``distributed`` is there to tell."""
        try:
            from distributed.system import MEMORY_LIMIT
        except ImportError:
            return float("inf")
        return float(MEMORY_LIMIT)


def _value(arg: Any) -> Any:
    if isinstance(arg, Future):
        return arg.result()
    if isinstance(arg, list):
        return [_value(item) for item in arg]
    return arg


def _compute_one(part: Any, number: int, count: int) -> Any:
    try:
        return part.compute(scheduler="synchronous")
    except Exception as error:
        raise _unreadable(number, count, error) from error


def active_cluster() -> Cluster:
    """The cluster of the active Dask client, else this process."""
    try:
        from distributed import get_client
    except ImportError:
        return LocalThreads()
    try:
        return ClientCluster(get_client())
    except ValueError:
        return LocalThreads()
