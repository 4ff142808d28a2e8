"""Sets of classes that should hold the true one in 90% of rows: ours beside MAPIE's.

    python benchmarks/prediction_sets.py [set ...] [--processes 8]

``predict_set(X, 0.9, empty=True)`` of one fit, beside MAPIE's cross-conformal sets (five folds,
least ambiguous sets) around a logistic regression, on the same random parts of ten sets: 30 of
small sets, 3 of large ones. ``error`` is the standard error of our coverage over parts. MAPIE is
part of the extra ``bench``.
"""

import warnings
from typing import Any

import numpy as np
from mapie.classification import CrossConformalClassifier
from sklearn.linear_model import LogisticRegression

from bayesmargin import BayesianLinearSVC
from decision_sets import NAMES, compile_models, how_many, parts_of, whole_sets
from options import sets_and_processes
from reporting import finish
from workers import spread

COVERAGE, CLOSE = 0.9, 0.01


def coverage_and_size(sets: np.ndarray, label: np.ndarray) -> tuple[float, float]:
    """Share of rows whose set holds their class, and mean number of classes in sets."""
    return float(sets[np.arange(len(label)), label].mean()), float(sets.sum(axis=1).mean())


def measured(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> list[float]:
    """Coverage and size of ours and of MAPIE's."""
    warnings.simplefilter("ignore")
    ours = BayesianLinearSVC(n_jobs=1, random_state=0).fit(X, y)
    sets = ours.predict_set(X_test, COVERAGE, empty=True)
    peer = CrossConformalClassifier(
        LogisticRegression(max_iter=2000), confidence_level=COVERAGE, cv=5, random_state=0
    )
    _, found = peer.fit_conformalize(X, y).predict_set(X_test)
    return [*coverage_and_size(sets, y_test), *coverage_and_size(found[:, :, 0], y_test)]


def main() -> None:
    names, processes = sets_and_processes(__doc__, NAMES)
    warnings.simplefilter("ignore")
    compile_models()
    table: list[list[Any]] = []
    for name, X, y in whole_sets(names):
        parts = parts_of(X, y, how_many(y, 30, 3))
        found = np.array(list(spread(measured, parts, processes)))
        cover, size, peers_cover, peers_size = map(float, found.mean(axis=0))
        error = float(found[:, 0].std(ddof=1) / np.sqrt(len(found)))
        close = abs(cover - COVERAGE) <= CLOSE
        table.append([name, cover, error, peers_cover, size, peers_size, close, size <= peers_size])
        print(*table[-1], flush=True)
    close, small = sum(row[6] for row in table), sum(row[7] for row in table)
    bounds = [
        {
            "bound": "coverage within a point of 90% on every set",
            "measured": f"{close} of {len(table)}",
            "met": close == len(table),
        },
        {
            "bound": "sets at most as large as MAPIE's on every set",
            "measured": f"{small} of {len(table)}",
            "met": small == len(table),
        },
    ]
    header = [
        "set", "coverage", "error", "mapie_coverage", "size", "mapie_size", "close", "as_small",
    ]  # fmt: skip
    finish("prediction_sets", header, table, all(bound["met"] for bound in bounds), bounds)


if __name__ == "__main__":
    main()
