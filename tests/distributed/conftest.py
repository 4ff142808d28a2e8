"""A cluster of two processes with a thread each, and data that several tests share."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest

pytest.importorskip("distributed")


@contextmanager
def two_processes():
    """A cluster of its own."""
    from distributed import LocalCluster

    with warnings.catch_warnings():
        # Closing sockets of a cluster leaves warnings of the garbage collector behind.
        warnings.simplefilter("ignore", ResourceWarning)
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
            yield cluster


@pytest.fixture(scope="package")
def cluster():
    """One for all files: its processes have imported and loaded what others begin with."""
    with two_processes() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    """Where collections are computed, as long as it lives."""
    from distributed import Client

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        with Client(cluster) as client:
            yield client


@pytest.fixture(scope="session")
def clouds():
    """Overlapping clouds of 6,000 rows, sorted by label, one row in five of class "yes"."""
    rng = np.random.default_rng(3)
    label = np.sort((rng.random(6_000) < 0.2).astype(int))
    centre = np.outer(2 * label - 1, [0.9, 0.5, 0.0, -0.3])
    X = rng.standard_normal((6_000, 4)) + centre
    return X, np.where(label == 1, "yes", "no")


@pytest.fixture
def short_trajectories(monkeypatch):
    """A few relaxation times are enough for small data."""
    from bayesmargin.distributed import sampler

    monkeypatch.setattr(sampler, "TRAJECTORY", 1024)
