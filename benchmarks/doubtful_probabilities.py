"""Log loss of ``predict_proba`` where scores are known badly, against a calibrated ``LinearSVC``.

    python benchmarks/doubtful_probabilities.py [set ...] [--processes 8]

Two such cases: models of 30, 100 and 300 rows on ordinary test rows, and the same models on test
rows moved to three times their distance from the mean of the training rows, with their labels. The
loss of a constant guess, the share of the classes in training, stands beside them. Means over
random parts of the training rows, the same for both.
"""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from bayesmargin import BayesianLinearSVC
from binary_sets import BINARY_SETS, binary_sets
from decision_sets import compile_models
from options import sets_and_processes
from reporting import finish
from workers import spread

SIZES = (30, 100, 300)
PARTS = 8
TEST_ROWS = 5000
FAR = 3.0
LEAST = 3  # rows of a class, which the folds of the peer's calibration need


MORE_CLASSES = {"wine": load_wine, "digits10": load_digits}


def sets(names: list[str]) -> Iterator[tuple[str, tuple[np.ndarray, ...]]]:
    """Sets of two classes, then those of more."""
    yield from binary_sets([name for name in names if name not in MORE_CLASSES])
    for name, load in MORE_CLASSES.items():
        if name in names:
            X, y = load(return_X_y=True)
            parts = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
            yield name, (parts[0], parts[2], parts[1], parts[3])


def part_of(X: np.ndarray, y: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Random rows that have some of every class."""
    while True:
        chosen = rng.permutation(len(y))[:size]
        _, counts = np.unique(y[chosen], return_counts=True)
        if len(counts) == len(np.unique(y)) and counts.min() >= LEAST:
            return chosen


def losses(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> np.ndarray:
    """Losses (near, far) of ours, the peer and the constant guess, one after the other."""
    warnings.simplefilter("ignore")
    centre, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0.0] = 1.0
    near = np.clip((X_test - centre) / scale, -20.0, 20.0)
    X = (X - centre) / scale
    peer = CalibratedClassifierCV(LinearSVC(random_state=0, dual=True, max_iter=20_000), cv=LEAST)
    models = BayesianLinearSVC(n_jobs=1, random_state=0).fit(X, y), peer.fit(X, y)
    classes, counts = np.unique(y, return_counts=True)
    found = [
        log_loss(y_test, model.predict_proba(rows), labels=classes)
        for rows in (near, FAR * near)
        for model in models
    ]
    guess = np.tile(counts / len(y), (len(y_test), 1))
    return np.array([*found, log_loss(y_test, guess, labels=classes)])


def main() -> None:
    warnings.simplefilter("ignore")
    compile_models()
    names, processes = sets_and_processes(__doc__, [*BINARY_SETS, *MORE_CLASSES])
    table = []
    for name, (X, y, X_test, y_test) in sets(names):
        for size in SIZES:
            if size > 0.8 * len(y) or size < 2 * LEAST * len(np.unique(y)):
                continue
            rng = np.random.default_rng(size)
            chosen = [part_of(X, y, size, rng) for _ in range(PARTS)]
            test = X_test[:TEST_ROWS], y_test[:TEST_ROWS]
            each = ((X[part], y[part], *test) for part in chosen)
            mean = np.mean(list(spread(losses, each, processes)), axis=0)
            table.append([name, size, X.shape[1], *map(float, mean)])
            print(*table[-1], flush=True)
    header = ["set", "rows", "columns", "ours", "calibrated", "ours_far", "calibrated_far", "guess"]
    bounds = []
    for place, where in ((3, "ordinary rows"), (5, "rows far out")):
        ratio = float(np.exp(np.mean([np.log(row[place] / row[place + 1]) for row in table])))
        bounds.append(
            {
                "bound": f"{where}: geometric mean of ours over calibrated at most 1",
                "measured": f"{ratio:.3f}",
                "met": ratio <= 1.0,
            }
        )
    met = all(bound["met"] for bound in bounds)
    finish("doubtful_probabilities", header, table, met, bounds)


if __name__ == "__main__":
    main()
