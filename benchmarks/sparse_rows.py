"""Lazy against dense-noise SSGLD: iterations per second, and whether the law is the same.

Runs plain SSGLD (raw coordinates, batch 10, no control variates) on tf-idf of IMDb, on a synthetic
problem of the shape of real-sim, and on one of a million features:

    python benchmarks/sparse_rows.py [--quick]
"""

import json
import time
from pathlib import Path

import numpy as np
from scipy import sparse, stats

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import SparseSource
from bayesmargin.samplers import SSGLD
from bayesmargin.targets.problem import Problem
from options import command_line

RESULTS = Path(__file__).parent / "results"
WANTED = {"real-sim shape": 8.0, "million features": 100.0, "imdb": 8.0}


def synthetic(n_rows: int, n_features: int, entries: int, seed: int = 0) -> tuple:
    """Rows with ``entries`` entries whose columns follow a power law, unit length."""
    rng = np.random.default_rng(seed)
    columns = (n_features * rng.random(n_rows * entries) ** 3).astype(np.int64)
    values = rng.random(n_rows * entries) + 0.5
    bounds = np.arange(0, n_rows * entries + 1, entries)
    matrix = sparse.csr_array((values, columns, bounds), shape=(n_rows, n_features))
    matrix.sum_duplicates()
    norms = np.sqrt(matrix.multiply(matrix).sum(axis=1))
    matrix.data /= np.repeat(norms, np.diff(matrix.indptr))
    truth = rng.standard_normal(n_features)
    return matrix, (matrix @ truth > 0).astype(int)


def imdb() -> tuple:
    from sklearn.feature_extraction.text import TfidfVectorizer

    from bayesmargin.datasets import fetch_imdb

    bunch = fetch_imdb()
    matrix = TfidfVectorizer(sublinear_tf=True, min_df=3).fit_transform(bunch.data)
    return sparse.csr_array(matrix), bunch.target


def problem_of(matrix, label) -> Problem:
    source = SparseSource(matrix, intercept=False)
    prior = GaussianBelief(np.zeros(source.n_columns), np.ones(source.n_columns))
    return Problem(source, label, 2, np.ones(len(label)), 1.0, prior)


def chain_of(problem: Problem, lazy: bool, seed: int, step: float):
    sampler = SSGLD(
        step=step,
        batch_size=10,
        preconditioner=None,
        control_variates=False,
        lazy=lazy,
        burn_in=0,
        thin=1,
    )
    return sampler.start(problem, spawn_generators(seed, 2)).chains[0]


def speed(problem: Problem, lazy: bool, step: float, seconds: float) -> float:
    """Iterations per second between draws; the catch-up of a draw is counted."""
    chain = chain_of(problem, lazy, 0, step)
    chain.run(1, 1)
    thin, spent = 16, 0.0
    while True:
        began = time.perf_counter()
        chain.run(1, thin)
        spent = time.perf_counter() - began
        if spent > seconds:
            return thin / spent
        thin *= 2 if spent > 0.1 * seconds else 8


def same_law(matrix, label, step: float, n_draws: int, thin: int) -> dict:
    """Two-sample tests of 20 coordinates, Bonferroni, over independent chains' last draws."""
    problem = problem_of(matrix, label)
    watched = np.linspace(0, problem.n_weights - 1, 20).astype(int)
    ends = {}
    for lazy in (True, False):
        parts = []
        for seed in range(4):
            chain = chain_of(problem, lazy, 100 * lazy + seed, step)
            chain.watched = watched
            chain.run(1, 20 * thin)
            chain.forget()
            chain.run(n_draws, thin)
            parts.append(np.concatenate(chain.draws))
        ends[lazy] = np.concatenate(parts)
    p = [stats.ks_2samp(ends[True][:, j], ends[False][:, j]).pvalue for j in range(20)]
    return {"smallest_p": float(min(p)), "threshold": 0.01 / 20, "same": bool(min(p) > 0.01 / 20)}


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller problems, for a first look")
    parser.add_argument("--skip-imdb", action="store_true")
    options = parser.parse_args()
    shrink = 10 if options.quick else 1
    cases = {
        "real-sim shape": synthetic(72_309 // shrink, 20_958, 52),
        "million features": synthetic(100_000 // shrink, 1_000_000, 52),
    }
    if not options.skip_imdb:
        cases["imdb"] = imdb()
    table, seconds = {}, 0.5 if options.quick else 3.0
    print(
        f"{'problem':20} {'rows':>8} {'features':>9} {'dense it/s':>11} {'lazy it/s':>11}   ratio"
    )
    for name, (matrix, label) in cases.items():
        problem = problem_of(matrix, label)
        dense, lazy = (speed(problem, flag, 0.02, seconds) for flag in (False, True))
        table[name] = {"dense": dense, "lazy": lazy, "ratio": lazy / dense, "wanted": WANTED[name]}
        shape = f"{matrix.shape[0]:8d} {matrix.shape[1]:9d}"
        print(f"{name:20} {shape} {dense:11.0f} {lazy:11.0f} {lazy / dense:7.1f}", flush=True)
    matrix, label = synthetic(500, 1000, 20, seed=1)
    law = same_law(matrix, label, step=0.2, n_draws=300, thin=200)
    print(
        f"same law: smallest of 20 p-values {law['smallest_p']:.4f} (limit {law['threshold']:.4f})"
    )
    met = all(row["ratio"] >= row["wanted"] for row in table.values()) and law["same"]
    print("verdict:", "met" if met else "missed")
    RESULTS.mkdir(exist_ok=True)
    found = {"speed": table, "law": law, "met": met, "quick": options.quick}
    (RESULTS / "sparse.json").write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
