"""What one engine costs: steps of an expert and whole fits, beside those of an earlier commit.

    python benchmarks/engine.py --before PATH [--rounds 7] [--first]

``PATH`` is a checkout (``git worktree add PATH a3deb42``: three towers). Either side runs in a
process of its own, in turn, and tells processor seconds; the best of the rounds counts. The bounds
are those that the engine was given: a step of an expert 1.1 times, whole fits 1.03 times.
``--first`` measures first fits instead, each in a fresh process that finds nothing compiled.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from options import command_line
from reporting import finish

HEADER = ("what", "before", "now", "ratio", "bound")
STEP, FIT, FIRST = 1.1, 1.03, 1.0
EXPERTS = ((3, 30), (23, 30), (23, 1000))


def expert_seconds(weights: int, rows: int, steps: int) -> float:
    """Processor seconds of one step of a thermostat, for a component of so many rows."""
    from bayesmargin.foundation.compiling import jit
    from bayesmargin.models.infinite_svc.anchor import refresh_anchor
    from bayesmargin.models.infinite_svc.chain import Settings, start_chain
    from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
    from bayesmargin.models.infinite_svc.state import Hinge
    from bayesmargin.models.infinite_svc.weights_sweep import update_experts
    from bayesmargin.models.infinite_svc.weights_thermostat import Thermostat

    @jit
    def run(method: Any, source: Any, mixture: Any, repeats: int) -> None:
        refresh_anchor(0, mixture)
        for _ in range(repeats):
            update_experts(method, source, mixture)

    rng = np.random.default_rng(0)
    design = rng.normal(size=(rows, weights))
    labels = (design[:, 0] + 0.5 * rng.normal(size=rows) > 0).astype(np.int64)
    hinge = Hinge(1.0, 1.0)
    base = make_base(np.zeros(0), 1.0, 2.0, np.eye(0), 1.0, rows)
    table = make_rows(np.zeros((rows, 0)), design, labels, base, hinge)
    settings = Settings(hinge, Thermostat(0.2, steps, 0, 1.0))
    chain = start_chain(rng, table, base, settings, np.zeros(rows, int), 2, 1.0)
    method, source, mixture = settings.method, chain.source, chain.mixture
    run(method, source, mixture, 2)
    repeats = 10
    while True:
        began = time.process_time()
        run(method, source, mixture, repeats)
        spent = time.process_time() - began
        if spent > 0.3:
            return spent / repeats / steps
        repeats *= 4


def _documents(rng: np.random.Generator) -> tuple[Any, Any]:
    """Counts of words whose halves tell the class."""
    labels = rng.integers(0, 2, 300)
    counts = [np.bincount(rng.integers(0, 200, 60) + 100 * k, minlength=300) for k in labels]
    return np.array(counts), labels


def fits() -> dict[str, Callable[[], Any]]:
    """Whole fits of the four models, some seconds each."""
    from bayesmargin import BayesianLinearSVC, DPMNLClassifier, InfiniteSVC, MedLDAClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 10))
    y = (X @ rng.normal(size=(10, 3)) + rng.gumbel(size=(4000, 3))).argmax(axis=1)
    documents, tags = _documents(rng)
    return {
        "linear": lambda: BayesianLinearSVC(random_state=0, n_jobs=1).fit(X, y),
        "infinite SVM": lambda: InfiniteSVC(random_state=0, n_jobs=1).fit(X[:1500, :4], y[:1500]),
        "dpMNL": lambda: DPMNLClassifier(random_state=0).fit(X[:150, :3], y[:150]),
        "MedLDA": lambda: MedLDAClassifier(n_topics=10, random_state=0).fit(documents, tags),
    }


def measure() -> dict[str, float]:
    """All figures of the code that is imported, in processor seconds."""
    warnings.simplefilter("ignore")
    found = {
        f"{steps} steps of an expert, {weights} weights, {rows} rows": expert_seconds(
            weights, rows, steps
        )
        for steps in (10, 1)
        for weights, rows in EXPERTS
    }
    for name, fit in fits().items():
        fit()
        began = time.process_time()
        fit()
        found[f"fit, {name}"] = time.process_time() - began
    return found


def first_fit(name: str) -> dict[str, float]:
    """Processor seconds of one model's first fit in this process."""
    warnings.simplefilter("ignore")
    fit = fits()[name]
    began = time.process_time()
    fit()
    return {f"first fit, {name}": time.process_time() - began}


def first_fits_in(folder: Path) -> dict[str, float]:
    """First fits of the checkout in ``folder``, each with an empty folder of compiled code."""
    found: dict[str, float] = {}
    for name in fits():
        with tempfile.TemporaryDirectory() as cache:
            os.environ["BAYESMARGIN_CACHE"] = cache
            found |= measured_in(folder, "--measure-first", name)
    return found


def measured_in(folder: Path, *what: str) -> dict[str, float]:
    """The same in a fresh process, of the checkout in ``folder``."""
    environment = os.environ | {"PYTHONPATH": str(folder / "src"), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, *(what or ["--measure"])]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--measure-first", metavar="MODEL")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure()))
        return
    if options.measure_first:
        print(json.dumps(first_fit(options.measure_first)))
        return
    if options.before is None:
        parser.error("--before takes the checkout to compare with")
    here = Path(__file__).parents[1]
    look = first_fits_in if options.first else measured_in
    rounds = [(look(options.before), look(here)) for _ in range(options.rounds)]
    rows: list[list[Any]] = []
    for name in rounds[0][0]:
        before, now = (min(each[side][name] for each in rounds) for side in (0, 1))
        bound = FIRST if options.first else FIT if name.startswith("fit") else STEP
        rows.append([name, before, now, now / before, bound])
    missed = [row[0] for row in rows if row[3] > row[4]]
    finish("engine_first" if options.first else "engine", HEADER, rows, not missed)


if __name__ == "__main__":
    main()
