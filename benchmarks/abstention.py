"""No answer where the risk is too high: the risk that is left, and whether promises are kept.

    python benchmarks/abstention.py [set ...] [--processes 8]

Six sets. Share of errors with four fifths of the rows answered: those whose most probable class is
likeliest, of one fit to all training rows, beside those to which MAPIE's split-conformal sets (a
logistic regression on 70% of the same rows, the others for the sets, at the level that answers as
many) give one class. Means over 20 random parts of small sets and 3 of large ones.

Then promises: ``predict_or_abstain(X, risk)`` of 200 fits to 500 rows of large sets, how many keep
the risk on all further rows, and how many they answer. MAPIE is part of the extra ``bench``.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from mapie.classification import SplitConformalClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from bayesmargin import BayesianLinearSVC
from bayesmargin.decisions import risk_curve
from decision_sets import compile_models, how_many, parts_of, whole_sets
from options import sets_and_processes
from reporting import finish
from workers import spread

NAMES = ("breast_cancer", "digits", "ijcnn1", "higgs", "wine", "digits10")
ANSWERED = 0.8
LEVELS = np.linspace(0.5, 0.995, 100)
PROMISES = {"ijcnn1": 0.05, "higgs": 0.3}
SPLITS, ROWS = 200, 500
KEPT = 0.95


def peers_risk(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> float:
    """Errors among the rows whose set has one class, of about as many rows as ours."""
    own, other, label, others = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    base = LogisticRegression(max_iter=2000).fit(own, label)
    levels = LEVELS[LEVELS * len(others) < len(others) - 1.5]  # which so many rows can tell
    peer = SplitConformalClassifier(base, confidence_level=list(levels), prefit=True)
    _, sets = peer.conformalize(other, others).predict_set(X_test)
    single = sets.sum(axis=1) == 1  # (row, level)
    level = int(np.abs(single.mean(axis=0) - ANSWERED).argmin())
    answer = sets[:, :, level].argmax(axis=1)
    return float((answer != y_test)[single[:, level]].mean())


def measured(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> list[float]:
    """Risk with all rows answered and with four fifths, and the peer's."""
    warnings.simplefilter("ignore")
    model = BayesianLinearSVC(n_jobs=1, random_state=0).fit(X, y)
    curve = risk_curve(model.predict_proba(X_test), y_test)
    return [curve.at(1.0), curve.at(ANSWERED), peers_risk(X, y, X_test, y_test)]


def promise(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, risk: float, seed: int
) -> tuple[bool, float]:
    """Whether a fit keeps the risk, and the share of rows that it answers."""
    warnings.simplefilter("ignore")
    model = BayesianLinearSVC(n_draws=250, n_jobs=1, random_state=seed).fit(X, y)
    answers = model.predict_or_abstain(X_test, risk)
    given = ~answers.mask
    kept = not given.any() or (answers.compressed() != y_test[given]).mean() <= risk
    return bool(kept), float(given.mean())


def promises(X: np.ndarray, y: np.ndarray, risk: float) -> Iterator[tuple[Any, ...]]:
    """Arguments of single promises: random rows, other rows, and the risk."""
    for seed in range(SPLITS):
        train, test = train_test_split(
            np.arange(len(y)), train_size=ROWS, test_size=10_000, random_state=seed, stratify=y
        )
        yield X[train], y[train], X[test], y[test], risk, seed


def main() -> None:
    names, processes = sets_and_processes(__doc__, NAMES)
    warnings.simplefilter("ignore")
    compile_models()
    table: list[list[Any]] = []
    bounds = []
    for name, X, y in whole_sets(names):
        found = list(spread(measured, parts_of(X, y, how_many(y, 20, 3)), processes))
        every, ours, peers = map(float, np.mean(found, axis=0))
        table.append([name, every, ours, peers, ours <= peers])
        print(*table[-1], flush=True)
        if name in PROMISES:
            each = promises(X, y, PROMISES[name])
            kept, answered = np.mean(list(spread(promise, each, processes)), axis=0)
            text = f"{name}: a risk of {PROMISES[name]:g} is kept in 95% of {SPLITS} splits"
            shown = f"in {100 * kept:.1f}%, {100 * answered:.0f}% of rows answered"
            bounds.append({"bound": text, "measured": shown, "met": bool(kept >= KEPT)})
            print(bounds[-1], flush=True)
    better = sum(row[4] for row in table)
    text = "with four fifths answered at most MAPIE's risk on every set"
    shown = f"{better} of {len(table)}"
    bounds.insert(0, {"bound": text, "measured": shown, "met": better == len(table)})
    header = ["set", "every_row", "four_fifths", "mapie", "met"]
    finish("abstention", header, table, all(bound["met"] for bound in bounds), bounds)


if __name__ == "__main__":
    main()
