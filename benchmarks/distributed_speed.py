"""Gradient rows a second on 1 and 2 workers, what the driver costs, and a cost model from it.

    python benchmarks/distributed_speed.py

Chains travel between stations with trajectories of the default length on the HIGGS rows (repeated
with noise to a million). Bars: 2 workers read at least 1.7 times the gradient rows of 1 worker a
second, and the share of the workers' time that is not spent computing is under 10%. The constants
measured here (row rates, latency of a task, seconds an iteration) go through ``cost_model.py`` and
predict the two measurements and larger clusters.
"""

import time

import dask.array as da
import numpy as np

from bayesmargin.distributed.anchor import _hinges, fit_sharded_anchor
from bayesmargin.distributed.cluster import ClientCluster, share, total
from bayesmargin.distributed.partitions import Shards, open_partitions
from bayesmargin.distributed.problem import ShardedProblem
from bayesmargin.distributed.sampler import distributed_sampler
from bayesmargin.distributed.shards import Model
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.samplers import SSGNHT
from binary_sets import binary_sets
from cost_model import Constants, extrapolated, predicted
from distributed_tools import workers
from options import no_options
from reporting import finish, print_table

ROWS, PARTS, ROUNDS, CHAINS, PASSES = 1_000_000, 8, 6, 4, 5
HEADER = [
    "workers", "rows_per_s", "ratio", "idle_share", "pass_s", "predicted_pass_s", "round_s",
    "predicted_round_s", "met",
]  # fmt: skip


def enlarged() -> tuple[np.ndarray, np.ndarray]:
    (_, (X, y, _, _)) = next(iter(binary_sets(["higgs"])))
    rng = np.random.default_rng(0)
    index = rng.integers(0, len(X), ROWS)
    noise = 0.05 * rng.standard_normal((ROWS, X.shape[1]), dtype=np.float32)
    return X[index].astype(np.float32) + noise, y[index]


def measure(count: int, X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    with workers(count) as client:
        size = -(-ROWS // PARTS)
        rows, labels = da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)
        parts, n_bytes = open_partitions(rows, labels, None)
        shards = Shards(ClientCluster(client), parts, n_bytes)
        shards.encode(np.unique(y))
        n = X.shape[1] + 1
        model = Model(1.0, 1.0, True, GaussianBelief(np.zeros(n), np.ones(n)), 2)
        problem = ShardedProblem(shards.cluster, shards, model)
        sampler = distributed_sampler(SSGNHT(), 1000)
        generators = spawn_generators(1, CHAINS + 1)
        anchor = fit_sharded_anchor(problem, np.random.default_rng(0))
        ensemble = sampler.start(problem, generators)
        fleet = ensemble.chains.carrier
        thin = ensemble.plan.thin
        draws = fleet.round_draws(thin)
        fleet.advance(draws, thin)  # everything is compiled after this
        began = time.perf_counter()
        fit_sharded_anchor(problem, np.random.default_rng(0))
        anchor_seconds = time.perf_counter() - began
        began = time.perf_counter()
        for _ in range(PASSES):
            common = share(problem.cluster, (model, anchor))
            total(problem.cluster, "anchor", shards.map("anchor", _hinges, common))
        pass_seconds = (time.perf_counter() - began) / PASSES
        computing, read = fleet.seconds_computing, fleet.rows_read
        began = time.perf_counter()
        for _ in range(ROUNDS):
            fleet.advance(draws, thin)
        seconds = time.perf_counter() - began
        computing, read = fleet.seconds_computing - computing, fleet.rows_read - read
        began = time.perf_counter()
        for _ in range(50):
            client.submit(float, 1, pure=False).result()
        latency = (time.perf_counter() - began) / 50
        return {
            "workers": count,
            "rows_per_s": read / seconds,
            "idle": 1.0 - computing / (count * seconds),
            "anchor_s": anchor_seconds,
            "pass_s": pass_seconds,
            "passes": anchor.iterations + 1,
            "round_s": seconds / ROUNDS,
            "iteration_s": computing / (ROUNDS * CHAINS * draws * thin),
            "round_iterations": draws * thin,
            "latency_s": latency,
            "stations": ensemble.info["stations"],
            "rows_in_play": ensemble.info["rows_in_reach"],
            "weights": n,
        }


if __name__ == "__main__":
    no_options(__doc__)
    X, y = enlarged()
    one, two = measure(1, X, y), measure(2, X, y)
    constants = Constants.from_one(one, ROWS)
    table = []
    for found in (one, two):
        ratio = found["rows_per_s"] / one["rows_per_s"]
        met = (found is one or ratio >= 1.7) and found["idle"] <= 0.1
        guess = predicted(constants, ROWS, int(found["workers"]), CHAINS, 1, PARTS)
        table.append([
            found["workers"], found["rows_per_s"], ratio, found["idle"], found["pass_s"],
            guess["pass"], found["round_s"], guess["chains"], met,
        ])  # fmt: skip
    print(one)
    print(two)
    constants.write()
    print_table(*extrapolated(constants))
    finish("distributed_speed", HEADER, table, all(row[-1] for row in table))
