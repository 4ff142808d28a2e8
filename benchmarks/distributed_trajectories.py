"""What trajectories and stations cost in accuracy: the measurements behind two defaults.

    python benchmarks/distributed_trajectories.py [set ...]

Rows in play stay in their 8 shards (sorted by label) or are dealt into 8 or fewer stations, and
chains stay 16, 256 or 4096 iterations at each. Reference: a long run on one machine with a smaller
step. The table is a measurement; its one bar is that the default (dealt, stations by the rule of
``ROWS_PER_WEIGHT``) keeps the mean variance ratio within 2.5%.
"""

import numpy as np

from bayesmargin.approximation import fit_anchor
from bayesmargin.distributed.cluster import LocalThreads
from bayesmargin.distributed.partitions import Shards, open_partitions
from bayesmargin.distributed.problem import ShardedProblem
from bayesmargin.distributed.shards import Model
from bayesmargin.distributed.stations import find_stations, station_targets
from bayesmargin.distributed.travelling import Fleet, Traveller
from bayesmargin.dynamics.base import initial_state
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.running.chains import collected
from bayesmargin.running.progress import Silence
from bayesmargin.running.run import sample
from bayesmargin.samplers import SSGNHT
from binary_sets import binary_sets
from distributed_tools import errors, partitioned
from options import chosen_sets
from posterior_accuracy import posterior_of
from reporting import finish

STEP, ITERATIONS, THIN, CHAINS = 0.25, 200_000, 8, 4
HEADER = ["set", "rows_at", "stations", "trajectory", "rmse", "mc_error", "variance", "met"]


def travelled(problem: ShardedProblem, stations: object, trajectory: int) -> np.ndarray | None:
    """Draws in whitened coordinates, or None for chains that diverge."""
    targets = station_targets(
        problem, stations, 5 * problem.n_columns, STEP, np.random.default_rng(1)
    )
    chains = []
    for rng in spawn_generators(3, CHAINS):
        start = initial_state(rng.standard_normal(problem.n_weights), rng, 1.0)
        chains.append(Traveller(start, rng))
    dynamics = SSGNHT().dynamics(STEP, 1)
    fleet = Fleet(problem.cluster, targets, stations.share, dynamics, chains, trajectory)
    try:
        fleet.advance(1000, THIN)
        for chain in chains:
            chain.forget()
        fleet.advance(ITERATIONS // THIN, THIN)
    except DivergenceError:
        return None
    return collected(chains)[0]


def main(names: list[str]) -> None:
    table = []
    for name, (X, y, _, _) in binary_sets(names):
        whole = posterior_of(np.ascontiguousarray(X), y)
        anchor = fit_anchor(whole, np.random.default_rng(0))
        exact = sample(whole, SSGNHT(step=0.15), spawn_generators(2, 5), 10_000, None, Silence())
        rows, labels = partitioned(X, y, 8, "sorted")
        shards = Shards(LocalThreads(), *open_partitions(rows, labels, None))
        shards.encode(np.unique(y))
        problem = ShardedProblem(shards.cluster, shards, Model(1.0, 1.0, True, whole.prior, 2))
        for where, options in (
            ("shards", {"dealt": False}),
            ("dealt", {"count": 8}),
            ("dealt", {}),
        ):
            stations = find_stations(problem, anchor, np.random.default_rng(0), **options)
            basis = stations.anchor.axes
            for trajectory in (16, 256, 4096):
                draws = travelled(problem, stations, trajectory)
                found = {"rmse": float("inf"), "mc_error": float("nan"), "variance": float("inf")}
                if draws is not None:
                    weights = anchor.mean + draws @ basis.T
                    found = errors(weights, exact.weights, np.linalg.inv(basis).T)
                met = options != {} or abs(found["variance"] - 1.0) <= 0.025
                count = len(stations.handles)
                cells = [found[key] for key in ("rmse", "mc_error", "variance")]
                table.append([name, where, count, trajectory, *cells, met])
                print(*table[-1], flush=True)
    finish("distributed_trajectories", HEADER, table, all(row[-1] for row in table))


if __name__ == "__main__":
    main(chosen_sets(__doc__, ["ijcnn1", "higgs"]))
