"""Full covariances of the infinite SVM's components beside independent columns.

    python benchmarks/infinite_svm_covariances.py [--parts 5] [set ...]

Sets of scikit-learn, cut into halves at random, and drawn ones; defaults otherwise; means over the
cuts. Times are processor seconds of a fit with one thread of BLAS, kernels compiled before. The
verdict asks whether the choice is one: on one set at least each kind must have a log loss that is
smaller by a tenth. ("diag" makes more sweeps by default, and often more components, so its fits are
not always the shorter ones.)
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from bayesmargin import InfiniteSVC
from infinite_svm_probabilities import SETS as SMALL_SETS
from infinite_svm_probabilities import read_options
from reporting import finish

NAME = "infinite_svm_covariances"
KINDS = ("full", "diag")


def clusters(
    columns: int, redundant: int = 0, apart: float = 1.5
) -> Callable[[], tuple[np.ndarray, np.ndarray]]:
    """Two classes of four clusters each in six directions; the other columns are noise."""
    return lambda: make_classification(
        2000, columns, n_informative=6, n_redundant=redundant, n_clusters_per_class=4,
        class_sep=apart, random_state=1,
    )  # fmt: skip


SETS = {
    **SMALL_SETS,
    "clusters 10": clusters(10),
    "clusters 20": clusters(20),
    "clusters 50": clusters(50),
    "overlapping 20": clusters(20, redundant=4, apart=1.0),
}
HEADER = ["set", "training rows", "columns"] + [
    f"{what} {kind}" for what in ("log loss", "accuracy", "components", "seconds") for kind in KINDS
]


def measure(kind: str, X: np.ndarray, y: np.ndarray, parts: int) -> list[float]:
    """Log loss, accuracy, components and seconds of a fit, means over the cuts."""
    found = []
    for part in range(parts):
        train, test, labels, truth = train_test_split(
            X, y, test_size=0.5, random_state=part, stratify=y
        )
        begin = time.process_time()
        model = InfiniteSVC(components=kind, random_state=part).fit(train, labels)
        seconds = time.process_time() - begin
        chances = model.predict_proba(test)
        right = 100 * float(np.mean(model.predict(test) == truth))
        components = float(model.n_components_.mean())
        found.append([log_loss(truth, chances), right, components, seconds])
    means: list[float] = np.mean(found, axis=0).tolist()
    return means


def main() -> None:
    options = read_options(__doc__, SETS)
    warnings.simplefilter("ignore")
    rows: list[list[Any]] = []
    with threadpool_limits(1):
        for name in options.sets:
            X, y = SETS[name]()
            for kind in KINDS:  # compiles
                InfiniteSVC(components=kind, n_sweeps=12, random_state=0).fit(X, y)
            figures = [measure(kind, X, y, options.parts) for kind in KINDS]
            pairs = [value for pair in zip(*figures, strict=True) for value in pair]
            rows.append([name, len(X) // 2, X.shape[1], *pairs])
            print(*rows[-1], flush=True)
    bounds = judge(rows)
    finish(NAME, HEADER, rows, all(bound["met"] for bound in bounds), bounds)


def judge(rows: list[list[Any]]) -> list[dict[str, Any]]:
    """What the table says about the choice."""
    ratio = {row[0]: row[4] / row[3] for row in rows}
    best, worst = min(ratio, key=ratio.__getitem__), max(ratio, key=ratio.__getitem__)
    bounds = [
        ("diag has a tenth less log loss somewhere", best, ratio[best], ratio[best] <= 0.9),
        ("full has a tenth less somewhere", worst, ratio[worst], ratio[worst] >= 1.1),
    ]
    return [
        {"bound": text, "measured": f"{name}, diag over full {value:.2f}", "met": met}
        for text, name, value, met in bounds
    ]


if __name__ == "__main__":
    main()
