"""A cluster of two processes with a thread each, and data that several tests share."""

import warnings

import numpy as np
import pytest

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        # Closing sockets of a cluster leaves warnings of the garbage collector behind.
        warnings.simplefilter("ignore", ResourceWarning)
        options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
        with LocalCluster(**options) as cluster, Client(cluster) as client:
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
