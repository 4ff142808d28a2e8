"""The posterior over 8 shards, in random order and sorted by label, against exact sampling.

    python benchmarks/distributed_accuracy.py [set ...]

Two worker processes on this machine. The reference is the augmentation Gibbs sampler, as in
``posterior_accuracy.py``. Bars: root-mean-square error of the mean at most 0.1 posterior standard
deviations, mean variance ratio between 0.95 and 1.05.
"""

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
from options import chosen_sets
from posterior_accuracy import SWEEPS, posterior_of
from reporting import finish

HEADER = [
    "set", "rows", "order", "stations", "rmse", "mc_error", "excess", "variance", "bias_check",
    "seconds", "met",
]  # fmt: skip


def main(names: list[str]) -> None:
    table = []
    with workers(2):
        for name, (X, y, _, _) in binary_sets(names):
            X = np.ascontiguousarray(X)
            problem = posterior_of(X, y)
            factor = fit_anchor(problem, np.random.default_rng(0)).factor
            gibbs = AugmentationGibbs(burn_in=100, thin=1)
            sweeps = SWEEPS[name] // 4
            exact = sample(problem, gibbs, spawn_generators(2, 5), sweeps, None, Silence())
            for order in ("random", "sorted"):
                rows, labels = partitioned(X, y, 8, order)
                began = time.perf_counter()
                model = BayesianLinearSVC(random_state=1).fit(rows, labels)
                seconds = time.perf_counter() - began
                found = errors(all_weights(model), exact.weights, np.linalg.inv(factor).T)
                table.append([
                    name, len(X), order, model.posterior_.attrs["stations"], *found.values(),
                    model.diagnostics_.bias, seconds, inside(found),
                ])  # fmt: skip
                print(*table[-1], flush=True)
    finish("distributed_accuracy", HEADER, table, all(row[-1] for row in table))


if __name__ == "__main__":
    main(chosen_sets(__doc__, ["ijcnn1", "higgs"]))
