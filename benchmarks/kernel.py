"""``BayesianSVC`` beside the ways to get probabilities from a kernel machine, each searched.

    python benchmarks/kernel.py [set ...] [--parts 1] [--processes 4] [--summary]

Eight sets (``decision_sets.py``), standardised; small sets five times in random parts of 70 and 30
per cent, large ones three times with 1,000 rows to train and 5,000 to test. All sides see the same
rows and have the same cores. ``BayesianSVC`` has its defaults, which choose everything. ``SVC`` is
searched over five costs and five widths by accuracy in five folds; on top of the best stand
``CalibratedClassifierCV`` with a sigmoid, a temperature and isotonic regression, and Venn-ABERS
predictors (five folds each). ``HistGradientBoostingClassifier`` is searched over four settings by
log loss; ``GaussianProcessClassifier`` learns its own width, where there are at most 1,500 rows and
three classes. ``best`` is the least log loss of a peer on the set. Every set is a part that is kept
by itself; ``--summary`` judges all that are kept.
"""

import json
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import decision_sets
from bayesmargin import BayesianSVC
from bayesmargin.calibration.scoring import scores
from options import add_sets, command_line
from reporting import finish, keep_part, kept_parts
from workers import add_processes

SETS = ("breast_cancer", "iris", "wine", "digits10", "a9a", "ijcnn1", "higgs", "pendigits")
SMALL_PARTS, LARGE_PARTS, ROWS, TEST_ROWS = 5, 3, 1000, 5000
FOLDS = 5
SMALLEST = 1e-6
GP_ROWS, GP_CLASSES = 1500, 3
WITHIN, BETTER, ACCURATE = 1.02, 5, 0.003
HEADER = ["set", "model", "log_loss", "calibration_error", "accuracy", "seconds"]


class Scores(SVC):
    """An SVC whose scores have the form of probabilities, as Venn-ABERS predictors ask for."""

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        found = self.decision_function(X)
        found = np.stack([-found, found], axis=1) / 2.0 if found.ndim == 1 else found
        chance = np.exp(found - found.max(axis=1, keepdims=True))
        return np.asarray(chance / chance.sum(axis=1, keepdims=True))


class VennAbers:
    """Venn-ABERS predictors around an SVC, in the form of an estimator."""

    def __init__(self, best: dict[str, float]) -> None:
        self.best = best

    def fit(self, X: np.ndarray, y: np.ndarray) -> "VennAbers":
        from venn_abers import VennAbersCalibrator

        base = Scores(decision_function_shape="ovr", **self.best)
        self.calibrator = VennAbersCalibrator(
            estimator=base, inductive=False, n_splits=FOLDS, random_state=0, shuffle=True
        )
        self.calibrator.fit(X, y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.calibrator.predict_proba(X))


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a function gives, and how long it took."""
    began = time.perf_counter()
    found = work()
    return found, time.perf_counter() - began


def measured(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, jobs: int, own: bool
) -> dict:
    """Scores and seconds of every model, ours first, or of ours alone."""
    result: dict[str, tuple[float, ...]] = {}

    def judge(name: str, model: Any, seconds: float) -> None:
        chance = np.asarray(model.predict_proba(X_test)).clip(SMALLEST, 1.0)
        chance /= chance.sum(axis=1, keepdims=True)
        predicted = model.predict(X_test) if hasattr(model, "predict") else chance.argmax(axis=1)
        found = scores(y_test, np.asarray(predicted), chance)
        figures = (found["log_loss"], found["calibration_error"], found["accuracy"])
        result[name] = (*figures, seconds)

    ours = BayesianSVC(random_state=0, n_jobs=min(jobs, 4))
    model, seconds = timed(lambda: ours.fit(X, y))
    judge("ours", model, seconds)
    print(model.C_, model.gamma_, model.map_.n_features, model.diagnostics_, flush=True)
    if own:
        return result
    width = 1.0 / X.shape[1]
    grid = {"C": np.logspace(-1, 3, 5), "gamma": width * np.logspace(-1.2, 1.2, 5)}
    search, searching = timed(lambda: GridSearchCV(SVC(), grid, cv=FOLDS, n_jobs=jobs).fit(X, y))
    best = search.best_params_
    chosen = search.predict(X_test)
    result["SVC"] = (np.nan, np.nan, float((chosen == y_test).mean()), searching)
    for method in ("sigmoid", "temperature", "isotonic"):
        peer = CalibratedClassifierCV(SVC(**best), method=method, cv=FOLDS, n_jobs=jobs)
        model, seconds = timed(lambda peer=peer: peer.fit(X, y))
        judge(method, model, searching + seconds)
    try:
        model, seconds = timed(lambda: VennAbers(best).fit(X, y))
        judge("venn_abers", model, searching + seconds)
    except ImportError:
        print("venn_abers is not installed: left out")
    boosting = {"learning_rate": [0.05, 0.15], "max_leaf_nodes": [7, 31]}
    trees = HistGradientBoostingClassifier(early_stopping=True, max_iter=200, random_state=0)
    peer = GridSearchCV(trees, boosting, scoring="neg_log_loss", cv=3, n_jobs=jobs)
    model, seconds = timed(lambda: peer.fit(X, y))
    judge("boosting", model, seconds)
    if len(y) <= GP_ROWS and len(np.unique(y)) <= GP_CLASSES:
        process = GaussianProcessClassifier(
            ConstantKernel(1.0) * RBF(np.sqrt(X.shape[1])), random_state=0, n_jobs=jobs
        )
        model, seconds = timed(lambda: process.fit(X, y))
        judge("gp", model, seconds)
    return result


def run(name: str, jobs: int, most: int, own: bool) -> None:
    """Measure one set and keep its part; with ``own`` peers are those of the part kept before."""
    decision_sets.TRAIN_ROWS, decision_sets.TEST_ROWS = ROWS, TEST_ROWS
    for _, X, y in decision_sets.whole_sets([name]):
        count = min(most, decision_sets.how_many(y, SMALL_PARTS, LARGE_PARTS))
        found = [measured(*part, jobs, own) for part in decision_sets.parts_of(X, y, count)]
        rows = [
            [name, model, *np.mean([one[model] for one in found], axis=0).tolist()]
            for model in found[0]
        ]
        if own:
            peers = [row for row in kept_parts("kernel") if row[0] == name and row[1] != "ours"]
            rows += peers
        keep_part("kernel", name, HEADER, rows)


def summary() -> None:
    """One row a set: ours beside the best peer; and the verdict."""
    table: list[list[Any]] = []
    rows = kept_parts("kernel")
    for name in SETS:
        own = {row[1]: row[2:] for row in rows if row[0] == name}
        if not own:
            continue
        peers = {k: v for k, v in own.items() if k not in ("ours", "SVC")}
        best = min(peers, key=lambda k: peers[k][0])
        ours, svc = own["ours"], own["SVC"]
        sigmoid = own["sigmoid"]
        table.append(
            [name, ours[0], best, peers[best][0], ours[0] / peers[best][0], ours[1],
             min(v[1] for v in peers.values()), ours[2], svc[2], ours[3], sigmoid[3]]
        )  # fmt: skip
    header = ["set", "log_loss", "best", "its_loss", "ratio", "calibration", "least_calibration",
              "accuracy", "SVC_accuracy", "seconds", "SVC_seconds"]  # fmt: skip
    ratios = [row[4] for row in table]
    lost = [row[8] - row[7] for row in table]
    slower = [row[9] / row[10] for row in table]
    bounds = [
        _bound(f"log loss at most {WITHIN} times that of the best peer on every set", max(ratios),
               max(ratios) <= WITHIN),
        _bound(f"less than that of the best peer on {BETTER} of {len(SETS)} sets",
               float(sum(r < 1.0 for r in ratios)), sum(r < 1.0 for r in ratios) >= BETTER),
        _bound(f"accuracy at most {ACCURATE} below the searched SVC on every set", max(lost),
               max(lost) <= ACCURATE),
        _bound("time at most that of the search with the calibration on every set", max(slower),
               max(slower) <= 1.0),
    ]  # fmt: skip
    finish("kernel", header, table, all(b["met"] for b in bounds), bounds)


def _bound(text: str, value: float, met: bool) -> dict[str, Any]:
    return {"bound": text, "measured": json.dumps(round(float(value), 4)), "met": bool(met)}


def main() -> None:
    asking = command_line(__doc__)
    add_sets(asking, SETS)
    add_processes(asking)
    asking.add_argument("--parts", type=int, default=SMALL_PARTS, help="of a set, at most")
    asking.add_argument("--ours", action="store_true", help="peers are those of the last run")
    asking.add_argument("--summary", action="store_true", help="judge the parts that are kept")
    chosen = asking.parse_args()
    warnings.simplefilter("ignore")
    if not chosen.summary:
        for count in (2, 3):
            rng = np.random.default_rng(0)
            BayesianSVC(n_draws=10).fit(rng.standard_normal((60, 3)), np.arange(60) % count)
        for name in chosen.sets:
            run(name, chosen.processes, chosen.parts, chosen.ours)
    if chosen.summary or len(chosen.sets) == len(SETS):
        summary()


if __name__ == "__main__":
    main()
