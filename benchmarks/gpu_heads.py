"""Heads on embeddings and large tables on a GPU: the figures that the array engine promises.

    python benchmarks/gpu_heads.py [--seconds 540] [--small] [--only TEXT] [--out FOLDER]

Laws first: on one problem the thermostat with rows in bfloat16 and in single precision against
exact Hamiltonian Monte Carlo. Then whole fits, compilation included: heads of 1,000 classes that
overlap or are separable, and exact HMC on ten million rows of two classes. Bounds: R-hat below 1.02
and 400 effective draws on the leads of some rows, a kinetic temperature within 2% of one, the times
of the table; 100,000 predictions with standard deviations in 2 s by the second call, whose draws
are on the device (of 1,000 x 1,024 weights with less than 2 GB beside rows and draws in memory, and
less than 2 GB on the device). A part that fails is told, and the rest goes on; parts that would
begin after ``--seconds`` are left out. ``--only`` runs those with a text in their names, and
``--small`` plays everything with sizes that a CPU can do. Either keeps nothing but the parts in
``--out``; ``--gather FOLDER ...`` makes one table of the parts of several runs.
"""

import json
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin import BayesianLinearSVC
from gpu_parts import fitted, law, memory_stats, predictions, streamed, streamed_at_size
from options import command_line
from reporting import finish
from stopwatch import Stopwatch

HEADER = ("part", "seconds", "limit", "facts")
COLDEST = 0.02
LARGEST_RHAT, FEWEST = 1.02, 400
BEGAN = time.perf_counter()


def clusters(n_rows: int, n_features: int, n_classes: int, apart: float, seed: int = 0) -> Any:
    """Gaussian clusters of scale one around centres of scale ``apart``, made on the device."""
    keys = jax.random.split(jax.random.key(seed), 3)
    centres = apart * jax.random.normal(keys[0], (n_classes, n_features))
    label = jax.random.randint(keys[1], (n_rows,), 0, n_classes)
    rows, piece = np.empty((n_rows, n_features), np.float32), 1 << 17
    for k, start in enumerate(range(0, n_rows, piece)):
        part = label[start : start + piece]
        noise = jax.random.normal(jax.random.fold_in(keys[2], k), (len(part), n_features))
        rows[start : start + piece] = centres[part] + noise
    return rows, np.asarray(label), np.asarray(centres)


def timed(function: Callable[[], Any], repeats: int = 10) -> float:
    """Seconds of a call, the median of several."""
    jax.block_until_ready(function())
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(function())
        found.append(time.perf_counter() - start)
    return float(np.median(found))


def machine(size: int) -> dict[str, float]:
    """Bandwidth of a copy in GB/s, and the rate of a product of bfloat16 matrices in TFLOP/s."""
    vector = jnp.ones(size * size * 16, jnp.float32)
    copy = jax.jit(lambda a: a + 1.0)
    copied = timed(lambda: copy(vector))
    matrix = jax.random.normal(jax.random.key(0), (size, size)).astype(jnp.bfloat16)
    product = jax.jit(lambda a: jnp.dot(a, a, preferred_element_type=jnp.float32))
    return {
        "copy_gb_s": 8e-9 * vector.size / copied,
        "bf16_tflop_s": 2e-12 * size**3 / timed(lambda: product(matrix)),
    }


def facts_of(model: BayesianLinearSVC) -> dict[str, Any]:
    """What a fitted model says of its run."""
    found, attrs = model.diagnostics_, model.posterior_.attrs
    told = (
        "sampler", "device", "step", "batch_size", "thin", "roughness", "stiffness",
        "leapfrog_steps", "acceptance_rate", "anchor_passes", "gradient_noise"
    )  # fmt: skip
    return {
        "rhat": found.max_rhat,
        "ess": found.min_bulk_ess,
        "tail_ess": found.min_tail_ess,
        "temperature": found.temperature,
        "bias": found.bias,
        "verdict": bool(found.trustworthy),
        "sampling_seconds": found.seconds,
        "iterations": found.n_iterations,
        "draws_kept": model.posterior_.n_draws,
        **{name: attrs[name] for name in told if name in attrs},
        "notes": attrs["notes"],
        "device_gigabytes": attrs.get("device_gigabytes"),
        "peak_gigabytes": 1e-9 * memory_stats().get("peak_bytes_in_use", 0),
    }


def sound(facts: dict[str, Any]) -> bool:
    """Whether a run is one that the promise speaks of."""
    calm = abs(facts["temperature"] - 1.0) <= COLDEST
    return facts["rhat"] < LARGEST_RHAT and facts["ess"] >= FEWEST and calm


class Book:
    """Parts that were run, told at once and written down."""

    def __init__(self, seconds: float, only: str, folder: Path) -> None:
        self.seconds, self.only, self.folder = seconds, only, folder
        self.rows: list[tuple[Any, ...]] = []
        self.bounds: list[dict[str, Any]] = []
        self.watch = Stopwatch()
        self.rate = 0.0  # of matrix products, in TFLOP/s
        folder.mkdir(parents=True, exist_ok=True)

    def part(self, name: str, limit: float | None, work: Callable[[], dict[str, Any]]) -> None:
        """Run one part, unless it is late; an error ends the part alone."""
        at = time.perf_counter() - BEGAN
        if self.only not in name:
            return
        if at > self.seconds:
            print(f"[{at:.0f} s] {name}: left out, it is late", flush=True)
            return
        print(f"[{at:.0f} s] {name} ...", flush=True)
        start = time.perf_counter()
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                facts = work()
            facts["warnings"] = [str(one.message)[:200] for one in caught][:5]
            met = bool(facts.get("met", True))
            facts["parts"] = self.watch.told()
            self.rate = facts.get("bf16_tflop_s", self.rate)
            spent = 1e-3 * facts["parts"].get("ms_a_transition", 0.0)
            if self.rate and spent and "tflop_a_transition" in facts:
                facts["share_of_rate"] = facts["tflop_a_transition"] / spent / self.rate
        except Exception as error:
            traceback.print_exc()
            facts = {"error": f"{type(error).__name__}: {error}"[:500], "met": False}
            met = False
        took = facts.pop("seconds", time.perf_counter() - start)
        met = met and (limit is None or took <= limit)
        print(f"  {took:.1f} s {'met' if met else 'MISSED'} {facts}", flush=True)
        self.rows.append((name, took, limit or "", json.dumps(facts, default=float)))
        if limit is not None or not met:
            self.bounds.append({"bound": name, "measured": f"{took:.1f} s", "met": met})
        (self.folder / "gpu_heads_parts.json").write_text(
            json.dumps(self.rows, indent=1, default=float)
        )


def head(book: Book, name: str, limit: float, sizes: tuple[int, int, int], apart: float,
         predictions: int, **settings: Any) -> None:  # fmt: skip
    """A fit of a head, and predictions with standard deviations."""
    kept: dict[str, Any] = {}

    def fit() -> dict[str, Any]:
        data = clusters(*sizes, apart)
        model, took = fitted(data, **settings)
        rng = np.random.default_rng(1)
        label = rng.integers(0, sizes[2], predictions)
        noise = rng.standard_normal((predictions, sizes[1]), dtype=np.float32)
        kept.update(model=model, rows=data[2][label] + noise, label=label)
        facts = facts_of(model)
        some = slice(0, 2000)
        accuracy = model.score(kept["rows"][some], label[some])
        products = 4e-12 * model.n_chains * facts["batch_size"] * sizes[1] * sizes[2]
        return {"seconds": took, "met": sound(facts), "accuracy": accuracy,
                "tflop_a_transition": products, **facts}  # fmt: skip

    def predict() -> dict[str, Any]:
        model, rows = kept["model"], kept["rows"]
        times = []
        for _ in range(3):
            start = time.perf_counter()
            _, deviation = model.decision_function(rows, return_std=True)
            times.append(time.perf_counter() - start)
        few = model.posterior_.flat("coef") @ rows[0]
        few = (few + model.posterior_.flat("intercept")).std(axis=0, ddof=1)
        off = float(np.max(np.abs(deviation[0] / few - 1.0)))
        return {"seconds": times[1], "first": times[0], "third": times[2], "rows": len(rows),
                "largest_error": off, "met": off < 0.02}  # fmt: skip

    book.part(name, limit, fit)
    if kept:
        book.part(f"{name}, {predictions} predictions with deviations", 2.0, predict)


def two_classes(n_rows: int, n_chains: int, n_draws: int) -> dict[str, Any]:
    """Exact HMC on many rows of 28 columns."""
    data = clusters(n_rows, 28, 2, 0.2)
    model, took = fitted(data, sampler="hmc", n_chains=n_chains, n_draws=n_draws, prior_scale=1.0)
    facts = facts_of(model)
    return {"seconds": took, "met": sound(facts), **facts}


def gathered(folders: list[Path]) -> None:
    """One table of the parts of several runs; of a part that was run twice the later one counts."""
    parts: dict[str, tuple[Any, ...]] = {}
    for folder in folders:
        for row in json.loads((folder / "gpu_heads_parts.json").read_text()):
            parts[row[0]] = tuple(row)
    bounds = []
    for name, took, limit, facts in parts.values():
        found = json.loads(facts)
        if limit or found.get("met") is False:
            met = (not limit or took <= limit) and found.get(
                "met", "rhat" not in found or sound(found)
            )
            bounds.append({"bound": name, "measured": f"{took:.1f} s", "met": bool(met)})
    met = all(bound["met"] for bound in bounds)
    finish("gpu_heads", HEADER, list(parts.values()), met, bounds)


def main() -> None:
    """Run the parts and write the table."""
    asking = command_line(__doc__)
    asking.add_argument("--seconds", type=float, default=540.0)
    asking.add_argument("--small", action="store_true")
    asking.add_argument("--only", default="")
    asking.add_argument("--out", type=Path, default=Path("/tmp"))
    asking.add_argument("--gather", type=Path, nargs="+", metavar="FOLDER")
    given = asking.parse_args()
    if given.gather:
        gathered(given.gather)
        return
    book, small = Book(given.seconds, given.only, given.out), given.small
    print(jax.__version__, jax.devices(), flush=True)
    book.part("predictions, 1,000 x 1,024 weights", 2.0, lambda: predictions(
        *((2000, 24, 20, 30) if small else (100_000, 1024, 1000, 58))))  # fmt: skip
    book.part("machine", None, lambda: machine(512 if small else 8192))
    book.part("first kernels", None, lambda: facts_of(
        fitted(clusters(2000, 6, 2, 0.5), n_draws=100, sampler="hmc")[0]))  # fmt: skip
    book.part(
        "law",
        None,
        lambda: law(
            clusters(*((500, 8, 6) if small else (10_000, 32, 50)), 0.4), 200 if small else 500
        ),
    )
    book.part("rows that stay with the host", None, lambda: streamed(
        clusters(*((600, 8, 6) if small else (20_000, 64, 50)), 0.4), 400))  # fmt: skip
    few = {"n_draws": 60 if small else 400}
    one = (2000, 16, 20) if small else (100_000, 384, 1000)
    other = (4000, 24, 20) if small else (1_280_000, 1024, 1000)
    count = 2000 if small else 100_000
    head(book, "head 100,000 x 384, overlapping", 60.0, one, 0.15, count, **few)
    head(book, "head 100,000 x 384, separable", 60.0, one, 0.6, count, **few)
    book.part("two classes, 10 million x 28, HMC", 60.0, lambda: two_classes(
        *((5000, 4, 100) if small else (10_000_000, 64, 1000))))  # fmt: skip
    head(book, "head 1.28 million x 1024, overlapping", 300.0, other, 0.1, count, **few)
    head(book, "head 1.28 million x 1024, separable", 300.0, other, 0.6, count, **few)
    some = (other[0] // 10, *other[1:])
    book.part("128,000 x 1024, streamed", None, lambda: streamed_at_size(clusters(*some, 0.1)))
    met = all(bound["met"] for bound in book.bounds)
    if small or given.only:
        print("small sizes or some parts: nothing is kept")
    else:
        finish("gpu_heads", HEADER, book.rows, met, book.bounds)


if __name__ == "__main__":
    main()
