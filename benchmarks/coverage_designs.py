"""Laws of rows with labels for ``coverage.py``, and the weights that infinitely many rows give."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

SHARD = 250_000  # rows that are minimised over at a time, for the truth
SHARPNESS = 0.01  # width over which their kinks are rounded
GROUP = 5  # rows that belong together

Rows = tuple[np.ndarray, np.ndarray]
Law = Callable[[np.random.Generator, int, int], Rows]


def _slopes(n_features: int) -> np.ndarray:
    """True directions: of alternating sign, ever smaller, scores of sd 1.5."""
    slopes = (-1.0) ** np.arange(n_features) / np.sqrt(1.0 + np.arange(n_features))
    return 1.5 * slopes / np.linalg.norm(slopes)


def _normal(rng: np.random.Generator, count: int, n_features: int) -> np.ndarray:
    return rng.standard_normal((count, n_features))


def _odds(rng: np.random.Generator, score: np.ndarray) -> np.ndarray:
    return (rng.random(len(score)) < expit(score)).astype(int)


def logistic(rng: np.random.Generator, count: int, n_features: int) -> Rows:
    """Labels of a logistic model, rows normal."""
    X = _normal(rng, count, n_features)
    return X, _odds(rng, 0.3 + X @ _slopes(n_features))


def flipped(rng: np.random.Generator, count: int, n_features: int) -> Rows:
    """A line, one label in ten turned round."""
    X = _normal(rng, count, n_features)
    y = 0.3 + X @ _slopes(n_features) > 0.0
    return X, np.where(rng.random(count) < 0.1, ~y, y).astype(int)


def heteroscedastic(rng: np.random.Generator, count: int, n_features: int) -> Rows:
    """Noise that grows along the first feature."""
    X = _normal(rng, count, n_features)
    noise = np.exp(0.5 * X[:, 0]) * rng.standard_normal(count)
    return X, (0.3 + X @ _slopes(n_features) + 1.5 * noise > 0.0).astype(int)


def heavy(rng: np.random.Generator, count: int, n_features: int) -> Rows:
    """Logistic labels, features of Student's law with three degrees of freedom."""
    X = rng.standard_t(3.0, (count, n_features))
    return X, _odds(rng, 0.3 + X @ _slopes(n_features))


def correlated(rng: np.random.Generator, count: int, n_features: int) -> Rows:
    """Logistic labels, neighbouring features with correlation 0.9."""
    X = _normal(rng, count, n_features)
    for j in range(1, n_features):
        X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(1.0 - 0.9**2) * X[:, j]
    return X, _odds(rng, 0.3 + X @ _slopes(n_features))


def rare(rng: np.random.Generator, count: int, n_features: int) -> Rows:
    """Two normal laws, one row in fifty of the second, whose mean lies three sd away."""
    X = _normal(rng, count, n_features)
    y = rng.random(count) < 0.02
    X += np.where(y[:, None], 2.0 * _slopes(n_features), 0.0)
    return X, y.astype(int)


def three(rng: np.random.Generator, count: int, n_features: int) -> Rows:
    """Three classes of a logistic model."""
    X = _normal(rng, count, n_features)
    angle = 2.0 * np.pi / 3.0 * np.arange(3)
    first = np.where(np.arange(n_features) % 2 == 0, _slopes(n_features), 0.0)
    other = _slopes(n_features) - first
    slopes = 2.0 * (np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * other)
    return X, (X @ slopes.T + rng.gumbel(size=(count, 3))).argmax(axis=1)


def grouped(rng: np.random.Generator, count: int, n_features: int) -> Rows:
    """Groups of five rows that share half of their features and of their noise."""
    own = _normal(rng, count, n_features)
    X = np.sqrt(0.5) * (own + np.repeat(_normal(rng, count // GROUP, n_features), GROUP, axis=0))
    noise = np.repeat(rng.standard_normal(count // GROUP), GROUP) + rng.standard_normal(count)
    return X, (0.3 + X @ _slopes(n_features) + noise > 0.0).astype(int)


def lopsided(rng: np.random.Generator, count: int, n_features: int) -> Rows:
    """Values with exponential noise that grows along the first feature; quantiles are lines."""
    X = rng.uniform(-1.0, 1.0, (count, n_features))
    return X, 0.3 + X @ _slopes(n_features) + (1.0 + 0.8 * X[:, 0]) * rng.exponential(size=count)


def tailed(rng: np.random.Generator, count: int, n_features: int) -> Rows:
    """Values with noise of Student's law with three degrees of freedom."""
    X = _normal(rng, count, n_features)
    return X, 0.3 + X @ _slopes(n_features) + rng.standard_t(3.0, count)


@dataclass(frozen=True)
class Design:
    """A law, its size and the settings of the fits."""

    law: Law
    n_features: int
    n_rows: int
    C: float
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def regression(self) -> bool:
        """Whether rows have values in place of classes."""
        return bool({"quantile", "epsilon"} & set(self.settings))

    @property
    def name(self) -> str:
        """As tables show it."""
        more = "".join(f" {value}" for value in self.settings.values())
        return f"{self.law.__name__}{more} {self.n_features}x{self.n_rows} C={self.C:g}"

    def sample(self, seed: int) -> Rows:
        """Rows and labels."""
        return self.law(np.random.default_rng([1, seed]), self.n_rows, self.n_features)

    def truth(self) -> np.ndarray:
        """Weights (class, feature and intercept) for infinitely many rows; shards are averaged."""
        shards = int(np.clip(40 * self.n_rows // SHARD, 4, 12))
        found = None
        total = 0.0
        for shard in range(shards):
            rng = np.random.default_rng([2, shard])
            X, y = self.law(rng, SHARD, self.n_features)
            found = self._minimum(np.column_stack([X, np.ones(SHARD)]), y, found)
            total = total + found / shards
        return np.asarray(total)

    def _minimum(self, X: np.ndarray, y: np.ndarray, start: np.ndarray | None) -> np.ndarray:
        if self.regression:
            return _line(X, y, start, **self.settings)[None]
        if self.settings.get("multi_class") == "ovr":
            return np.stack([
                _binary(X, y == k, np.ones(len(y)), None if start is None else start[k])
                for k in range(3)
            ])  # fmt: skip
        if self.law is three:
            return _joint(X, y, start)
        share = y.mean()
        weight = np.ones(len(y))
        if "class_weight" in self.settings:
            weight = np.where(y == 1, 0.5 / share, 0.5 / (1.0 - share))
        return _binary(X, y == 1, weight, None if start is None else start[0])[None]


def _binary(X: np.ndarray, y: Any, weight: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    sign = np.where(y, 1.0, -1.0)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        slack = (1.0 - sign * (X @ w)) / SHARPNESS
        value = weight @ (SHARPNESS * np.logaddexp(0.0, slack)) / len(X)
        return float(value), -(X.T @ (weight * sign * expit(slack))) / len(X)

    return _least(loss, np.zeros(X.shape[1]) if start is None else start)


def _line(
    X: np.ndarray,
    y: np.ndarray,
    start: np.ndarray | None,
    quantile: float = 0.5,
    epsilon: float = 0.0,
) -> np.ndarray:
    """Minimiser of the loss of a quantile or of a tube."""

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        residual = y - X @ w
        above, below = (residual - epsilon) / SHARPNESS, (-residual - epsilon) / SHARPNESS
        value = quantile * np.logaddexp(0.0, above) + (1.0 - quantile) * np.logaddexp(0.0, below)
        slope = (1.0 - quantile) * expit(below) - quantile * expit(above)
        return SHARPNESS * float(value.mean()), X.T @ slope / len(X)

    start = np.zeros(X.shape[1]) if start is None else start.ravel()
    return _least(loss, start)


def _joint(X: np.ndarray, y: np.ndarray, start: np.ndarray | None) -> np.ndarray:
    own = y[:, None] == np.arange(3)

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        w = flat.reshape(3, -1)
        scores = X @ w.T
        options = (scores + ~own - scores[own][:, None]) / SHARPNESS
        top = options.max(axis=1, keepdims=True)
        share = np.exp(options - top)
        norm = share.sum(axis=1, keepdims=True)
        value = SHARPNESS * float((top + np.log(norm)).mean())
        push = (share / norm - own) / len(X)
        return value, (push.T @ X).ravel()

    found = _least(loss, np.zeros(3 * X.shape[1]) if start is None else start.ravel())
    found = found.reshape(3, -1)
    return found - found.mean(axis=0)


def _least(loss: Any, start: np.ndarray) -> np.ndarray:
    options = {"ftol": 1e-14, "gtol": 1e-7, "maxiter": 1000, "maxcor": 20}
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x)


DESIGNS = [
    Design(logistic, 2, 200, 1.0),
    Design(logistic, 5, 500, 0.1),
    Design(logistic, 5, 500, 1.0),
    Design(logistic, 5, 500, 10.0),
    Design(logistic, 10, 2000, 0.1),
    Design(logistic, 10, 2000, 1.0),
    Design(logistic, 10, 2000, 10.0),
    Design(logistic, 20, 5000, 1.0),
    Design(logistic, 50, 1000, 1.0),
    Design(logistic, 50, 5000, 1.0),
    Design(logistic, 10, 50_000, 1.0),
    Design(grouped, 5, 1000, 1.0),
    Design(flipped, 5, 500, 1.0),
    Design(flipped, 10, 2000, 0.1),
    Design(heteroscedastic, 5, 500, 1.0),
    Design(heteroscedastic, 10, 2000, 10.0),
    Design(heavy, 5, 500, 1.0),
    Design(heavy, 10, 2000, 0.1),
    Design(correlated, 10, 2000, 1.0),
    Design(correlated, 20, 1000, 10.0),
    Design(rare, 5, 5000, 1.0),
    Design(rare, 5, 5000, 1.0, {"class_weight": "balanced"}),
    Design(three, 5, 2000, 1.0),
    Design(three, 5, 1000, 0.1, {"multi_class": "ovr"}),
    Design(lopsided, 2, 300, 2.0, {"quantile": 0.3}),
    Design(lopsided, 5, 2000, 0.2, {"quantile": 0.8}),
    Design(tailed, 5, 500, 1.0, {"epsilon": 0.5}),
    Design(tailed, 20, 2000, 10.0, {"quantile": 0.5}),
]
