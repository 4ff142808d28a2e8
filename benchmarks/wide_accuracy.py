"""Test accuracy and time on sparse data against a tuned LinearSVC.

LinearSVC chooses C from a grid on a fifth of the training rows held out. Ours takes its defaults
for two classes. Sector has 105 classes of 61 rows on average, 5.8 million weights: there one binary
model a class with a few draws, and the scale of the prior is chosen on the same fifth. The times of
the final fits and of all together are reported, each the best of some repetitions.

    python benchmarks/wide_accuracy.py [reuters a9a imdb sector]
"""

import json
import resource
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from bayesmargin import BayesianLinearSVC, datasets
from bayesmargin.samplers import SSGNHT
from options import chosen_sets

RESULTS = Path(__file__).parent / "results"
GRID = (0.1, 0.3, 1.0, 3.0, 10.0)
OWN = {"sector": ({"C": 10.0, "prior_scale": 1.0}, {"C": 30.0, "prior_scale": 0.3})}
FIXED = {
    "sector": {
        "multi_class": "ovr",
        "n_draws": 25,  # of 5.8 million weights each
        "sampler": SSGNHT(integrator="badodab", burn_in=50, thin=4),
    }
}
REPETITIONS = {"reuters": 5, "a9a": 3, "imdb": 2}  # the first may compile


def imdb() -> tuple:
    from sklearn.feature_extraction.text import TfidfVectorizer

    train, test = datasets.fetch_imdb(), datasets.fetch_imdb(subset="test")
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=3, dtype=np.float32)
    return (
        vectorizer.fit_transform(train.data),
        train.target,
        vectorizer.transform(test.data),
        test.target,
    )


def loaded(name: str) -> tuple:
    if name == "imdb":
        return imdb()
    fetch = {
        "reuters": datasets.fetch_reuters_moneyfx,
        "a9a": datasets.fetch_a9a,
        "sector": datasets.fetch_sector,
    }[name]
    return *fetch(return_X_y=True), *fetch(subset="test", return_X_y=True)


def narrow_indices(matrix):
    """LinearSVC takes 32-bit indices only."""
    matrix = sparse.csr_matrix(matrix)
    matrix.indices, matrix.indptr = (
        part.astype(np.int32) for part in (matrix.indices, matrix.indptr)
    )
    return matrix


def tuned(make, grid, X, y) -> dict:
    """Best settings of a grid on a fifth held out."""
    if len(grid) == 1:
        return grid[0]
    inner, held, inner_y, held_y = train_test_split(X, y, test_size=0.2, random_state=0, stratify=y)
    scores = [make(**one).fit(inner, inner_y).score(held, held_y) for one in grid]
    print("  held out:", ", ".join(f"{one} {s:.4f}" for one, s in zip(grid, scores, strict=True)))
    return grid[int(np.argmax(scores))]


def timed(make, grid, X, y, repetitions: int) -> tuple:
    """Fitted model, its settings, and least seconds of the choice and of the last fit."""
    choice, last = [], []
    for _ in range(repetitions):
        began = time.perf_counter()
        found = tuned(make, grid, X, y)
        chosen = time.perf_counter()
        model = make(**found).fit(X, y)
        choice.append(chosen - began)
        last.append(time.perf_counter() - chosen)
    return model, found, min(choice), min(last)


def compare(name: str) -> dict:
    X, y, X_test, y_test = loaded(name)
    X, X_test = narrow_indices(X), narrow_indices(X_test)
    repetitions = REPETITIONS.get(name, 1)
    grid = tuple({"C": C} for C in GRID)
    svc, best, tuning, svc_seconds = timed(LinearSVC, grid, X, y, repetitions)
    ours = partial(BayesianLinearSVC, random_state=0, **FIXED.get(name, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model, _, own_tuning, seconds = timed(ours, OWN.get(name, ({},)), X, y, repetitions)
    return {
        "svc_C": best["C"],
        "svc_accuracy": svc.score(X_test, y_test),
        "svc_seconds": svc_seconds,
        "svc_tuning_seconds": tuning,
        **{key: model.get_params()[key] for key in ("C", "prior_scale", "multi_class", "n_draws")},
        "accuracy": model.score(X_test, y_test),
        "seconds": seconds,
        "tuning_seconds": own_tuning,
        "rhat": model.diagnostics_.max_rhat,
        "bias": model.diagnostics_.bias,
        "trustworthy": bool(model.diagnostics_.trustworthy),
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def within(row: dict, tuning: bool) -> bool:
    """Whether ours takes at most 10 times as long."""
    ours, other = row["seconds"], row["svc_seconds"]
    if tuning:
        ours, other = ours + row["tuning_seconds"], other + row["svc_tuning_seconds"]
    return bool(ours <= 10.0 * other)


def main() -> None:
    names = chosen_sets(__doc__, ["reuters", "a9a", "imdb", "sector"])
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / "wide_accuracy.json"
    table = json.loads(path.read_text()) if path.exists() else {}
    print(f"{'set':9} {'LinearSVC':>10} {'ours':>7} {'s':>7} {'s':>7}  ratio (with tuning)  bias")
    for name in names:
        row = table[name] = compare(name)
        path.write_text(json.dumps(table, indent=1))
        ratio = row["seconds"] / row["svc_seconds"]
        whole = (row["seconds"] + row["tuning_seconds"]) / (
            row["svc_seconds"] + row["svc_tuning_seconds"]
        )
        print(
            f"{name:9} {row['svc_accuracy']:10.4f} {row['accuracy']:7.4f} "
            f"{row['svc_seconds']:7.2f} {row['seconds']:7.2f} {ratio:6.1f} ({whole:.1f}) "
            f"{row['bias']:+.3f}",
            flush=True,
        )
    accurate = all(row["accuracy"] >= row["svc_accuracy"] - 0.005 for row in table.values())
    slow = [name for name, row in table.items() if not within(row, tuning=False)]
    slower = [name for name, row in table.items() if not within(row, tuning=True)]
    print("verdict: accuracy", "met" if accurate else "missed")
    print("10 times the time of one LinearSVC: missed by", ", ".join(slow) or "none")
    print("10 times the time with both sides' choice of C: missed by", ", ".join(slower) or "none")


if __name__ == "__main__":
    main()
