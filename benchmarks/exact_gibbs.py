"""Sweeps per second of AugmentationGibbs on 49,990 x 22, against plain NumPy and one X.T @ X.

Both sides run in one process on one thread. A sweep is counted as the 2 D n^2 operations of its
Gram matrix, the same count that X.T @ X gets; everything else a sweep does counts as time only.
Run: python benchmarks/exact_gibbs.py
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import linalg

from bayesmargin.beliefs import GaussianBelief
from bayesmargin.problem import Problem
from bayesmargin.random import spawn_generators
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import AugmentationGibbs

N_ROWS, N_COLUMNS = 49_990, 22
WANTED_SPEEDUP, WANTED_SHARE = 5.0, 0.5
RESULT = Path(__file__).parent / "results" / "exact_gibbs.json"


def problem() -> Problem:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((N_ROWS, N_COLUMNS))
    truth = rng.standard_normal(N_COLUMNS)
    label = (rows @ truth + 2.0 * rng.standard_normal(N_ROWS) > 0).astype(np.int64)
    prior = GaussianBelief(np.zeros(N_COLUMNS), np.ones(N_COLUMNS))
    return Problem(DenseSource(rows, False), label, 2, np.ones(N_ROWS), 1.0, prior)


def plain_sweep(
    rows: np.ndarray, sign: np.ndarray, weights: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """The sweep as it stands in a textbook, in NumPy (c = l = s = 1)."""
    slack = 1.0 - sign * (rows @ weights)
    inverse = rng.wald(2.0 / np.maximum(np.abs(slack), 1e-12), 1.0)
    precision = np.eye(rows.shape[1]) + 0.25 * (rows.T * inverse) @ rows
    linear = rows.T @ (sign * (0.5 + 0.25 * inverse))
    lower = linalg.cholesky(precision, lower=True)
    mean = linalg.cho_solve((lower, True), linear)
    normal = rng.standard_normal(rows.shape[1])
    return mean + linalg.solve_triangular(lower, normal, lower=True, trans="T")


def seconds(task: Callable[[], object], repeats: int) -> float:
    task()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        task()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def main() -> None:
    given = problem()
    rows = np.ascontiguousarray(given.source.take(np.arange(N_ROWS)))
    chain = AugmentationGibbs().start(given, spawn_generators(0, 2)).chains[0]
    rng, weights = np.random.default_rng(1), np.zeros(N_COLUMNS)
    product = seconds(lambda: rows.T @ rows, 40)
    sweep = seconds(lambda: chain.run(10, 1), 15) / 10
    plain = seconds(lambda: plain_sweep(rows, given.sign, weights, rng), 25)
    operations = 2.0 * N_ROWS * N_COLUMNS**2
    table = [("one X.T @ X", product), ("AugmentationGibbs sweep", sweep), ("NumPy sweep", plain)]
    print(f"{'':<26}{'ms':>8}{'per second':>12}{'Gflop/s':>10}")
    for name, elapsed in table:
        rate = operations / elapsed / 1e9
        print(f"{name:<26}{1e3 * elapsed:>8.2f}{1.0 / elapsed:>12.1f}{rate:>10.2f}")
    speedup, share = plain / sweep, product / sweep
    met = speedup >= WANTED_SPEEDUP and share >= WANTED_SHARE
    print(
        f"{'MET' if met else 'MISSED'}: {speedup:.1f} times plain NumPy (wanted "
        f"{WANTED_SPEEDUP:.0f}), {share:.0%} of the flop rate of X.T @ X "
        f"(wanted {WANTED_SHARE:.0%})"
    )
    RESULT.parent.mkdir(exist_ok=True)
    figures = dict(table)
    RESULT.write_text(
        json.dumps(
            {"seconds": figures, "speedup": speedup, "flop_share": share, "met": met}, indent=1
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
