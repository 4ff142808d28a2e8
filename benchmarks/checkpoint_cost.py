"""What a checkpoint every 10 seconds costs in throughput, against the same fit without one.

Both fits make the same draws in one process, one after the other, in turn. The share of the time
that went into writing is measured directly, since it is smaller than the noise of a busy machine;
the ratio of the two throughputs (medians of the repetitions) is printed beside it.

Usage::

    python benchmarks/checkpoint_cost.py [--seconds 25] [--repeats 2] [--models linear,dpMNL]

With ``--models`` the rows of the others are kept from the last run.
"""

import json
import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin import BayesianLinearSVC, DPMNLClassifier, InfiniteSVC, MedLDAClassifier
from bayesmargin.errors import BayesmarginWarning
from bayesmargin.running.checkpoint import Checkpoint
from bayesmargin.samplers import SSGNHT
from options import command_line
from reporting import RESULTS, finish

EVERY = 10.0
ALLOWED = 0.02
warnings.simplefilter("ignore", BayesmarginWarning)


def table(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    return X, X @ rng.standard_normal(n_features) + 2.0 * rng.standard_normal(n_rows) > 0


def words(n_documents: int, n_words: int) -> tuple[Any, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, n_documents)
    popular = rng.dirichlet(np.full(n_words, 0.05), 10)
    counts = [rng.multinomial(100, popular[label]) for label in y]
    return sparse.csr_matrix(np.array(counts)), y


# A model whose length in draws or sweeps is set so that a fit takes the seconds asked for.
FITS: dict[str, tuple[Any, str, Any]] = {
    "linear": (
        BayesianLinearSVC(sampler=SSGNHT(thin=20, burn_in=100)),
        "n_draws",
        lambda: table(100_000, 50),
    ),
    "MedLDA": (
        MedLDAClassifier(n_topics=50, n_draws=10, n_jobs=-1),
        "sampler__n_passes",
        lambda: words(4000, 10_000),
    ),
    "infinite SVM": (
        InfiniteSVC(n_chains=2, n_jobs=2, sampler__burn_in=1),
        "n_sweeps",
        lambda: table(20_000, 10),
    ),
    "dpMNL": (DPMNLClassifier(sampler__burn_in=1), "n_sweeps", lambda: table(5000, 6)),
}


class Watch:
    """Adds up the seconds and counts the checkpoints."""

    def __init__(self) -> None:
        self.seconds, self.count = 0.0, 0
        write = Checkpoint.write

        def timed(checkpoint: Checkpoint, *args: Any) -> None:
            began = time.perf_counter()
            write(checkpoint, *args)
            self.seconds += time.perf_counter() - began
            self.count += 1

        Checkpoint.write = timed  # type: ignore[method-assign]

    def reset(self) -> None:
        self.seconds, self.count = 0.0, 0


def timed_fit(model: Any, data: Any) -> float:
    began = time.perf_counter()
    model.fit(*data)
    return time.perf_counter() - began


def length_for(model: Any, name: str, data: Any, seconds: float) -> int:
    """Value of a setting with which a fit takes about so many seconds."""
    model.set_params(**{name: 4}).fit(*data)  # compiles
    fixed = timed_fit(model, data)
    length = 16
    while True:
        taken = timed_fit(model.set_params(**{name: length}), data) - fixed
        if taken > 0.08 * seconds:
            return max(4, int(length * (seconds - fixed) / taken))
        length *= 4


def measure(name: str, seconds: float, repeats: int, watch: Watch) -> list[Any]:
    model, length, make = FITS[name]
    data = make()
    model.set_params(random_state=0, checkpoint=None)
    count = length_for(model, length, data, seconds)
    model.set_params(**{length: count})
    plain, kept, shares, written = [], [], [], 0
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            model.set_params(checkpoint=Path(folder, "checkpoint"), checkpoint__every=EVERY)
            watch.reset()
            kept.append(timed_fit(model, data))
            shares.append(watch.seconds / kept[-1])
            written += watch.count
        model.set_params(checkpoint=None)
        plain.append(timed_fit(model, data))
    ratio = statistics.median(plain) / statistics.median(kept)
    return [name, f"{length}={count}", statistics.median(plain), statistics.median(kept), written,
            ratio, max(shares)]  # fmt: skip


def kept_rows(header: list[str]) -> list[list[Any]]:
    """Rows of the last run, for the models that are not measured in this one."""
    path = RESULTS / "checkpoint_cost.json"
    if not path.exists():
        return []
    return [[row[key] for key in header] for row in json.loads(path.read_text())["rows"]]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--seconds", type=float, default=25.0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--models", default=",".join(FITS))
    options = parser.parse_args()
    watch = Watch()
    header = ["model", "length", "seconds without", "seconds with", "checkpoints",
              "throughput ratio", "share of time writing"]  # fmt: skip
    asked = options.models.split(",")
    rows = [row for row in kept_rows(header) if row[0] not in asked]
    for name in asked:
        rows.append(measure(name, options.seconds, options.repeats, watch))
        met = all(row[-1] < ALLOWED and row[-3] > 0 for row in rows)
        finish("checkpoint_cost", header, rows, met)


if __name__ == "__main__":
    main()
