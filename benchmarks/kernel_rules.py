"""Rules by which ``BayesianSVC`` chooses, on sets that its benchmark does not use.

    python benchmarks/kernel_rules.py [set ...] [--many 10000]

For every cost and width of a grid one Gaussian fit: log loss of rows left out by computation and in
five folds of refits, and of test rows with the link of either. ``chosen`` is the test loss where
the first is least, ``refits`` where the second is, ``oracle`` the least of all; ``averaged`` is
that of the mean of the probabilities of candidates, each as likely as its rows left out say.
Beside them ``BayesianSVC`` with its defaults, with more features, with another kernel and with
chains, ``SVC`` searched and with a temperature, a Gaussian process, and boosted trees. Every set is
a part that is kept by itself.

With ``--many`` that many rows are drawn of the sets of any size: the defaults beside more features,
with which cost and width are then chosen.
"""

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import (
    load_diabetes,
    make_classification,
    make_gaussian_quantiles,
    make_hastie_10_2,
    make_moons,
)
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.gaussian_process import GaussianProcessClassifier, kernels
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayesmargin import BayesianSVC
from bayesmargin.approximation.dense import score_moments
from bayesmargin.calibration.leading import leader_of, variance_to_leader
from bayesmargin.models.kernel.kernels import RBF
from bayesmargin.models.kernel.landmarks import fit_map
from bayesmargin.models.linear.fitting import LinearData
from bayesmargin.models.linear.gaussian import folds_of, gaussian_fits
from options import add_sets, command_line
from reporting import keep_part, kept_parts

COSTS, WIDTHS = (1.0, 3.2, 10.0, 32.0, 100.0), (1 / 16, 1 / 4, 1.0, 4.0)
ROWS, TEST_ROWS, FEATURES, FOLDS, PARTS = 700, 3000, 300, 5, 2
HEADER = ["set", "what", "part", "loss", "seconds"]


def products(count: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Signs of a product of two columns of many, and noise."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((count, 28))
    noise = 0.7 * rng.standard_normal(count)
    return X, (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + noise > 0.0).astype(int)


def rare(count: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """A class in ten rows, beyond a curved border."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((count, 8))
    noise = 0.3 * rng.standard_normal(count)
    return X, (np.sin(2.0 * X[:, 0]) + X[:, 1] ** 2 + noise > 3.0).astype(int)


def diabetes() -> tuple[np.ndarray, np.ndarray]:
    """Whether a measure of the disease is beyond its usual value."""
    X, y = load_diabetes(return_X_y=True)
    return X, (y > 140).astype(int)


def hastie(count: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Inside or outside of a ball in ten dimensions."""
    X, y = make_hastie_10_2(count, random_state=4)
    return X, (y > 0.0).astype(int)


def drawn(**settings: Any) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Clusters of scikit-learn."""
    return lambda count=4000: make_classification(count, random_state=0, **settings)


SETS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "moons": lambda: make_moons(4000, noise=0.3, random_state=0),
    "clusters": drawn(n_features=20, n_informative=8, n_clusters_per_class=3, flip_y=0.05),
    "hard": drawn(
        n_features=28, n_informative=10, n_clusters_per_class=6, class_sep=0.4, flip_y=0.2
    ),
    "five": drawn(n_features=16, n_informative=10, n_classes=5, class_sep=2.0),
    "shells": lambda: make_gaussian_quantiles(
        n_samples=4000, n_features=6, n_classes=3, random_state=3
    ),
    "easy": drawn(n_features=10, n_informative=6, class_sep=3.0, flip_y=0.0),
    "ten": drawn(n_features=64, n_informative=30, n_classes=10, class_sep=3.0),
    "diabetes": diabetes,
    "products": products,
    "hastie": hastie,
    "rare": rare,
}
OF_ANY_SIZE = ("hastie", "products", "hard", "rare")


def grid_of(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray
) -> dict[str, float]:
    """Test losses by rule of choice."""
    found, chances = [], []
    fold = folds_of(y, FOLDS, np.random.default_rng(1))
    for width in WIDTHS:
        facts = (RBF(), width / X.shape[1], X, np.arange(len(X)), FEATURES)
        features = fit_map(*facts, np.random.default_rng(0))
        values, rest, _ = features.features(X)
        classes = len(np.unique(y))
        data = LinearData(values, y, np.ones(len(y)), classes, unseen=rest)
        new, new_rest, _ = features.features(X_test)
        new = np.column_stack([new, np.ones(len(new))])
        fits = None
        for cost in COSTS:
            fits = gaussian_fits(data, cost, 1.0, 1.0, start=fits)
            left, held = fits.left_out(), fits.held_out(fold)
            told = [score_moments(new, anchor) for anchor in fits.anchors]
            mean, variance = (np.stack(part, axis=1) for part in zip(*told, strict=True))
            variance += new_rest[:, None]
            if classes == 2:
                mean, variance = mean[:, 0], variance[:, 0]
            else:
                variance = variance_to_leader(variance, leader_of(mean))
            chance = [fits.link(one).probabilities(mean, variance) for one in (left, held)]
            own = np.arange(len(y_test))
            losses = [-np.log(one[own, y_test].clip(1e-12)).mean() for one in chance]
            told = (fits.losses(left).mean(), fits.losses(held).mean())
            found.append((*told, *losses))
            chances.append(chance[0])
            print(width, cost, *(f"{value:.4f}" for value in found[-1]), flush=True)
    table = np.array(found)
    weight = np.exp(-len(y) * (table[:, 0] - table[:, 0].min()))
    mixed = np.tensordot(weight / weight.sum(), np.array(chances), 1)
    least, refit = table[:, 0].argmin(), table[:, 1].argmin()
    return {
        "chosen": table[least, 2],
        "chosen, link of refits": table[least, 3],
        "refits": table[refit, 2],
        "refits, link of refits": table[refit, 3],
        "oracle": table[:, 2].min(),
        "averaged": float(log_loss(y_test, mixed)),
    }


def models_of(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Fits of whole models."""
    grid = {"C": np.logspace(-1, 3, 5), "gamma": np.logspace(-1.2, 1.2, 5) / X.shape[1]}

    def svc() -> Any:
        best = GridSearchCV(SVC(), grid, cv=FOLDS).fit(X, y).best_params_
        return CalibratedClassifierCV(SVC(**best), method="temperature", cv=FOLDS).fit(X, y)

    def trees() -> Any:
        model = HistGradientBoostingClassifier(early_stopping=True, max_iter=200, random_state=0)
        tried = {"learning_rate": [0.05, 0.15], "max_leaf_nodes": [7, 31]}
        return GridSearchCV(model, tried, scoring="neg_log_loss", cv=3).fit(X, y)

    def process() -> Any:
        kernel = kernels.ConstantKernel(1.0) * kernels.RBF(np.sqrt(X.shape[1]))
        return GaussianProcessClassifier(kernel, random_state=0).fit(X, y)

    return {
        "BayesianSVC": lambda: BayesianSVC(random_state=0, n_jobs=1).fit(X, y),
        "400 features": lambda: BayesianSVC(n_components=400, random_state=0).fit(X, y),
        "laplacian": lambda: BayesianSVC(kernel="laplacian", random_state=0).fit(X, y),
        "chains": lambda: BayesianSVC(sampler="ssgnht", random_state=0, n_jobs=1).fit(X, y),
        "SVC, temperature": svc,
        "GP": process,
        "boosting": trees,
    }


def run(name: str) -> None:
    """Measure one set and keep its part."""
    X, y = SETS[name]()
    rows: list[list[Any]] = []
    for part in range(PARTS):
        order = np.random.default_rng(part).permutation(len(y))
        count = min(ROWS, int(0.7 * len(y)))
        train, test = order[:count], order[count : count + TEST_ROWS]
        scaler = StandardScaler().fit(X[train])
        A, B = scaler.transform(X[train]), scaler.transform(X[test])
        for what, fit in models_of(A, y[train]).items():
            if what == "chains" and name == "ten":
                continue  # ten scores of many features take minutes
            began = time.perf_counter()
            model = fit()
            seconds = time.perf_counter() - began
            chance = np.asarray(model.predict_proba(B)).clip(1e-6, 1.0)
            chance /= chance.sum(axis=1, keepdims=True)
            rows.append([name, what, part, float(log_loss(y[test], chance)), seconds])
            print(*rows[-1], flush=True)
            if isinstance(model, BayesianSVC):
                print(model.profile_, model.sizes_, model.diagnostics_, sep="\n", flush=True)
        for what, loss in grid_of(A, y[train], B, y[test]).items():
            rows.append([name, what, part, float(loss), np.nan])
            print(*rows[-1], flush=True)
        keep_part("kernel_rules", name, HEADER, rows)


def of_many(name: str, count: int) -> None:
    """Settings chosen for many rows beside those that a part of them chooses, on new rows."""
    X, y = SETS[name](count + TEST_ROWS)
    scaler = StandardScaler().fit(X[:count])
    A, B, b, c = scaler.transform(X[:count]), scaler.transform(X[count:]), y[:count], y[count:]
    rows: list[list[Any]] = []
    settings: dict[str, Any] = {"random_state": 0, "n_jobs": 1}
    for what, given in (
        ("as it is", {}),
        ("400 features", {"n_components": 400}),
        ("700 features", {"n_components": 700}),
    ):
        began = time.perf_counter()
        model = BayesianSVC(**{**settings, **given}).fit(A, b)
        seconds = time.perf_counter() - began
        loss = float(log_loss(c, model.predict_proba(B)))
        rows.append([name, what, count, loss, seconds])
        facts = (model.C_, model.gamma_, model.map_.n_features, float(model.score(B, c)))
        print(*rows[-1], *facts, flush=True)
        keep_part("kernel_many", name, HEADER, rows)


def summary() -> None:
    """Mean log loss over the best of the grid, a line a rule."""
    rows = kept_parts("kernel_rules")
    best = {(r[0], r[2]): r[3] for r in rows if r[1] == "oracle"}
    for what in dict.fromkeys(row[1] for row in rows):
        ratios = {row[0]: row[3] / best[row[0], row[2]] for row in rows if row[1] == what}
        told = " ".join(f"{name} {ratio:.3f}" for name, ratio in ratios.items())
        print(f"{what:24s} {np.exp(np.mean(np.log(list(ratios.values())))):.3f}   {told}")


def main() -> None:
    asking = command_line(__doc__)
    add_sets(asking, SETS)
    asking.add_argument("--many", type=int, help="rows, of sets of any size")
    chosen = asking.parse_args()
    warnings.simplefilter("ignore")
    if chosen.many:
        for name in [one for one in OF_ANY_SIZE if one in chosen.sets]:
            of_many(name, chosen.many)
        print("verdict: kernel_many: a comparison without bounds")
        return
    for name in chosen.sets:
        run(name)
    summary()
    print("verdict: kernel_rules: a comparison without bounds")


if __name__ == "__main__":
    main()
