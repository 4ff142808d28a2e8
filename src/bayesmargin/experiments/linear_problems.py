"""Data of the linear experiments: a text problem, HIGGS, and synthetic rows of its shape."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesmargin import datasets
from bayesmargin.experiments.sizes import Setup
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows.source import DenseSource, RowSource
from bayesmargin.rows.sparse import SparseSource, canonical
from bayesmargin.targets.problem import Problem

HIGGS_ACCURACY = 0.64  # of a linear model, which the synthetic labels are made to allow


@dataclass(frozen=True)
class LinearSet:
    """Training and test rows of a two-class problem; ``C``, margin and prior scale are 1."""

    name: str
    values: Any
    label: IntArray
    test_values: Any
    test_label: IntArray
    intercept: bool

    @property
    def n_rows(self) -> int:
        """Training rows."""
        return int(self.values.shape[0])

    @property
    def n_columns(self) -> int:
        """Features, the constant one not counted."""
        return int(self.values.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether rows are sparse, as those of a text problem are."""
        return bool(sparse.issparse(self.values))

    def problem(self, dense: bool = False, rows: Any = None) -> Problem:
        """Posterior of all rows or of some; ``dense`` for samplers that need dense rows."""
        values = self.values if rows is None else self.values[rows]
        label = self.label if rows is None else self.label[rows]
        source: RowSource
        if sparse.issparse(values) and not dense:
            source = SparseSource(canonical(values), self.intercept)
        else:
            full = values.toarray() if sparse.issparse(values) else values
            source = DenseSource(full, self.intercept)
        size = source.n_columns
        prior = GaussianBelief(np.zeros(size), np.ones(size))
        return Problem(source, label, 2, np.ones(len(label)), 1.0, prior)

    def small(self, dense: bool = False) -> Problem:
        """A few hundred rows, to compile with."""
        return self.problem(dense, slice(0, min(400, self.n_rows)))

    def judge(self) -> Callable[[FloatArray], float]:
        """Accuracy of a weight vector on the test rows."""
        return accuracy_on(self.test_values, self.test_label, self.intercept)

    def validation(self, seed: int) -> tuple[Problem, Callable[[FloatArray], float]]:
        """Posterior of four fifths of the training rows, and accuracy on the last fifth."""
        (rng,) = spawn_generators(seed, 1)
        mixed = rng.permutation(self.n_rows)
        held, kept = mixed[: self.n_rows // 5], np.sort(mixed[self.n_rows // 5 :])
        held = held[:20_000]
        return self.problem(rows=kept), accuracy_on(
            self.values[held], self.label[held], self.intercept
        )


def accuracy_on(values: Any, label: IntArray, intercept: bool) -> Callable[[FloatArray], float]:
    """Share of rows whose sign a weight vector gets right."""
    positive = label == 1

    def accuracy(weights: FloatArray) -> float:
        last = weights[-1] if intercept else 0.0
        scores = values @ (weights[:-1] if intercept else weights) + last
        return float(np.mean((scores > 0.0) == positive))

    return accuracy


def text_set(setup: Setup) -> LinearSet:
    """Real-sim where it is on this machine, else tf-idf of IMDb reviews."""
    if datasets.available("realsim"):
        parts = [datasets.fetch_realsim(subset=one, return_X_y=True) for one in ("train", "test")]
        (X, y), (X_test, y_test) = parts
        name = "real-sim"
    else:
        X, y, X_test, y_test = _reviews(setup)
        name = "IMDb tf-idf"
    positive = [(part > 0).astype(np.int64) for part in (y, y_test)]
    return LinearSet(name, X, positive[0], X_test, positive[1], False)


def _reviews(setup: Setup) -> tuple[Any, ...]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    (rng,) = spawn_generators(20, 1)
    texts, labels = [], []
    parts = (datasets.fetch_imdb(), datasets.fetch_imdb(subset="test"))
    sizes = (setup.choose(4000, 10_000, 25_000), setup.choose(2000, 5000, 25_000))
    for bunch, most in zip(parts, sizes, strict=True):
        chosen = rng.permutation(len(bunch.target))[:most]
        texts.append([bunch.data[k] for k in chosen])
        labels.append(np.asarray(bunch.target)[chosen])
    words = setup.choose(2000, 4000, 20_958)
    counter = TfidfVectorizer(sublinear_tf=True, max_features=words)
    X = sparse.csr_array(counter.fit_transform(texts[0]))
    return X, labels[0], sparse.csr_array(counter.transform(texts[1])), labels[1]


def higgs_set(setup: Setup) -> LinearSet:
    """HIGGS, standardised: all of it at full size where it is on this machine, else the sample."""
    whole = setup.size == "full" and datasets.available("higgs_full")
    X, y = datasets.fetch_higgs(subset="train", return_X_y=True, full=whole)
    X_test, y_test = datasets.fetch_higgs(subset="test", return_X_y=True, full=whole)
    centre, spread = X.mean(axis=0), X.std(axis=0)
    X, X_test = ((part - centre) / spread for part in (X, X_test))
    name = "HIGGS" if whole else "HIGGS sample"
    return LinearSet(
        name, X.astype(np.float32), y.astype(np.int64), X_test.astype(np.float32), y_test, True
    )


def synthetic_set(setup: Setup) -> LinearSet:
    """Gaussian rows of 28 features, noisy linear labels: HIGGS in shape and in difficulty."""
    n_rows, n_test, size = setup.choose(200_000, 10_000_000), 50_000, 28
    (rng,) = spawn_generators(28, 1)
    direction = rng.standard_normal(size)
    direction /= np.linalg.norm(direction)
    # The angle between the scores with and without noise sets the best accuracy: 1 - angle/pi.
    noise = np.tan(np.pi * (1.0 - HIGGS_ACCURACY))
    parts: list[Any] = []
    for count in (n_rows, n_test):
        X = rng.standard_normal((count, size), dtype=np.float32)
        score = X @ direction.astype(np.float32)
        y = score + np.float32(noise) * rng.standard_normal(count, dtype=np.float32) > 0.0
        parts += [X, y.astype(np.int64)]
    X, y, X_test, y_test = parts
    return LinearSet("synthetic rows of its shape", X, y, X_test, y_test, True)
