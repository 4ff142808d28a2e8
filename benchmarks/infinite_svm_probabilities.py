"""Log loss of the infinite SVM's ``predict_proba`` beside a calibrated RBF SVM, both untuned.

    python benchmarks/infinite_svm_probabilities.py [--parts 5] [set ...]

Sets of scikit-learn, cut into halves at random; means over the cuts. The peer is calibrated by
``CalibratedClassifierCV``, once with sigmoids and once with a temperature, and on every set the
better of the two on the *test* rows counts, which favours it. Beside the losses stand accuracy and,
for the default ``C=1``, how much larger the forecast of the predicted class is than the share of
right answers: below zero the probabilities are too cautious. "no link" is the rule "probability" of
the same fits.
"""

import argparse
import warnings
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_circles,
    make_moons,
)
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayesmargin import InfiniteSVC
from options import add_sets, command_line
from reporting import finish

NAME = "infinite_svm_probabilities"
COSTS = (1.0, 3.0, 10.0)
DIGITS = 600  # rows, so that a class has some thirty to learn from
HEADER = [
    "set", "training rows", "columns", "classes", "C=1", "C=3", "C=10", "RBF SVM",
    "accuracy C=1", "accuracy RBF SVM", "boldness C=1",
    "no link C=1", "no link C=3", "no link C=10",
]  # fmt: skip


def some_digits() -> tuple[np.ndarray, np.ndarray]:
    """A part of the digits."""
    X, y = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y))[:DIGITS]
    return X[chosen], y[chosen]


SETS: dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast_cancer": lambda: load_breast_cancer(return_X_y=True),
    "moons": lambda: make_moons(600, noise=0.3, random_state=0),
    "circles": lambda: make_circles(600, noise=0.15, factor=0.5, random_state=0),
    "digits": some_digits,
}


def judge(model: Any, cut: list[np.ndarray]) -> tuple[float, float, float]:
    """Log loss, accuracy and boldness on the second half of a model that learned the first."""
    X, X_test, y, y_test = cut
    chance = model.fit(X, y).predict_proba(X_test)
    right = model.classes_[chance.argmax(axis=1)] == y_test
    loss = log_loss(y_test, chance, labels=model.classes_)
    return float(loss), float(right.mean()), float(chance.max(axis=1).mean() - right.mean())


def unlinked(model: InfiniteSVC, cut: list[np.ndarray]) -> float:
    """Log loss of a fitted model without its link."""
    chance = model.set_params(prediction="probability").predict_proba(cut[1])
    return float(log_loss(cut[3], chance, labels=model.classes_))


def measure(name: str, parts: int) -> list[Any]:
    """One row of the table."""
    X, y = SETS[name]()
    found: dict[Any, list[tuple[float, float, float]]] = {}
    raw: dict[float, list[float]] = {cost: [] for cost in COSTS}
    for seed in range(parts):
        cut = train_test_split(X, y, test_size=0.5, random_state=seed, stratify=y)
        for cost in COSTS:
            model = InfiniteSVC(C=cost, random_state=seed)
            found.setdefault(cost, []).append(judge(model, cut))
            raw[cost].append(unlinked(model, cut))
        for method in ("sigmoid", "temperature"):
            kernel = make_pipeline(StandardScaler(), SVC())
            peer = CalibratedClassifierCV(kernel, method=method)
            found.setdefault(method, []).append(judge(peer, cut))
    mean = {key: np.mean(values, axis=0) for key, values in found.items()}
    peer_mean = min((mean["sigmoid"], mean["temperature"]), key=lambda one: one[0])
    losses = [float(mean[cost][0]) for cost in COSTS]
    accuracies = [float(mean[1.0][1]), float(peer_mean[1])]
    shape = [len(y) // 2, X.shape[1], len(np.unique(y))]
    without = [float(np.mean(raw[cost])) for cost in COSTS]
    return [name, *shape, *losses, float(peer_mean[0]), *accuracies, float(mean[1.0][2]), *without]


def read_options(description: str | None, sets: Collection[str]) -> argparse.Namespace:
    """Sets and number of cuts that the command line asks for."""
    parser = command_line(description)
    add_sets(parser, sets)
    parser.add_argument("--parts", type=int, default=5)
    return parser.parse_args()


def main() -> None:
    options = read_options(__doc__, SETS)
    warnings.simplefilter("ignore")
    table = []
    for name in options.sets:
        table.append(measure(name, options.parts))
        print(*table[-1], flush=True)
    bounds = []
    for place, cost in enumerate(COSTS, start=4):
        ratio = float(np.exp(np.mean([np.log(row[place] / row[7]) for row in table])))
        text = f"C={cost:g}: geometric mean of ours over the RBF SVM's at most 1"
        bounds.append({"bound": text, "measured": f"{ratio:.3f}", "met": ratio <= 1.0})
    finish(NAME, HEADER, table, all(bound["met"] for bound in bounds), bounds)


if __name__ == "__main__":
    main()
