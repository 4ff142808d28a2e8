"""Sweeps per second of AugmentationGibbs on 49,990 x 22, against plain NumPy and one X.T @ X.

Twice: on one core (BLAS on one thread), and as both run when left alone (four chains in threads;
NumPy's BLAS on all cores). A sweep is counted as the 2 D n^2 operations of its Gram matrix, the
same count that X.T @ X gets; everything else a sweep does counts as time only. The contenders take
turns, with a pause in which the BLAS threads of the one before come to rest, and the best time of
each counts, so that other work on the machine disturbs little.
Run: python benchmarks/exact_gibbs.py
"""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import linalg
from threadpoolctl import threadpool_limits

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.threads import n_threads
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.running.chains import run_chains
from bayesmargin.samplers import AugmentationGibbs
from bayesmargin.targets.problem import Problem
from options import no_options

N_ROWS, N_COLUMNS = 49_990, 22
N_CHAINS = 4
SWEEPS, PAUSE = 10, 0.1
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


def best_times(tasks: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Shortest time of each task over rounds in which they take turns."""
    for task in tasks.values():
        task()
    best = dict.fromkeys(tasks, np.inf)
    for _ in range(rounds):
        for name, task in tasks.items():
            time.sleep(PAUSE)
            start = time.perf_counter()
            task()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def main() -> None:
    given = problem()
    rows = np.ascontiguousarray(given.source.take(np.arange(N_ROWS)))
    chains = AugmentationGibbs().start(given, spawn_generators(0, N_CHAINS + 1)).chains
    rng, weights = np.random.default_rng(1), np.zeros(N_COLUMNS)
    tasks: dict[str, Callable[[], object]] = {
        "one X.T @ X": lambda: rows.T @ rows,
        "AugmentationGibbs": lambda: chains[0].run(SWEEPS, 1),
        "plain NumPy": lambda: plain_sweep(rows, given.sign, weights, rng),
    }
    with threadpool_limits(1):
        alone = best_times(tasks, 40)
    alone["AugmentationGibbs"] /= SWEEPS
    tasks["AugmentationGibbs"] = lambda: run_chains(chains, SWEEPS, 1, None)
    together = best_times(tasks, 20)
    together["AugmentationGibbs"] /= SWEEPS * N_CHAINS
    operations = 2.0 * N_ROWS * N_COLUMNS**2
    cores = n_threads(None, 10**6)
    for title, times in (("one core", alone), (f"{cores} cores", together)):
        print(f"{title:<22}{'ms a sweep':>12}{'per second':>12}{'Gflop/s':>10}")
        for name, elapsed in times.items():
            rate = operations / elapsed / 1e9
            print(f"{name:<22}{1e3 * elapsed:>12.2f}{1.0 / elapsed:>12.1f}{rate:>10.2f}")
    speedup = {
        "one core": alone["plain NumPy"] / alone["AugmentationGibbs"],
        "all cores": together["plain NumPy"] / together["AugmentationGibbs"],
    }
    share = alone["one X.T @ X"] / alone["AugmentationGibbs"]
    met = {
        "speedup on all cores": speedup["all cores"] >= WANTED_SPEEDUP,
        "speedup on one core": speedup["one core"] >= WANTED_SPEEDUP,
        "flop rate": share >= WANTED_SHARE,
    }
    print(
        f"{speedup['one core']:.1f} times plain NumPy on one core, {speedup['all cores']:.1f} on "
        f"{cores} (wanted {WANTED_SPEEDUP:.0f}); {share:.0%} of the flop rate of "
        f"X.T @ X on one core (wanted {WANTED_SHARE:.0%})"
    )
    print("; ".join(f"{name}: {'MET' if good else 'MISSED'}" for name, good in met.items()))
    RESULT.parent.mkdir(exist_ok=True)
    result = {
        "cores": cores,
        "load": os.getloadavg()[0],
        "seconds_one_core": alone,
        "seconds_all_cores": together,
        "speedup": speedup,
        "flop_share": share,
        "met": met,
    }
    RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    no_options(__doc__)
    main()
