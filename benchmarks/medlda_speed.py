"""Training speed on 20 Newsgroups, K = 50, 20 classes: words a second, and two threads for one.

    python benchmarks/medlda_speed.py

A word counts once for every sweep over it. The rate a core is taken from processor seconds, the
gain of two threads from the clock on the wall (best of several rounds: it needs an idle machine).
"""

import time
from typing import Any

import numpy as np

from bayesmargin import MedLDAClassifier
from bayesmargin.datasets import fetch_20newsgroups_counts
from medlda_tools import Run, report, warm_up

PUBLIC_PROGRAM = 1.1e6


def measure(train: Any, n_jobs: int, rule: str, n_steps: int = 44) -> dict[str, Any]:
    """Rates of one pass once the chain has settled (half a pass)."""
    model = MedLDAClassifier(n_jobs=n_jobs, multi_class=rule, random_state=0)
    run = Run(model, train.data, train.target)
    lengths = run.documents.lengths
    steps = run.steps(3)
    for _ in range(22):
        next(steps)
    chain: Any = run.training.learners[0].chain  # type: ignore[attr-defined]
    crew: Any = run.training.learners[0]._crew  # type: ignore[attr-defined]
    rng = np.random.default_rng(1)
    sampling = whole = processor = 0.0
    words = 0
    for _ in range(n_steps):
        chosen = rng.choice(len(lengths), model.batch_size, replace=False)
        words += int(lengths[chosen].sum()) * model.n_sweeps
        begun, busy = time.perf_counter(), time.process_time()
        chain._sample(run.documents, run.signs, chosen, chain.coef, crew)
        sampling += time.process_time() - busy
        for tool in crew.tools:
            tool.counts[:] = 0
        busy = time.process_time()
        chain.step(run.documents, run.signs, chosen, len(lengths), crew)
        processor += time.process_time() - busy
        whole += time.perf_counter() - begun
    run.training.close()
    return {
        "multi_class": rule,
        "threads": n_jobs,
        "sampling words/s/core": words / sampling,
        "training words/s/core": words / processor,
        "wall seconds": whole,
    }


def main() -> None:
    train = fetch_20newsgroups_counts()
    rows = []
    for rule in ("multi_task", "crammer_singer"):
        warm_up(MedLDAClassifier(multi_class=rule), train.data, train.target)
        rounds = [[measure(train, n_jobs, rule) for n_jobs in (1, 2)] for _ in range(3)]
        rows += [min((r[j] for r in rounds), key=lambda row: row["wall seconds"]) for j in (0, 1)]
    gain = rows[0]["wall seconds"] / rows[1]["wall seconds"]
    rate, total = rows[0]["sampling words/s/core"], rows[0]["training words/s/core"]
    verdicts = {
        "at least 3 M words/s a core in training": {
            "met": total >= 3e6,
            "measured": f"{total / 1e6:.2f} M with the steps of topics and weights "
            f"({rate / 1e6:.2f} M sampling alone); {total / PUBLIC_PROGRAM:.1f} times the best "
            "public program",
        },
        "two cores at least 1.7 times one": {"met": gain >= 1.7, "measured": f"{gain:.2f}"},
    }
    report("medlda_speed", rows, verdicts)


if __name__ == "__main__":
    main()
