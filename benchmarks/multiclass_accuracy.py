"""Several classes, default settings against exact sampling: what they share and what differs.

    python benchmarks/multiclass_accuracy.py [set ...]

The hinge of Crammer and Singer sees differences of classes only. What all classes share has the
prior's law N(0, 1/L), which needs no reference; the contrasts (each class less the mean of all) are
compared with the library's augmentation Gibbs sampler: error of their means in posterior standard
deviations and the ratio of variances. Met if the variance of the shared part is within 2% and that
of the contrasts within 3% on average.
"""

import time
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from bayesmargin import BayesianLinearSVC
from bayesmargin.datasets import available, fetch_pendigits
from bayesmargin.errors import ConvergenceWarning
from options import chosen_sets
from reporting import finish

DRAWS = {"wine": 5000, "clouds": 3000, "digits": 500, "pendigits": 500}  # a chain of the reference
SHARED, CONTRASTS = 0.02, 0.03
HEADER = [
    "set", "rows", "weights", "classes", "shared", "contrasts", "least", "most", "mean error",
    "bias", "seconds", "exact seconds", "met",
]  # fmt: skip


def clouds() -> tuple[np.ndarray, np.ndarray]:
    """Five overlapping classes in ten dimensions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 10))
    return X, (X @ rng.normal(size=(10, 5)) + rng.gumbel(size=(2000, 5))).argmax(axis=1)


def parts(model: BayesianLinearSVC) -> tuple[np.ndarray, np.ndarray]:
    """Draws of the shared part and of the contrasts, intercepts included."""
    draws = model.posterior_["coef"], model.posterior_["intercept"][..., None]
    table = np.concatenate(draws, axis=-1)
    table = table.reshape(-1, *table.shape[2:])
    shared = table.mean(axis=1)
    return shared, table - shared[:, None]


def timed(X: np.ndarray, y: np.ndarray, **settings: Any) -> tuple[BayesianLinearSVC, float]:
    """A fit and its processor seconds; kernels are compiled before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of twenty draws
        BayesianLinearSVC(**{**settings, "n_draws": 20, "n_chains": 1}).fit(X, y)
    began = time.process_time()
    model = BayesianLinearSVC(**settings).fit(X, y)
    return model, time.process_time() - began


def measure(name: str, X: np.ndarray, y: np.ndarray) -> list[Any]:
    """One line of the table."""
    X = StandardScaler().fit_transform(X)
    classes = len(np.unique(y))
    model, seconds = timed(X, y, random_state=0, n_draws=2000)
    exact, longer = timed(X, y, random_state=1, n_draws=DRAWS[name], sampler="gibbs")
    (shared, contrasts), (_, truth) = parts(model), parts(exact)
    ratio = contrasts.var(axis=0) / truth.var(axis=0)
    gap = (contrasts.mean(axis=0) - truth.mean(axis=0)) / truth.std(axis=0)
    spread = classes * float(shared.var(axis=0).mean())
    met = abs(spread - 1.0) < SHARED and abs(float(ratio.mean()) - 1.0) < CONTRASTS
    return [
        name, len(y), model.coef_.size + classes, classes, spread, float(ratio.mean()),
        float(ratio.min()), float(ratio.max()), float(np.sqrt(np.mean(gap**2))),
        model.diagnostics_.bias, seconds, longer, met,
    ]  # fmt: skip


def main() -> None:
    sets = {
        "wine": lambda: load_wine(return_X_y=True),
        "clouds": clouds,
        "digits": lambda: load_digits(return_X_y=True),
    }
    if available("pendigits"):
        sets["pendigits"] = lambda: fetch_pendigits(return_X_y=True)
    table = [measure(name, *sets[name]()) for name in chosen_sets(__doc__, sets)]
    finish("multiclass_accuracy", HEADER, table, all(row[-1] for row in table))


if __name__ == "__main__":
    main()
