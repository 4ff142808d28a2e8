"""Support vector regression: exactness, the mode, time, and intervals that hold new values.

    python benchmarks/regression.py [--processes 8]

* The posterior of the tube and of a quantile against augmentation Gibbs on three sets: mean error
  in posterior standard deviations and the ratio of variances, over all weights. Both runs have a
  Monte Carlo error of some hundredths of a deviation.
* The mode: a hundredfold cost under a prior a tenth as wide has the same mode and a posterior a
  tenth as wide; its mean is compared with ``LinearSVR``, in deviations of the posterior itself.
* Seconds on 100,000 x 20 rows beside ``LinearSVR`` with a search for ``C`` and ``epsilon``.
* Shares of new values inside intervals of 50, 80, 90 and 95% on six sets, over random halves, and
  mean widths beside conformalised quantile regression (the split form: half of the training rows
  fit ``QuantileRegressor``, the other half say by how much to widen).
"""

import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine, make_friedman1
from sklearn.linear_model import QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVR

from bayesmargin import BayesianLinearSVR, BayesianQuantileRegressor
from options import command_line
from reporting import finish
from workers import add_processes, spread

LEVELS = (0.5, 0.8, 0.9, 0.95)
THREADS = 2  # both have, where seconds are compared
NEW = 10_000  # values, about, that the shares of a set are measured with, at least


def sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Six sets: four that ship with scikit-learn, two that are drawn."""
    cancer, wine, iris = (
        load_breast_cancer().data,
        load_wine().data,
        load_iris().data,
    )
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(1000, 5))
    heavy = X @ rng.standard_normal(5) + (0.1 + X[:, 0]) * rng.standard_t(3, size=1000)
    found = {
        "diabetes": load_diabetes(return_X_y=True),
        "breast_cancer": (cancer[:, 1:], cancer[:, 0]),
        "wine": (wine[:, 1:], wine[:, 0]),
        "iris": (iris[:, :3], iris[:, 3]),
        "friedman": make_friedman1(1000, noise=1.0, random_state=0),
        "heavy_tails": (X, heavy),
    }
    return {name: (StandardScaler().fit_transform(X), y) for name, (X, y) in found.items()}


def exactness(name: str, X: np.ndarray, y: np.ndarray) -> list[list[object]]:
    """The default sampler against the exact one."""
    rows: list[list[object]] = []
    for model in (BayesianLinearSVR(C="auto"), BayesianQuantileRegressor(0.8, C="auto")):
        model.set_params(random_state=0, n_draws=4000, n_jobs=1).fit(X, y)
        exact = type(model)(**{**model.get_params(), "sampler": "gibbs", "random_state": 1})
        exact.fit(X, y)
        first, second = (
            np.column_stack([m.posterior_.flat("coef"), m.posterior_.flat("intercept")])
            for m in (model, exact)
        )
        deviation = second.std(axis=0)
        error = np.sqrt(np.mean(((first.mean(axis=0) - second.mean(axis=0)) / deviation) ** 2))
        ratio = float(np.mean((first.std(axis=0) / deviation) ** 2))
        word = type(model).__name__
        rows.append([name, f"{word} against Gibbs: mean error (sd)", error, 0.05, error <= 0.05])
        rows.append([name, f"{word}: variance ratio", ratio, 0.03, abs(ratio - 1.0) <= 0.03])
    return rows


def mode(X: np.ndarray, y: np.ndarray) -> list[object]:
    known = LinearSVR(C=1.0, epsilon=10.0, max_iter=1_000_000, tol=1e-8).fit(X, y)
    posterior = BayesianLinearSVR(C=1.0, epsilon=10.0, random_state=0).fit(X, y)
    sharp = BayesianLinearSVR(C=100.0, epsilon=10.0, prior_scale=0.1, random_state=0).fit(X, y)
    away = (sharp.coef_ - known.coef_) / posterior.posterior_["coef"].std(axis=(0, 1))
    worst = float(np.abs(away).max())
    return ["diabetes", "mode beside LinearSVR, worst weight (sd)", worst, 0.1, worst <= 0.1]


def speed() -> list[object]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 20))
    y = X @ rng.standard_normal(20) + rng.standard_t(4, size=len(X))
    BayesianLinearSVR(C="auto", n_draws=50, random_state=0).fit(X[:1000], y[:1000])  # compiles
    began = time.perf_counter()
    BayesianLinearSVR(C="auto", n_jobs=THREADS, random_state=0).fit(X, y)
    ours = time.perf_counter() - began
    grid = {"C": [0.1, 1.0, 10.0], "epsilon": [0.0, 0.3, 1.0]}
    began = time.perf_counter()
    GridSearchCV(LinearSVR(), grid, cv=3, n_jobs=THREADS).fit(X, y)
    theirs = time.perf_counter() - began
    what = f"100,000 x 20: {ours:.1f} s over LinearSVR with its search, {theirs:.1f} s"
    return ["drawn", what, ours / theirs, 5.0, ours / theirs <= 5.0]


def conformalised(
    X: np.ndarray, y: np.ndarray, new: np.ndarray, level: float, rng: np.random.Generator
) -> np.ndarray:
    """Intervals of split conformalised quantile regression (Romano and others, 2019)."""
    order = rng.permutation(len(y))
    fit, rest = order[: len(y) // 2], order[len(y) // 2 :]
    lines = [
        QuantileRegressor(quantile=q, alpha=0.0).fit(X[fit], y[fit])
        for q in (0.5 - 0.5 * level, 0.5 + 0.5 * level)
    ]
    low, high = (line.predict(X[rest]) for line in lines)
    score = np.sort(np.maximum(low - y[rest], y[rest] - high))
    place = min(int(np.ceil(level * (len(rest) + 1))), len(rest)) - 1
    ends = [line.predict(new) for line in lines]
    return np.column_stack([ends[0] - score[place], ends[1] + score[place]])


def half(X: np.ndarray, y: np.ndarray, turn: int) -> np.ndarray:
    """Shares and widths (way, which of both, level) of a random half, from the other."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([1, turn])
    order = rng.permutation(len(y))
    train, test = order[: len(y) // 2], order[len(y) // 2 :]
    settings = {"C": "auto", "n_draws": 300, "n_chains": 2, "n_jobs": 1, "random_state": turn}
    tube = BayesianLinearSVR(**settings).fit(X[train], y[train])
    three = BayesianQuantileRegressor([0.05, 0.5, 0.95], **settings).fit(X[train], y[train])
    ways = (
        lambda level: tube.predict_interval(X[test], level),
        lambda level: three.predict_interval(X[test], level),
        lambda level: conformalised(X[train], y[train], X[test], level, rng),
    )
    found = []
    for way in ways:
        ends, truth = [way(level) for level in LEVELS], y[test]
        inside = [np.mean((e[:, 0] <= truth) & (truth <= e[:, 1])) for e in ends]
        found.append([inside, [np.mean(e[:, 1] - e[:, 0]) for e in ends]])
    return np.array(found)


def intervals(name: str, X: np.ndarray, y: np.ndarray, processes: int) -> list[list[object]]:
    """Shares and widths over random halves."""
    each = ((X, y, turn) for turn in range(max(10, 2 * NEW // len(y))))
    found = np.array(list(spread(half, each, processes)))
    mean = found.mean(axis=0)
    rows: list[list[object]] = []
    for k, word in enumerate(("tube", "three quantiles", "conformalised")):
        share = mean[k, 0]
        worst = float(np.abs(share - LEVELS).max())
        shown = ", ".join(f"{100 * value:.1f}" for value in share)
        relative = mean[k, 1, 2] / mean[2, 1, 2]
        what = f"{word}: {shown}% of 50, 80, 90, 95; width at 90% over conformalised {relative:.2f}"
        rows.append([name, what, worst, 0.01, word == "conformalised" or worst <= 0.01])
    return rows


if __name__ == "__main__":
    parser = command_line(__doc__)
    add_processes(parser)
    processes = parser.parse_args().processes
    warnings.simplefilter("ignore")
    there = sets()
    table = [mode(*there["diabetes"]), speed()]
    print(*table, sep="\n", flush=True)
    exact = ((name, *there[name]) for name in ("diabetes", "friedman", "heavy_tails"))
    for rows in spread(exactness, exact, processes):
        table += rows
        print(*rows, sep="\n", flush=True)
    for name, data in there.items():
        rows = intervals(name, *data, processes)
        table += rows
        print(*rows, sep="\n", flush=True)
    header = ["data", "what", "figure", "allowed", "met"]
    finish("regression", header, table, all(row[-1] for row in table))
