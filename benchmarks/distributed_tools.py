"""What the benchmarks of the cluster share: workers, partitions, errors against a reference."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask.array as da
import numpy as np

from bayesmargin.diagnostics.convergence import effective_sample_size


@contextmanager
def workers(count: int, memory: str = "auto") -> Iterator[Any]:
    """A client of ``count`` worker processes with one thread each, on this machine."""
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        options = {"threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": memory}
        with LocalCluster(n_workers=count, **options) as cluster, Client(cluster) as client:
            yield client


def partitioned(X: np.ndarray, y: np.ndarray, count: int, order: str) -> tuple[Any, Any]:
    """Dask arrays of ``count`` partitions, in random order or sorted by label."""
    index = np.random.default_rng(0).permutation(len(y))
    if order == "sorted":
        index = index[np.argsort(y[index], kind="stable")]
    size = -(-len(y) // count)
    return da.from_array(X[index], chunks=(size, -1)), da.from_array(y[index], chunks=size)


def errors(ours: np.ndarray, exact: np.ndarray, to_white: np.ndarray) -> dict[str, float]:
    """Errors of draws (chain, draw, weight) in whitened coordinates."""
    a, b = ours @ to_white, exact @ to_white
    error = (a.mean(axis=(0, 1)) - b.mean(axis=(0, 1))) / b.std(axis=(0, 1))
    rmse = float(np.sqrt(np.mean(error**2)))
    spread = 1.0 / effective_sample_size(a) + 1.0 / effective_sample_size(b)
    mc_error = float(np.sqrt(np.mean(spread)))
    return {
        "rmse": rmse,
        "mc_error": mc_error,
        "excess": float(np.sqrt(max(0.0, rmse**2 - mc_error**2))),
        "variance": float(np.mean(a.var(axis=(0, 1)) / b.var(axis=(0, 1)))),
    }


def inside(found: dict[str, float]) -> bool:
    """The bars of the single-machine fit: mean within 0.1 sd, mean variance ratio within 5%."""
    return found["rmse"] <= 0.1 and 0.95 <= found["variance"] <= 1.05


def all_weights(model: Any) -> np.ndarray:
    """Draws of coefficients and intercept, (chain, draw, weight)."""
    posterior = model.posterior_
    return np.concatenate([posterior["coef"], posterior["intercept"][..., None]], axis=-1)
