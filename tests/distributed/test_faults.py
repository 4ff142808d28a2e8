"""Workers that die, join or vanish, and a scheduler that is lost."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings

import dask
import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC, Checkpoint
from bayesmargin.distributed.cluster import ClientCluster
from bayesmargin.errors import ClusterError

from .conftest import two_processes

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.usefixtures("short_trajectories"),
]


@pytest.fixture(scope="module")
def cluster():
    """Its workers die, so no other file has it."""
    with two_processes() as cluster:
        yield cluster


def slow_part(X, y):
    time.sleep(0.05)
    return X, y


def partitions(clouds):
    X, y = clouds
    order = np.argsort(y, kind="stable")
    return [dask.delayed(slow_part)(X[part], y[part]) for part in np.array_split(order, 6)]


def fitted(clouds):
    return BayesianLinearSVC(random_state=3, n_chains=2, n_draws=100).fit(partitions(clouds))


def test_killed_and_late_workers_change_nothing(client, clouds):
    wanted = fitted(clouds).posterior_["coef"]

    def disturb():
        time.sleep(0.4)
        victim = next(iter(client.run(os.getpid).values()))
        os.kill(victim, signal.SIGKILL)
        client.cluster.scale(3)

    thread = threading.Thread(target=disturb)
    thread.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        found = fitted(clouds).posterior_["coef"]
        thread.join()
    assert np.array_equal(wanted, found)


def test_lost_scheduler_is_a_clear_error(tmp_path):
    from distributed import Client

    file = str(tmp_path / "scheduler.json")
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--scheduler-file", file]
    command += ["--port", "0", "--no-dashboard", "--host", "127.0.0.1"]
    scheduler = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        with Client(scheduler_file=file, timeout=30, set_as_default=False) as lost:
            cluster = ClientCluster(lost)
            waiting = cluster.submit("look", float, 1)  # no worker will ever take it
            scheduler.kill()
            with pytest.raises(ClusterError, match="connection to the Dask scheduler was lost"):
                cluster.gather([waiting])
    finally:
        scheduler.kill()
        scheduler.wait()


def test_lost_fit_goes_on_from_its_checkpoint(client, clouds, tmp_path, monkeypatch):
    """The scheduler is lost in the middle of sampling; another fit ends with the same draws."""
    settings = {"random_state": 3, "n_chains": 2, "n_draws": 100}
    wanted = BayesianLinearSVC(**settings).fit(partitions(clouds)).posterior_["coef"]
    settings |= {"checkpoint": Checkpoint(tmp_path / "fit", every=1e-9)}
    gather, seen = ClientCluster.gather, []

    def failing(cluster, handles):
        seen.extend(handles)
        if sum("trajectories" in str(handle.key) for handle in seen) > 3:
            raise ClusterError("the connection to the Dask scheduler was lost")
        return gather(cluster, handles)

    with monkeypatch.context() as patched:
        patched.setattr(ClientCluster, "gather", failing)
        with pytest.raises(ClusterError, match="lost"):
            BayesianLinearSVC(**settings).fit(partitions(clouds))
    assert (tmp_path / "fit").exists()
    found = BayesianLinearSVC(**settings).fit(partitions(clouds)).posterior_["coef"]
    assert np.array_equal(wanted, found)
