"""Workers that die, join or vanish, and a scheduler that is lost."""

import os
import signal
import threading
import time
import warnings

import dask
import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.errors import ClusterError

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.usefixtures("short_trajectories"),
]


def slow_part(X, y):
    time.sleep(0.05)
    return X, y


def partitions(clouds):
    X, y = clouds
    order = np.argsort(y, kind="stable")
    return [dask.delayed(slow_part)(X[part], y[part]) for part in np.array_split(order, 6)]


def fitted(clouds):
    return BayesianLinearSVC(random_state=3, n_chains=2, n_draws=100).fit(partitions(clouds))


def keep_fitting(clouds):
    for _ in range(20):
        fitted(clouds)


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


def test_lost_scheduler_is_a_clear_error(clouds):
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        cluster = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0")
        lost = Client(cluster)
        closer = threading.Timer(0.3, cluster.close)
        closer.start()
        with pytest.raises(ClusterError, match="connection to the Dask scheduler was lost"):
            keep_fitting(clouds)
        closer.join()
        lost.close()
