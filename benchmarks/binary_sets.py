"""The five binary data sets that the linear benchmarks share, standardised where they need it."""

from collections.abc import Iterator, Sequence

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from bayesmargin import datasets

BINARY_SETS = ("breast_cancer", "digits", "a9a", "ijcnn1", "higgs")


def _split(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    parts = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    return parts[0], parts[2], parts[1], parts[3]


def _scaled(parts: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    X, y, X_test, y_test = parts
    scaler = StandardScaler().fit(X)
    return scaler.transform(X), y, scaler.transform(X_test), y_test


def _fetched(name: str) -> tuple[np.ndarray, ...]:
    fetch = getattr(datasets, f"fetch_{name}")
    parts = [fetch(subset=part, return_X_y=True) for part in ("train", "test")]
    dense = [(X.toarray() if hasattr(X, "toarray") else np.asarray(X), y) for X, y in parts]
    return (*dense[0], *dense[1])


def binary_sets(names: Sequence[str] = BINARY_SETS) -> Iterator[tuple[str, tuple[np.ndarray, ...]]]:
    """Yield ``name, (X, y, X_test, y_test)``; absent sets are named and left out."""
    for name in names:
        if name == "breast_cancer":
            yield name, _scaled(_split(*load_breast_cancer(return_X_y=True)))
        elif name == "digits":
            X, y = load_digits(return_X_y=True)
            yield name, _scaled(_split(X, (y > 4).astype(int)))
        elif datasets.available(name):
            parts = _fetched(name)
            yield name, _scaled(parts) if name == "higgs" else parts
        else:
            print(f"skipped: {name} is not in the data home")
