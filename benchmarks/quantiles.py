"""Several quantiles of 2.9 million rows, beside the linear programs of ``QuantileRegressor``.

    python benchmarks/quantiles.py

Rows are drawn with noise that grows with the first of 20 features. Large rows are fitted in a
process of their own; its peak memory beyond what the library and a small fit of the same kind took,
divided by the bytes of the rows, counts. Our fits have two threads. Three programs of
``QuantileRegressor`` (its defaults, no penalty) run side by side after ours, and their seconds are
added up; one that takes longer than 200 s is stopped, and counts as that. Coefficients are compared
in posterior standard deviations.
"""

import argparse
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from sklearn.linear_model import QuantileRegressor

from bayesmargin import BayesianQuantileRegressor
from options import command_line
from reporting import finish

LEVELS = [0.05, 0.5, 0.95]
PATIENCE = 200.0  # seconds for a linear program
THREADS = 2
LARGE, MIDDLE, SMALL = 2_900_000, 100_000, 10_000


def rows_of(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in single precision, and values, made piece by piece without large scratch memory."""
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(20).astype(np.float32)
    X, y = np.empty((n_rows, 20), dtype=np.float32), np.empty(n_rows)
    for start in range(0, n_rows, 50_000):
        part = slice(start, min(start + 50_000, n_rows))
        X[part] = rng.standard_normal((part.stop - start, 20), dtype=np.float32)
        noise = rng.standard_normal(part.stop - start)
        y[part] = X[part] @ weights + noise * (1.0 + 0.5 * np.abs(X[part, 0]))
    return X, y


def peak() -> float:
    """Bytes of resident memory at their peak."""
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def large(n_rows: int) -> None:
    """Fit in this process; print seconds, the memory in units of the rows, and the verdict."""
    model = BayesianQuantileRegressor(LEVELS, C="auto", n_jobs=THREADS, random_state=0)
    model.fit(*rows_of(150_000))
    before = peak()
    X, y = rows_of(n_rows)
    began = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - began
    print(seconds, (peak() - before) / X.nbytes, int(model.diagnostics_.trustworthy))


def program(n_rows: int, level: float) -> None:
    """Solve one linear program in this process; print seconds and coefficients."""
    X, y = rows_of(n_rows)
    began = time.perf_counter()
    known = QuantileRegressor(quantile=level, alpha=0.0).fit(X.astype(float), y)
    print(time.perf_counter() - began, *known.coef_)


def in_process(*words: object, patience: float = PATIENCE) -> list[float] | None:
    """Numbers that this file prints in a process of its own; None if it takes too long."""
    command = [sys.executable, __file__, *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return None
    return [float(word) for word in done.stdout.split()]


def beside_programs(n_rows: int) -> list[object]:
    """Our three quantiles against three programs."""
    X, y = rows_of(n_rows)
    began = time.perf_counter()
    model = BayesianQuantileRegressor(LEVELS, C="auto", n_jobs=THREADS, random_state=0).fit(X, y)
    ours = time.perf_counter() - began
    theirs, away = 0.0, []
    with ThreadPoolExecutor(len(LEVELS)) as pool:
        each = list(pool.map(lambda level: in_process("--program", n_rows, level), LEVELS))
    for k, found in enumerate(each):
        if found is None:
            theirs += PATIENCE
            continue
        theirs += found[0]
        spread = model.posterior_["coef"][:, :, k].std(axis=(0, 1))
        away.append(np.sqrt(np.mean(((model.coef_[k] - np.array(found[1:])) / spread) ** 2)))
    return [n_rows, ours, theirs, theirs / ours, float(max(away, default=np.nan))]


def main(n_rows: int) -> None:
    small = rows_of(1000)
    BayesianQuantileRegressor(LEVELS, C="auto", n_draws=50, random_state=0).fit(*small)  # compiles
    found = in_process("--large", n_rows, patience=600.0)
    seconds, memory, trusted = found or [600.0, np.nan, 0.0]
    print(f"{n_rows:,} rows: {seconds:.1f} s, {memory:.2f} times their memory", flush=True)
    rows = [beside_programs(size) for size in (SMALL, MIDDLE)]
    rows.append([n_rows, seconds, np.nan, np.nan, np.nan])
    bounds = [
        {
            "bound": f"{n_rows:,} x 20 rows, three quantiles in at most 60 s",
            "measured": f"{seconds:.1f} s",
            "met": bool(seconds <= 60.0 and trusted),
        },
        {
            "bound": "and under three times the memory of the rows",
            "measured": f"{memory:.2f} times",
            "met": bool(memory < 3.0),
        },
        {
            "bound": f"at least 10 times as fast as QuantileRegressor at {MIDDLE:,} rows",
            "measured": f"{rows[1][3]:.0f} times",
            "met": bool(rows[1][3] >= 10.0),
        },
        {
            "bound": "coefficients within a posterior sd of its own (root mean square)",
            "measured": f"{np.nanmax([row[4] for row in rows[:2]]):.2f} sd",
            "met": bool(np.nanmax([row[4] for row in rows[:2]]) < 1.0),
        },
    ]
    header = ["rows", "seconds", "QuantileRegressor", "ratio", "rms distance (sd)"]
    finish("quantiles", header, rows, all(bound["met"] for bound in bounds), bounds)


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--rows", type=int, default=LARGE)
    parser.add_argument("--large", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--program", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.large:
        large(asked.large)
    elif asked.program:
        program(int(asked.program[0]), float(asked.program[1]))
    else:
        main(asked.rows)
