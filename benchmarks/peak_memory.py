"""Peak memory of a fit in memory against the data plus the draws it keeps.

Each case runs in a process of its own: the library is loaded and a small fit of the same kind made
first (compiled code belongs to the program, not to the data), then the rows are made in place,
fitted, and the peak of the resident memory beyond that start is divided by the bytes of the rows,
the labels and the draws. At most 1.3 is wanted.

    python benchmarks/peak_memory.py [--shrink 10]
"""

import argparse
import resource
import subprocess
import sys
import warnings

import numpy as np
from scipy import sparse

from options import command_line
from reporting import finish

WANTED = 1.3
CASES = {
    "dense float32, 28 columns": ("dense", 15_000_000, 28),
    "dense float64, 100 columns": ("double", 2_000_000, 100),
    "sparse, 20,000 columns, 50 a row": ("sparse", 500_000, 20_000),
}


def rows_of(kind: str, n_rows: int, n_columns: int) -> tuple:
    """Rows made without any scratch memory of their size, and labels."""
    rng = np.random.default_rng(0)
    if kind == "sparse":
        count = 50 * n_rows
        values = np.empty(count)
        columns = np.empty(count, dtype=np.int32)
        for start in range(0, n_rows, 20_000):
            part = slice(50 * start, 50 * min(start + 20_000, n_rows))
            rows = (part.stop - part.start) // 50
            jumps = rng.integers(1, n_columns // 50, (rows, 50), dtype=np.int32)
            columns[part] = np.cumsum(jumps, axis=1).ravel()
            values[part] = rng.random(part.stop - part.start) * 0.2
        bounds = np.arange(0, count + 1, 50, dtype=np.int32)
        matrix = sparse.csr_array((values, columns, bounds), shape=(n_rows, n_columns))
        return matrix, (rng.random(n_rows) < 0.5).astype(np.int8)
    matrix = np.empty((n_rows, n_columns), dtype=np.float32 if kind == "dense" else np.float64)
    label = np.empty(n_rows, dtype=np.int8)
    for start in range(0, n_rows, 50_000):
        part = rng.standard_normal((min(50_000, n_rows - start), n_columns), dtype=np.float32)
        matrix[start : start + len(part)] = part
        label[start : start + len(part)] = (
            part[:, :3].sum(axis=1) + rng.logistic(size=len(part)) > 0
        )
    return matrix, label


def resident(peak: bool) -> float:
    """Bytes of resident memory, now or at their peak."""
    if peak:
        return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with open("/proc/self/statm") as file:
        return float(file.read().split()[1]) * resource.getpagesize()


def size_of(matrix: object) -> int:
    if sparse.issparse(matrix):
        return matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    return matrix.nbytes


def measure(name: str, shrink: int) -> None:
    """Print bytes of rows, draws and peak, in this process."""
    from bayesmargin import BayesianLinearSVC

    kind, n_rows, n_columns = CASES[name]
    warnings.simplefilter("ignore")
    small = rows_of(kind, 3000, n_columns)
    draws = 100 if kind == "sparse" else 1000
    BayesianLinearSVC(random_state=0, n_draws=20).fit(*small)
    before = resident(peak=False)
    matrix, label = rows_of(kind, n_rows // shrink, n_columns)
    model = BayesianLinearSVC(random_state=0, n_draws=draws).fit(matrix, label)
    kept = sum(model.posterior_[part].nbytes for part in ("coef", "intercept"))
    print(size_of(matrix) + label.nbytes, kept, resident(peak=True) - before)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--shrink", type=int, default=1, help="divide the rows, for a first look")
    parser.add_argument("--case", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.case is not None:
        measure(options.case, options.shrink)
        return
    table = []
    for name in CASES:
        command = [sys.executable, __file__, "--case", name, "--shrink", str(options.shrink)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        data, draws, peak = (float(part) / 1e9 for part in output.split())
        table.append((name, data, draws, peak, peak / (data + draws)))
        print(f"{name}: {table[-1][-1]:.2f}", flush=True)
    header = ("rows", "data GB", "draws GB", "peak GB", "ratio")
    finish("peak_memory", header, table, all(row[-1] <= WANTED for row in table))


if __name__ == "__main__":
    main()
