"""Whole fits of the array engine and the compiled one on a CPU: which is faster, and where.

    python benchmarks/engines_speed.py [--sizes 0 1 2 ...] [--limit 60] [--seconds 440]

Ten sizes, from a small table to heads of 100 classes, each engine in a process of its own that may
use the cores that this one may. Counted is a whole fit in a fresh process (JAX compiles there, and
finds nothing compiled before; Numba has its kernels from the cache, as after the first fit ever),
until 400 effective draws: seconds of the fit, times what is missing of 400. The second fit of the
process is told beside it. A fit that takes longer than ``--limit`` is stopped; so is one of JAX
that has taken more than twice as long as that of Numba, and it has lost.
``engine="auto"`` is right where the engine that it takes needs at most 1.2 times the seconds of the
other one.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin import BayesianLinearSVC
from bayesmargin.errors import BayesmarginWarning
from options import command_line
from reporting import finish

SIZES = (
    (500, 10, 2),
    (5_000, 20, 2),
    (100_000, 20, 2),
    (20_000, 300, 2),
    (2_000, 64, 10),
    (10_000, 16, 10),
    (10_000, 384, 10),
    (20_000, 64, 20),
    (5_000, 384, 50),
    (20_000, 64, 100),
)
ENGINES = ("numba", "jax")
WANTED, WITHIN = 400.0, 1.2
START = 10.0  # seconds of a process before its fit, with room
HEADER = (
    "set", "numba", "jax", "numba second", "jax second", "numba ess", "jax ess", "faster",
    "auto", "cost of auto", "met",
)  # fmt: skip


def clusters(n_rows: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Overlapping Gaussian clusters, about as hard whatever the number of features."""
    rng = np.random.default_rng(0)
    label = rng.integers(0, n_classes, n_rows)
    centres = rng.standard_normal((n_classes, n_features)) * (2.5 / np.sqrt(n_features))
    return (centres[label] + rng.standard_normal((n_rows, n_features))).astype(np.float32), label


def fit(engine: str, size: tuple[int, int, int], n_draws: int = 500) -> BayesianLinearSVC:
    """A model with the settings of a first try."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesmarginWarning)
        settings = {"engine": engine, "n_draws": n_draws, "random_state": 0}
        return BayesianLinearSVC(prior_scale="auto", **settings).fit(*clusters(*size))


def alone(engine: str, number: int, n_fits: int) -> None:
    """What a process of its own does: some fits, told as lines of JSON; a short one if none."""
    size = SIZES[number]
    if n_fits == 0:
        fit(engine, size, 20)
    for _ in range(n_fits):
        began = time.perf_counter()
        model = fit(engine, size)
        took = time.perf_counter() - began
        attrs = model.posterior_.attrs
        told = {"seconds": took, "ess": float(model.diagnostics_.min_bulk_ess),
                "engine": attrs.get("engine", "numba"), "sampler": attrs["drawn_by"]}  # fmt: skip
        print(json.dumps(told), flush=True)


def told_by(engine: str, number: int, limit: float, n_fits: int) -> list[dict[str, Any]]:
    """What a process tells of its fits, of those that end before the limit."""
    command = [sys.executable, str(Path(__file__)), "--alone", engine, "--sizes", str(number)]
    command += ["--fits", str(n_fits)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "JAX_PLATFORMS": "cpu"}
    )
    try:
        text, _ = process.communicate(timeout=START + max(1, n_fits) * limit)
    except subprocess.TimeoutExpired:
        process.kill()
        text, _ = process.communicate()
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def seconds_of(found: list[dict[str, Any]], which: int, limit: float) -> float:
    """Seconds until enough effective draws, endless where the fit did not end in time."""
    if len(found) <= which or found[which]["seconds"] > limit:
        return float("inf")
    return float(found[which]["seconds"] * max(1.0, WANTED / found[which]["ess"]))


def auto_takes(size: tuple[int, int, int]) -> str:
    """The engine that ``engine="auto"`` takes for such rows on a CPU."""
    from bayesmargin.engines.choosing import sampler_for
    from bayesmargin.samplers import Auto

    n_scores = 1 if size[2] == 2 else size[2]
    values = np.broadcast_to(np.float32(0.0), size[:2])
    found = sampler_for("auto", Auto(), values, n_scores, "gaussian")
    return "numba" if isinstance(found, Auto) else "jax"


def measure(number: int, limit: float) -> tuple[Any, ...]:
    """A row of the table."""
    size = SIZES[number]
    told_by("numba", number, limit, 0)  # fills the cache of kernels
    found = {"numba": told_by("numba", number, limit, 2)}
    enough = min(limit, START + 2.0 * seconds_of(found["numba"], 0, limit))
    found["jax"] = told_by("jax", number, enough, 2)
    first = {engine: seconds_of(found[engine], 0, limit) for engine in ENGINES}
    faster = min(ENGINES, key=lambda engine: first[engine])
    auto = auto_takes(size)
    cost = 1.0 if auto == faster else first[auto] / first[faster]
    ess = [found[engine][0]["ess"] if found[engine] else float("nan") for engine in ENGINES]
    name = f"{size[0]:,} x {size[1]}, {size[2]} classes"
    second = [seconds_of(found[engine], 1, limit) for engine in ENGINES]
    return (name, *first.values(), *second, *ess, faster, auto, cost, bool(cost <= WITHIN))


def main() -> None:
    """Measure the sizes asked for."""
    asking = command_line(__doc__)
    asking.add_argument("--sizes", type=int, nargs="*", default=list(range(len(SIZES))))
    asking.add_argument("--limit", type=float, default=60.0)
    asking.add_argument("--seconds", type=float, default=440.0)
    asking.add_argument("--alone", choices=ENGINES, help="fit here, as a process of its own")
    asking.add_argument("--fits", type=int, default=2, help="of a process of its own")
    given = asking.parse_args()
    if given.alone:
        alone(given.alone, given.sizes[0], given.fits)
        return
    os.environ["JAX_PLATFORMS"] = "cpu"
    began, rows = time.perf_counter(), []
    for number in given.sizes:
        if time.perf_counter() - began > given.seconds:
            print(f"{SIZES[number]}: left out, it is late", flush=True)
            continue
        rows.append(measure(number, given.limit))
        print(dict(zip(HEADER, rows[-1], strict=True)), flush=True)
    bounds = [
        {"bound": f"{row[0]}: auto within {WITHIN} of the faster engine",
         "measured": f"{row[-2]:.2f} times ({row[-3]})", "met": row[-1]}
        for row in rows
    ]  # fmt: skip
    met = len(rows) == len(given.sizes) and all(row[-1] for row in rows)
    part = "" if len(given.sizes) == len(SIZES) else "_" + "_".join(map(str, given.sizes))
    finish(f"engines_speed{part}", HEADER, rows, met, bounds)


if __name__ == "__main__":
    main()
