"""Ten data sets for the benchmarks of decisions, cut into random training and test parts."""

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from bayesmargin import BayesianLinearSVC
from bayesmargin.datasets import available, fetch_pendigits
from binary_sets import BINARY_SETS, binary_sets

NAMES = (*BINARY_SETS, "iris", "wine", "clouds", "digits10", "pendigits")
TRAIN_ROWS, TEST_ROWS = 4000, 20_000  # at most
SMALL = 2000  # rows, below which more parts are drawn

Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def clouds() -> tuple[np.ndarray, np.ndarray]:
    """Five overlapping classes in ten dimensions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 10))
    return X, (X @ rng.normal(size=(10, 5)) + rng.gumbel(size=(6000, 5))).argmax(axis=1)


def whole_sets(names: Sequence[str]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, rows and class numbers of each set; absent ones are left out."""
    for name, (X, y, X_test, y_test) in binary_sets([n for n in names if n in BINARY_SETS]):
        X, y = np.concatenate([X, X_test]), np.concatenate([y, y_test])
        yield name, X, np.unique(y, return_inverse=True)[1]
    loads = {"iris": load_iris, "wine": load_wine, "digits10": load_digits}
    for name in names:
        if name in loads:
            yield name, *loads[name](return_X_y=True)
        elif name == "clouds":
            yield name, *clouds()
        elif name == "pendigits" and available(name):
            X, y = fetch_pendigits(subset="train", return_X_y=True)
            yield name, np.asarray(X), np.unique(y, return_inverse=True)[1]


def parts_of(X: np.ndarray, y: np.ndarray, count: int) -> Iterator[Parts]:
    """Random parts, standardised by their training rows: X, y, X_test, y_test."""
    for seed in range(count):
        train, test = train_test_split(
            np.arange(len(y)),
            train_size=min(TRAIN_ROWS, int(0.7 * len(y))),
            random_state=seed,
            stratify=y,
        )
        test = test[:TEST_ROWS]
        scaler = StandardScaler().fit(X[train])
        yield scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]


def compile_models() -> None:
    """Have machine code of two and of more classes on disk before processes ask for it."""
    rng = np.random.default_rng(0)
    for count in (2, 3):
        X = rng.standard_normal((60, 3))
        BayesianLinearSVC(n_draws=10, n_jobs=1).fit(X, np.arange(60) % count)


def how_many(y: np.ndarray, small: int, large: int) -> int:
    """Parts that are drawn from a set."""
    return small if len(y) < SMALL else large
