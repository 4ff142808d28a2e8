"""Rows that no single process holds: generated on the workers, fitted with a small driver.

    python benchmarks/distributed_memory.py [--rows 100000000] [--workers 2]

Partitions of a million rows of 28 single-precision features are generated on the workers. They are
kept there when they fit into 60% of the workers' memory and generated again for every pass when
they do not. Bar: the peak resident memory of the driver stays under 1 GB.
"""

import resource
import time

import dask
import numpy as np

from bayesmargin import BayesianLinearSVC
from distributed_tools import workers
from options import command_line
from reporting import finish

PART, FEATURES = 1_000_000, 28
HEADER = [
    "rows", "gigabytes", "workers", "partitions_kept", "driver_mb", "anchor_passes", "rows_in_play",
    "stations", "seconds", "trustworthy", "met",
]  # fmt: skip


def generate(number: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping clouds, the same for the same number."""
    rng = np.random.default_rng(number)
    label = (rng.random(size) < 0.4).astype(np.int8)
    values = rng.standard_normal((size, FEATURES), dtype=np.float32)
    values += np.outer(2 * label - 1, 0.25 * np.cos(np.arange(FEATURES))).astype(np.float32)
    return values, label


def main(rows: int, count: int, memory: str) -> None:
    sizes = [min(PART, rows - first) for first in range(0, rows, PART)]
    with workers(count, memory):
        parts = [dask.delayed(generate)(k, size) for k, size in enumerate(sizes)]
        began = time.perf_counter()
        model = BayesianLinearSVC(random_state=0).fit(parts)
        seconds = time.perf_counter() - began
    driver = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    facts = model.posterior_.attrs
    size = rows * FEATURES * 4 / 1e9
    row = [
        rows, size, count, facts["partitions_kept"], driver, facts["anchor_passes"],
        facts["rows_in_reach"], facts["stations"], seconds, model.diagnostics_.trustworthy,
        driver < 1000.0,
    ]  # fmt: skip
    finish("distributed_memory", HEADER, [row], bool(row[-1]))


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("--rows", type=int, default=10**8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="6GB", help="of each worker")
    given = parser.parse_args()
    main(given.rows, given.workers, given.memory)
