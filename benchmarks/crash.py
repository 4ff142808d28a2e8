"""Fits killed with SIGKILL at random moments and resumed until done, compared bit by bit.

Every fit runs in a child process that the parent kills after a random time; the next child resumes
from the checkpoint, and may be killed in its turn: one to three kills a run. The draws at the end
must be those of an uninterrupted run. Checkpoints are written as often as possible, so that many
kills fall into the writing of one. Only runs that were killed at least once are counted.

Usage::

    python benchmarks/crash.py [--runs 200] [--seed 0]
"""

import os

# Children are forked from a process that has compiled everything: no thread pool may be alive.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import mmap
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from bayesmargin import (
    BayesianLinearSVC,
    DPMNLClassifier,
    InfiniteSVC,
    MedLDAClassifier,
)
from bayesmargin.errors import BayesmarginWarning
from bayesmargin.running import checkpoint as checkpoints
from bayesmargin.running import rounds
from bayesmargin.running.checkpoint import NEWEST, Checkpoint
from options import command_line
from reporting import finish

warnings.simplefilter("ignore", BayesmarginWarning)


def clouds(n_rows: int, n_features: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    label = rng.integers(0, n_classes, n_rows)
    centres = rng.standard_normal((n_classes, n_features))
    return rng.standard_normal((n_rows, n_features)) + centres[label], label


def documents(n_documents: int, n_words: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    label = rng.integers(0, n_classes, n_documents)
    rates = rng.gamma(0.3, 1.0, (n_classes, n_words))
    return rng.poisson(rates[label]), label


FITS: dict[str, tuple[Any, Any]] = {
    "linear, auto": (
        BayesianLinearSVC(n_chains=4, n_draws=1000, n_jobs=2),
        clouds(2000, 12, 3),
    ),
    "linear, one-vs-rest": (
        BayesianLinearSVC(n_chains=2, n_draws=1000, multi_class="ovr", n_jobs=1),
        clouds(1000, 10, 3),
    ),
    "MedLDA, ssgrld": (
        MedLDAClassifier(n_topics=20, sampler__n_passes=30, n_draws=8, n_jobs=2),
        documents(800, 400, 4),
    ),
    "MedLDA, gibbs": (
        MedLDAClassifier(n_topics=20, sampler__n_passes=40, n_draws=8, sampler="gibbs"),
        documents(500, 400, 3),
    ),
    "infinite SVM": (
        InfiniteSVC(n_sweeps=250, n_chains=3, n_jobs=2, concentration="learn"),
        clouds(2000, 5, 3),
    ),
    "dpMNL": (DPMNLClassifier(n_sweeps=120), clouds(1500, 4, 3)),
}


def draws_of(model: Any) -> list[np.ndarray]:
    """All draws and figures of a fitted model, in a fixed order."""
    if isinstance(model, BayesianLinearSVC):
        return [*model.posterior_.values(), model.coef_, model.link_.slopes]
    if isinstance(model, MedLDAClassifier):
        draws = [draw for p in model.posterior_ for draw in (*p.topics, *p.coef)]
        return [*draws, np.array([model.link_.slope])]
    if isinstance(model, InfiniteSVC):
        draws = [array for draw in model._draws for array in draw]
        return [*draws, model.n_components_, model.concentration_, *model._labels]
    draws = [array for d in model._draws for array in (d.log_weight, *d.experts)]
    return [*draws, model.n_components_]


def packed(model: Any) -> bytes:
    arrays = [np.ascontiguousarray(array) for array in draws_of(model)]
    return b"".join(f"{a.dtype}{a.shape}".encode() + a.tobytes() for a in arrays)


def watch_writing(flag: mmap.mmap) -> None:
    """Have the flag say whether a checkpoint is being written."""
    write = Checkpoint._write

    def watched(self: Checkpoint, *args: Any) -> None:
        flag[0] = 1
        write(self, *args)
        flag[0] = 0

    Checkpoint._write = watched  # type: ignore[method-assign]


def child(model: Any, data: Any, result: Path) -> int:
    """Fork; the child fits and leaves its draws. Returns the child's number."""
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        draft = result.with_suffix(".draft")
        draft.write_bytes(packed(model.fit(*data)))
        draft.rename(result)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def one_completion(
    model: Any, data: Any, seconds: float, rng: Any, folder: Path, flag: mmap.mmap, most: int
) -> dict[str, int]:
    """Kill and resume, ``most`` times at the most, until a child comes to its end by itself."""
    checkpoint, result = folder / "checkpoint", folder / "result"
    model.set_params(checkpoint=checkpoint, checkpoint__every=1e-3)
    counts = {"kills": 0, "writing": 0, "resumed": 0}
    while True:
        flag[0] = 0
        resumes = (checkpoint / NEWEST).exists()
        number = child(model, data, result)
        end = time.perf_counter() + rng.uniform(0.0, seconds)
        if counts["kills"] >= most:
            end = np.inf
        while time.perf_counter() < end:
            if os.waitpid(number, os.WNOHANG)[0]:
                break
            time.sleep(0.001)
        else:
            os.kill(number, signal.SIGKILL)
            _, status = os.waitpid(number, 0)
            if os.WIFSIGNALED(status):
                counts["kills"] += 1
                counts["writing"] += flag[0]
                counts["resumed"] += int(resumes)
                continue
        if not result.exists():
            raise RuntimeError("a fit failed by itself, see above")
        return counts


def measure(name: str, runs: int, seed: int, flag: mmap.mmap) -> list[Any]:
    model, data = FITS[name]
    model.set_params(random_state=seed, checkpoint=None)
    model.fit(*data)  # compiles
    seconds = np.inf
    for _ in range(2):
        began = time.perf_counter()
        expected = packed(model.fit(*data))
        seconds = min(seconds, time.perf_counter() - began)
    rng = np.random.default_rng(seed + 1)
    total = {"kills": 0, "writing": 0, "resumed": 0}
    completions = same = 0
    while completions < runs:
        folder = Path(tempfile.mkdtemp(prefix="crash-"))
        try:
            most = int(rng.integers(1, 4))
            counts = one_completion(model, data, seconds, rng, folder, flag, most)
            identical = (folder / "result").read_bytes() == expected
            if (folder / "checkpoint").exists():
                raise RuntimeError("a completed fit left its checkpoint behind")
        finally:
            shutil.rmtree(folder)
        if counts["kills"]:
            completions += 1
            same += int(identical)
        total = {key: total[key] + counts[key] for key in total}
    return [name, seconds, completions, total["kills"], total["writing"], total["resumed"], same]


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    checkpoints.LARGEST_SHARE = 1.0
    rounds.ROUND_SECONDS = 0.02
    flag = mmap.mmap(-1, 1)
    watch_writing(flag)
    each = -(-options.runs // len(FITS))
    rows = []
    for name in FITS:
        rows.append(measure(name, each, options.seed, flag))
        print(rows[-1], flush=True)
    sums = [sum(row[k] for row in rows) for k in range(2, 7)]
    rows.append(["all", sum(row[1] for row in rows), *sums])
    header = ["model", "seconds of a fit", "killed runs", "kills", "while writing",
              "of resumed fits", "bit-identical completions"]  # fmt: skip
    finish("crash", header, rows, sums[0] == sums[4] >= options.runs)


if __name__ == "__main__":
    main()
