r"""Seconds of a distributed fit on W workers, from constants that one worker gives.

    python benchmarks/cost_model.py

A pass over D rows costs ``D r / W``, r seconds a row, plus messages: every shard sends a matrix of
:math:`n^2` numbers and the scheduler spends ``t`` on every task, a tree of depth :math:`\log_8 P`
adding a few latencies. An anchor takes ``passes`` of them and the screening one more. Stations hold
about ``c sqrt(n D)`` rows, which travel once between workers. A round of chains is
``ceil(chains / W)`` tasks of ``T`` iterations (four trajectories) and one latency. Tasks share one
scheduler, which is what limits 1000 workers.
"""

import json
from dataclasses import asdict, dataclass
from math import ceil, log, sqrt
from pathlib import Path

from options import no_options
from reporting import print_table

FILE = Path(__file__).parent / "results" / "cost_constants.json"
TASK = 2e-4  # seconds of the scheduler for a task, as Dask's documentation states it
BANDWIDTH = 1e8  # bytes a second between two workers of a cluster
PARTITION = 1_000_000  # rows of a partition on a large cluster


@dataclass(frozen=True)
class Constants:
    """Measured on one worker."""

    row_s: float
    passes: float
    start_s: float
    iteration_s: float
    round_iterations: float
    latency_s: float
    in_play: float
    weights: int

    @classmethod
    def from_one(cls, found: dict[str, float], n_rows: int) -> "Constants":
        passes, n = found["passes"], int(found["weights"])
        row_s = (found["pass_s"] - 4 * found["latency_s"]) / n_rows
        start_s = max(0.0, found["anchor_s"] - passes * found["pass_s"])
        return cls(
            row_s, passes, start_s, found["iteration_s"], found["round_iterations"],
            found["latency_s"], found["rows_in_play"] / sqrt(n * n_rows), n,
        )  # fmt: skip

    def write(self) -> None:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(json.dumps(asdict(self), indent=1) + "\n")


def predicted(
    c: Constants, rows: int, workers: int, chains: int, rounds: int, parts: int | None = None
) -> dict[str, float]:
    """Seconds of one pass, of the anchor, of dealing the stations, of the chains, and in all."""
    parts = parts or max(8, ceil(rows / PARTITION), workers)
    depth = 2 + ceil(log(parts, 8))
    messages = 1.3 * parts * (TASK + 8.0 * c.weights**2 / (workers * BANDWIDTH))
    one_pass = rows * c.row_s / min(workers, parts) + messages + depth * c.latency_s
    anchor = c.start_s + c.passes * one_pass
    moved = c.in_play * sqrt(c.weights * rows) * 4.0 * (c.weights + 4)
    stations = one_pass + moved / (workers * BANDWIDTH) + parts * 8 * TASK
    turns = ceil(chains / workers)
    chains_s = rounds * (turns * c.round_iterations * c.iteration_s + c.latency_s + chains * TASK)
    total = anchor + stations + chains_s
    return {
        "pass": one_pass, "anchor": anchor, "stations": stations, "chains": chains_s,
        "total": total,
    }  # fmt: skip


def extrapolated(c: Constants) -> tuple[list[str], list[list[float]]]:
    """Table of larger clusters, a chain a worker (four at least), three rounds."""
    header = ["rows", "workers", "pass_s", "anchor_s", "stations_s", "chains_s", "total_s"]
    table = [
        [float(rows), workers, *predicted(c, rows, workers, max(4, workers), 3).values()]
        for rows in (10**8, 10**9, 10**10)
        for workers in (1, 2, 10, 100, 1000)
    ]
    return header, table


if __name__ == "__main__":
    no_options(__doc__)
    print_table(*extrapolated(Constants(**json.loads(FILE.read_text()))))
