"""20 Newsgroups (counts, stop words removed, K = 50): the three methods side by side.

    python benchmarks/medlda.py [--seeds 3] [--sweeps 100]

Test accuracy against processor seconds and documents processed, all with default settings, one
thread. Accuracy is the better of one draw and the average over the draws kept, for every method.
"""

import argparse
from typing import Any

import numpy as np

from bayesmargin import MedLDAClassifier
from bayesmargin.datasets import fetch_20newsgroups_counts
from bayesmargin.models.medlda.documents import check_counts, to_documents
from bayesmargin.models.medlda.learners import minibatches
from bayesmargin.models.medlda.parameters import PASSES
from medlda_tools import Run, report, warm_up

TARGET, EARLY = 0.81, 0.75
RNG = np.random.default_rng(0)


def follow(method: str, seed: int, looks: Any, n_passes: int, data: Any) -> list[dict[str, Any]]:
    """Rows (seconds, documents, accuracy) of one run at the steps that ``looks`` picks."""
    train, test_documents, test_labels = data
    run = Run(MedLDAClassifier(method=method, random_state=seed), train.data, train.target)
    rows: list[dict[str, Any]] = []
    for step in run.steps(n_passes):
        if looks(step, rows):
            rows.append(
                {
                    "method": method,
                    "seed": seed,
                    "step": step,
                    "documents": run.documents_seen,
                    "seconds": run.seconds,
                    "one draw": run.accuracy(test_documents, test_labels, 1),
                    "averaged": run.accuracy(test_documents, test_labels),
                }
            )
            rows[-1]["accuracy"] = max(rows[-1]["one draw"], rows[-1]["averaged"])
            print(rows[-1], flush=True)
    run.training.close()
    return rows


def early(rows: list[dict[str, Any]]) -> int | None:
    """Documents processed when 75% was first reached."""
    return next((row["documents"] for row in rows if row["accuracy"] >= EARLY), None)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sweeps", type=int, default=100)
    options = parser.parse_args()
    train, test = fetch_20newsgroups_counts(), fetch_20newsgroups_counts(subset="test")
    data = (train, to_documents(check_counts(test.data, "test")), test.target)
    for method in ("ssgrld", "gibbs", "pa"):
        warm_up(MedLDAClassifier(method=method), train.data, train.target)
    batch = MedLDAClassifier().batch_size
    sizes = [len(b) for b in minibatches(train.data.shape[0], batch, PASSES["ssgrld"], RNG, 1)]
    seen = np.cumsum(sizes)
    ends = set(np.searchsorted(seen, train.data.shape[0] * np.arange(1, 10)) + 1)

    def ssgrld_looks(step: int, rows: list[dict[str, Any]]) -> bool:
        searching = early(rows) is None and seen[step - 1] >= 1500
        return searching or step in ends or step == len(sizes)

    def gibbs_looks(step: int, rows: list[dict[str, Any]]) -> bool:
        return step in (1, 2, 3, 4, 6, 8, 12, 16) or step % 10 == 0

    runs: dict[str, list[list[dict[str, Any]]]] = {
        "ssgrld": [
            follow("ssgrld", s, ssgrld_looks, PASSES["ssgrld"], data) for s in range(options.seeds)
        ],
        "gibbs": [follow("gibbs", 0, gibbs_looks, options.sweeps, data)],
        "pa": [follow("pa", 0, lambda step, _: step in ends, 3, data)],
    }
    rows = [row for several in runs.values() for rows in several for row in rows]
    report("medlda", rows, judge(runs))


def judge(runs: dict[str, list[list[dict[str, Any]]]]) -> dict[str, dict[str, Any]]:
    """The targets of this benchmark."""
    ends = [rows[-1] for rows in runs["ssgrld"]]
    accuracy = float(np.median([row["accuracy"] for row in ends]))
    seconds = float(np.median([row["seconds"] for row in ends]))
    gibbs = runs["gibbs"][0]
    best = max(gibbs, key=lambda row: row["accuracy"])
    ours = [early(rows) for rows in runs["ssgrld"]]
    theirs = early(gibbs)
    few = float(np.median([n for n in ours if n is not None])) if any(ours) else None
    return {
        f"ssgrld reaches {TARGET:.0%} with default settings": {
            "met": accuracy >= TARGET,
            "measured": f"median {accuracy:.4f} of {len(ends)} seeds, "
            f"{min(row['accuracy'] for row in ends):.4f} to "
            f"{max(row['accuracy'] for row in ends):.4f}",
        },
        "in a quarter of the time that gibbs needs for its own best": {
            "met": seconds <= best["seconds"] / 4.0,
            "measured": f"{seconds:.1f} s against {best['seconds']:.1f} s "
            f"(gibbs: {best['accuracy']:.4f} at sweep {best['step']})",
        },
        f"ten times fewer documents to {EARLY:.0%}": {
            "met": few is not None and theirs is not None and few <= theirs / 10.0,
            "measured": f"{few} against {theirs}",
        },
    }


if __name__ == "__main__":
    main()
