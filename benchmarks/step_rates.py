"""What a step over all rows takes: laws of rows, features, classes and chains, and shares of speed.

    OPENBLAS_NUM_THREADS=1 python benchmarks/step_rates.py [--shrink TIMES]

Chains with exact gradients run side by side on one core, over clouds of unit variance in one or
several classes. Exponents are those of the least squares of log times. Multiplications and bytes of
rows a second stand beside a plain product of matrices and a plain copy of the same machine, in one
run. A pass reads the rows once for all chains, and multiplies them with the weights of each.
"""

import time

import numpy as np

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.running.chains import run_chains
from bayesmargin.running.side_by_side import ChainInCompany
from bayesmargin.samplers import SSGNHT
from bayesmargin.targets.problem import Problem
from options import command_line
from reporting import finish, print_table
from scaling import clouds

CASES = [  # rows, features, classes, chains
    (20_000, 300, 2, 4),
    (20_000, 300, 2, 1),
    (10_000, 300, 2, 4),
    (40_000, 300, 2, 4),
    (20_000, 100, 2, 4),
    (20_000, 600, 2, 4),
    (5000, 64, 10, 4),
    (5000, 64, 30, 4),
    (5000, 64, 30, 1),
    (5000, 32, 30, 4),
    (10_000, 64, 30, 4),
    (10_000, 64, 100, 4),
]
STEPS = 40


def best_of(times: int, action) -> float:
    """Seconds of the quickest call."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        action()
        found.append(time.perf_counter() - began)
    return min(found)


def machine() -> tuple[float, float]:
    """Multiplications a second of a product of matrices, and bytes read a second by a copy."""
    left = np.random.default_rng(0).random((2000, 2000), dtype=np.float32)
    product = np.empty_like(left)
    source = np.ones(1 << 26, dtype=np.float32)
    target = np.empty_like(source)
    rate = 8e9 / best_of(5, lambda: np.dot(left, left, out=product))
    return rate, source.nbytes / best_of(5, lambda: np.copyto(target, source))


def step_of(n_rows: int, n_features: int, n_classes: int, n_chains: int) -> tuple[float, int]:
    """Seconds of a step of all chains, and the rows that it reads."""
    import bayesmargin.samplers.stochastic as stochastic

    stochastic.COSTLY, stochastic.CHEAPER, stochastic.CHEAPER_CLASSES = 1, 1e9, 1e9
    X, y = clouds(n_rows, n_features, n_classes)
    X *= 4.0 / np.sqrt(n_features)  # classes that overlap, however many features there are
    size = (n_features + 1) * (1 if n_classes == 2 else n_classes)
    prior = GaussianBelief(np.zeros(size), np.ones(size))
    problem = Problem(DenseSource(X, True), y, n_classes, np.ones(n_rows), 1.0, prior)
    started = SSGNHT(integrator="badodab").start(problem, spawn_generators(0, n_chains + 1))
    assert isinstance(started.chains[0], ChainInCompany)
    run_chains(started.chains, 1, 2, 1)
    taken = best_of(3, lambda: run_chains(started.chains, 1, STEPS, 1)) / STEPS
    return taken, int(started.info["rows_in_reach"])


def law(rows: list[list], several: bool) -> str:
    """Exponents of rows in reach, features, classes and chains."""
    chosen = [row for row in rows if (row[2] > 2) == several]
    names = ["rows", "features", "chains"] + ["classes"] * several
    columns = [4, 1, 3, 2][: len(names)]
    table = np.log([[float(row[k]) for k in columns] for row in chosen])
    times = np.log([row[5] for row in chosen])
    found = np.linalg.lstsq(np.column_stack([table, np.ones(len(table))]), times, rcond=None)[0]
    return ", ".join(f"{name}^{power:.2f}" for name, power in zip(names, found, strict=False))


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--shrink", type=int, default=1, help="a part of the rows; nothing is kept")
    options = parser.parse_args()
    products, copied = machine()
    header = ["rows", "features", "classes", "chains", "in reach", "step", "share of products"]
    header += ["share of copy"]
    table = []
    for n_rows, n_features, n_classes, n_chains in CASES:
        n_rows //= options.shrink
        taken, reached = step_of(n_rows, n_features, n_classes, n_chains)
        numbers = reached * (n_features + 1)
        blocks = 1 if n_classes == 2 else n_classes
        row = [n_rows, n_features, n_classes, n_chains, reached, taken]
        row += [n_chains * blocks * numbers / taken / products, 4 * numbers / taken / copied]
        table.append(row)
    bounds = [
        {"bound": f"{kind}: a step takes", "measured": law(table, several), "met": True}
        for kind, several in (("two classes", False), ("several", True))
    ]
    speed = f"{products / 1e9:.1f} billion products, {copied / 1e9:.1f} GB copied a second"
    bounds.append({"bound": "the machine", "measured": speed, "met": True})
    if options.shrink > 1:
        print_table(header, table)
        return
    finish("step_rates", header, table, True, bounds)


if __name__ == "__main__":
    main()
