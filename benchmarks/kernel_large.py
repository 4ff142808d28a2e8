"""``BayesianSVC`` of many rows: IJCNN1 whole beside ``SVC``, time as rows grow, a million answers.

    python benchmarks/kernel_large.py [--only growth] [--jobs 4] [--components 700]

``ijcnn1``: 49,990 rows to train, 91,701 to test. ``SVC`` is fitted once with the cost and the width
that are known to be good on this set; a search of 25 settings in five folds fits it 125 times on
four fifths of the rows, so its time is told as 125 times that of one such fit. ``growth``: rows of
28 columns like those of HIGGS, from 10,000 to 1,000,000, everything chosen. ``agree``: whether
``predict`` and ``predict_proba`` name the same class on a million rows from anywhere, of two
classes and of three.
"""

import time
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayesmargin import BayesianSVC
from bayesmargin.datasets import fetch_ijcnn1
from options import command_line
from reporting import finish, keep_part

PARTS = ("ijcnn1", "growth", "agree")
ANSWERS = 1_000_000
KNOWN = {"C": 32.0, "gamma": 2.0}  # in the units of the published columns
SIZES = (10_000, 100_000, 1_000_000)
SEARCH = 125 * 0.8  # fits of all rows that a search amounts to, at least
HEADER = ["what", "rows", "components", "accuracy", "log_loss", "seconds"]
ACCURATE, FASTER, LINEAR = 0.003, 5.0, 1.0


def ijcnn1(jobs: int, count: Any) -> tuple[list[list[Any]], list[bool]]:
    """Accuracy, log loss and seconds of both."""
    parts = [fetch_ijcnn1(subset=part, return_X_y=True) for part in ("train", "test")]
    dense = [(a.toarray() if hasattr(a, "toarray") else np.asarray(a), b) for a, b in parts]
    (X, y), (X_test, y_test) = dense
    scaler = StandardScaler().fit(X)
    began = time.perf_counter()
    ours = BayesianSVC(n_components=count, n_jobs=jobs, random_state=0).fit(scaler.transform(X), y)
    seconds = time.perf_counter() - began
    rows = scaler.transform(X_test)
    chance = np.concatenate([ours.predict_proba(part) for part in np.array_split(rows, 20)])
    own = float((ours.classes_[chance.argmax(axis=1)] == y_test).mean())
    loss = float(log_loss(y_test, chance))
    keep_part("kernel_ijcnn1", "ours", HEADER, [["ours", len(y), 0, own, loss, seconds]])
    print(ours.profile_, ours.sizes_, ours.diagnostics_, sep="\n", flush=True)
    began = time.perf_counter()
    svc = SVC(**KNOWN, cache_size=2000).fit(X, y)
    single = time.perf_counter() - began
    right = float(svc.score(X_test, y_test))
    table = [
        ["ijcnn1, SVC", len(y), len(svc.support_), right, np.nan, single * SEARCH],
        ["ijcnn1, ours", len(y), ours.map_.n_features, own, loss, seconds],
    ]
    return table, [own >= right - ACCURATE, seconds <= single * SEARCH / FASTER]


def growth(jobs: int, count: Any) -> tuple[list[list[Any]], list[bool]]:
    """Seconds as rows grow; the last size may take as much more as there are more rows."""
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((3, 28)) / np.sqrt(28)
    table: list[list[Any]] = []
    for size in SIZES:
        X = rng.standard_normal((size, 28))
        first, second, third = directions @ X.T
        y = (first * second + 0.5 * third + 0.7 * rng.standard_normal(size) > 0.0).astype(int)
        began = time.perf_counter()
        model = BayesianSVC(n_components=count, n_jobs=jobs, random_state=0).fit(X, y)
        seconds = time.perf_counter() - began
        some = X[:20_000]
        loss = float(log_loss(y[:20_000], model.predict_proba(some)))
        right = float(model.score(some, y[:20_000]))
        table.append(["growth", size, model.map_.n_features, right, loss, seconds])
        print(*table[-1], model.C_, model.gamma_, model.diagnostics_, flush=True)
        keep_part("kernel_growth", str(size), HEADER, table[-1:])
    times = [row[-1] for row in table]
    power = float(np.polyfit(np.log(SIZES), np.log(times), 1)[0])
    print(f"time grows as rows to the power of {power:.2f}")
    return table, [power <= LINEAR]


def agree(jobs: int, count: Any) -> tuple[list[list[Any]], list[bool]]:
    """Share of rows on which the most probable class is the predicted one."""
    rng = np.random.default_rng(0)
    table: list[list[Any]] = []
    for classes in (2, 3):
        X = rng.standard_normal((600, 4))
        scores = np.column_stack([X[:, 0] * X[:, 1], X[:, 2], X[:, 3] - 0.5])[:, :classes]
        y = (scores + 0.3 * rng.standard_normal(scores.shape)).argmax(axis=1)
        model = BayesianSVC(n_components=count, n_jobs=jobs, random_state=0).fit(X, y)
        rows = rng.standard_cauchy((ANSWERS, 4))
        began = time.perf_counter()
        same, loss = 0.0, float("nan")
        for part in np.array_split(rows, 50):
            chance = model.predict_proba(part)
            same += float((model.classes_[chance.argmax(axis=1)] == model.predict(part)).sum())
        facts = [ANSWERS, model.map_.n_features, same / ANSWERS, loss]
        table.append([f"agree, {classes} classes", *facts, time.perf_counter() - began])
        print(*table[-1], flush=True)
    return table, [row[3] == 1.0 for row in table]


def main() -> None:
    asking = command_line(__doc__)
    asking.add_argument("--only", choices=PARTS)
    asking.add_argument("--jobs", type=int, default=4)
    asking.add_argument("--components", type=int, help="features; else chosen")
    chosen = asking.parse_args()
    for part in [chosen.only] if chosen.only else PARTS:
        table, met = {"ijcnn1": ijcnn1, "growth": growth, "agree": agree}[part](
            chosen.jobs, chosen.components or "auto"
        )
        given = f"_{chosen.components}" if chosen.components else ""
        finish(f"kernel_{part}{given}", HEADER, table, all(met))


if __name__ == "__main__":
    main()
