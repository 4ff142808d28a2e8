"""A worker is killed at a random moment of every fit: does it complete, and with which posterior.

    python benchmarks/distributed_faults.py [--runs 50]

Each run fits the IJCNN1 rows (8 shards, sorted by label) on two fresh workers, one of which
receives SIGKILL at a moment drawn uniformly from the length of an undisturbed fit. Bars: every run
completes, its posterior lies within the bars of the accuracy benchmark, and its draws are those of
the undisturbed fit, bit by bit.
"""

import os
import signal
import threading
import time

import numpy as np

from bayesmargin import BayesianLinearSVC
from bayesmargin.approximation import fit_anchor
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.running.progress import Silence
from bayesmargin.running.run import sample
from bayesmargin.samplers import AugmentationGibbs
from binary_sets import binary_sets
from distributed_tools import all_weights, errors, inside, partitioned, workers
from options import command_line
from posterior_accuracy import SWEEPS, posterior_of
from reporting import finish

HEADER = ["runs", "kills", "completed", "inside_bars", "identical", "rmse", "variance", "met"]


def kill_after(client: object, seconds: float, number: int, killed: list[int]) -> threading.Timer:
    """Send SIGKILL to one of the workers in a while; its nanny starts another."""
    pids = sorted(client.run(os.getpid).values())  # type: ignore[attr-defined]

    def kill() -> None:
        os.kill(pids[number % len(pids)], signal.SIGKILL)
        killed.append(number)

    timer = threading.Timer(seconds, kill)
    timer.start()
    return timer


def main(runs: int) -> None:
    (_, (X, y, _, _)) = next(iter(binary_sets(["ijcnn1"])))
    problem = posterior_of(X, y)
    to_white = np.linalg.inv(fit_anchor(problem, np.random.default_rng(0)).factor).T
    gibbs = AugmentationGibbs(burn_in=100, thin=1)
    reference = sample(
        problem, gibbs, spawn_generators(2, 5), SWEEPS["ijcnn1"] // 4, None, Silence()
    ).weights
    rows, labels = partitioned(X, y, 8, "sorted")
    rng = np.random.default_rng(0)
    for _ in range(2):  # the first one compiles
        with workers(2):
            began = time.perf_counter()
            calm = all_weights(BayesianLinearSVC(random_state=1).fit(rows, labels))
            length = time.perf_counter() - began
    completed = identical = good = 0
    killed: list[int] = []
    for number in range(runs):
        with workers(2) as client:
            timer = kill_after(client, rng.uniform(0.0, length), number, killed)
            try:
                found = all_weights(BayesianLinearSVC(random_state=1).fit(rows, labels))
            except Exception as error:
                print(f"run {number}: {type(error).__name__}: {error}", flush=True)
                continue
            finally:
                timer.join()
        completed += 1
        identical += bool(np.array_equal(found, calm))
        good += inside(errors(found, reference, to_white))
        print(f"run {number}: completed {completed}, identical {identical}", flush=True)
    last = errors(calm, reference, to_white)
    met = completed == identical == good == runs == len(killed)
    row = [runs, len(killed), completed, good, identical, last["rmse"], last["variance"], met]
    finish("distributed_faults", HEADER, [row], met)


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=int, default=50)
    main(parser.parse_args().runs)
