"""A Parquet folder larger than the memory allowed: the same posterior, and the rows per second.

Writes a folder of Parquet files, fits it in a process whose address space is limited, fits the same
rows in memory, and compares the posteriors and the rows per second:

    python benchmarks/out_of_core.py --gigabytes 8 --limit-gigabytes 2
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from options import command_line

RESULTS = Path(__file__).parent / "results"
COLUMNS = 100
FILE_ROWS = 500_000


def make_rows(n_rows: int, seed: int) -> tuple:
    rng = np.random.default_rng([5, seed])
    values = rng.standard_normal((n_rows, COLUMNS), dtype=np.float32)
    truth = np.random.default_rng(5).standard_normal(COLUMNS) / 5.0
    return values, (values @ truth + rng.logistic(size=n_rows) > 0).astype(np.int8)


def write(folder: Path, gigabytes: float) -> int:
    import pyarrow
    from pyarrow import parquet

    total = int(gigabytes * 1e9 / (4 * COLUMNS + 1))
    for k, start in enumerate(range(0, total, FILE_ROWS)):
        values, label = make_rows(min(FILE_ROWS, total - start), k)
        columns = {f"x{j}": values[:, j] for j in range(COLUMNS)}
        table = pyarrow.table({**columns, "y": label})
        path = folder / f"part{k:04d}.parquet"
        parquet.write_table(
            table, path, compression="none", use_dictionary=False, row_group_size=50_000
        )
    return total


def fit(folder: Path, limit: float | None, out: Path) -> None:
    """Fit in this process, from the files or from memory, and write what was found."""
    if limit is not None:
        size = int(limit * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    from bayesmargin import BayesianLinearSVC
    from bayesmargin.rows import open_rows

    model = BayesianLinearSVC(random_state=0)
    warm = np.random.default_rng(0).standard_normal((2000, COLUMNS)).astype(np.float32)
    model.fit(warm, warm[:, 0] > 0)  # compiles, outside the clock
    rows = open_rows(folder, label="y", memory=128 << 20)
    given = rows
    label = rows.labels
    if limit is None:
        given = np.empty(rows.shape, dtype=np.float32)
        for start, part in rows.pieces():
            given[start : start + len(part)] = part
    began = time.perf_counter()
    model.fit(given, label)
    seconds = time.perf_counter() - began
    draws = model.posterior_.flat("coef")
    np.savez(
        out,
        mean=draws.mean(axis=0),
        sd=draws.std(axis=0),
        seconds=seconds,
        rows=rows.shape[0],
        peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        ess=model.diagnostics_.min_bulk_ess,
    )


def run(folder: Path, limit: float | None, out: Path) -> dict:
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    settings = {**os.environ, **threads, "ARROW_DEFAULT_MEMORY_POOL": "system"}
    settings["MALLOC_ARENA_MAX"] = "2"  # each arena reserves address space
    command = [sys.executable, __file__, "--fit", str(folder), "--out", str(out)]
    command += [] if limit is None else ["--limit-gigabytes", str(limit)]
    subprocess.run(command, check=True, env=settings)
    with np.load(out) as found:
        return {name: found[name] for name in found}


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--limit-gigabytes", type=float, default=None)
    parser.add_argument("--folder", type=Path, default=None, help="where to write (default: /tmp)")
    parser.add_argument("--fit", type=Path, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit is not None:
        fit(options.fit, options.limit_gigabytes, options.out)
        return
    limit = options.limit_gigabytes or 2.0
    folder = Path(tempfile.mkdtemp(prefix="bayesmargin-", dir=options.folder))
    try:
        free = shutil.disk_usage(folder).free / 1e9
        if free < 1.5 * options.gigabytes:
            raise SystemExit(f"{free:.0f} GB free in {folder.parent}: too little")
        data = folder / "rows"
        data.mkdir()
        n_rows = write(data, options.gigabytes)
        size = sum(file.stat().st_size for file in data.iterdir()) / 1e9
        print(f"{n_rows} rows x {COLUMNS} columns, {size:.1f} GB of Parquet", flush=True)
        from_file = run(data, limit, folder / "file.npz")
        in_memory = run(data, None, folder / "memory.npz")
    finally:
        shutil.rmtree(folder)
    shift = (from_file["mean"] - in_memory["mean"]) / in_memory["sd"]
    error = float(np.sqrt(np.mean(shift**2)))
    ratio = float(np.mean((from_file["sd"] / in_memory["sd"]) ** 2))
    speeds = [float(n_rows / found["seconds"]) for found in (from_file, in_memory)]
    print(f"from files: {speeds[0]:.3g} rows/s, peak {from_file['peak']:.2f} GiB resident")
    print(f"in memory:  {speeds[1]:.3g} rows/s, peak {in_memory['peak']:.2f} GiB resident")
    print(f"means differ by {error:.3f} sd (rms), variances by a factor {ratio:.3f}")
    met = speeds[0] >= 0.5 * speeds[1] and error < 0.1 and abs(ratio - 1.0) < 0.1
    met = bool(met and size >= 4.0 * limit)
    print("verdict:", "met" if met else "missed (or a small run)")
    RESULTS.mkdir(exist_ok=True)
    table = {
        "gigabytes": size,
        "limit_gigabytes": limit,
        "rows": n_rows,
        "rows_per_second": {"files": speeds[0], "memory": speeds[1]},
        "peak_gib": {"files": float(from_file["peak"]), "memory": float(in_memory["peak"])},
        "mean_error_sd": error,
        "variance_ratio": ratio,
        "met": met,
    }
    (RESULTS / "out_of_core.json").write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
