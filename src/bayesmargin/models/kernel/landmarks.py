r"""Features whose products are the kernel, and what they leave out of it.

With landmarks :math:`Z`, some of the rows, and a matrix :math:`M` the features of a row are

.. math:: \varphi(x) = M^T k(Z, x), \qquad M M^T \approx k(Z, Z)^{-1},

so that :math:`\varphi(x) \cdot \varphi(x')` is the part of the kernel that the landmarks explain
(Nyström). The rest of a row's own variance, :math:`r(x) = k(x, x) - |\varphi(x)|^2`, is what its
score may still be after all landmarks are known: zero at a landmark, all of it far from every one.

Up to some 1,500 rows every row is a landmark, and nothing is left out but directions in which the
scores of the rows hardly vary. Of more rows landmarks are drawn one after another with
probabilities proportional to what those before leave out (randomly pivoted Cholesky), which covers
the data better than rows at random and does not chase outliers as the largest pivots do. Of all
directions those are kept in which the rows vary most.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from bayesmargin.errors import DataError
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.kernel.kernels import Kernel, Precomputed
from bayesmargin.models.kernel.pivots import DUST, pivots

EXACT_ROWS = 1500  # of which every one is a landmark
SEEN = 20_000  # rows, at most, among which landmarks are chosen
PER_FEATURE = 3  # landmarks for each feature, of more rows than that
BLOCK = 1 << 22  # numbers of a kernel matrix held at a time
NEGATIVE = -1e-3  # share of the largest eigenvalue at which a matrix is no kernel
USUAL = 0.95  # share of the training rows that are no news


@dataclass(frozen=True)
class FeatureMap:
    """Rows to features, and to what these leave out.

    Parameters
    ----------
    kernel : Kernel
    gamma : float
    landmarks : array of shape (n_landmarks, n_columns), or (n_landmarks,)
        Rows; of a precomputed kernel their numbers.
    mixing : array of shape (n_landmarks, n_features)
    own : float
        Kernel of a row with itself where it is not known (precomputed).
    usual : float
        Share of its own variance that is left out of a training row which is no landmark; few rows
        have more.
    """

    kernel: Kernel
    gamma: float
    landmarks: Any
    mixing: FloatArray
    own: float
    usual: float = 0.0

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.mixing.shape[1])

    def features(self, rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Features (row, feature), variance left out (row), and how new a row is, from 0 to 1."""
        values = np.empty((len(rows), self.n_features))
        for span in blocks(len(rows), len(self.mixing)):
            near = self.kernel.between(rows[span], self.landmarks, self.gamma)
            values[span] = near @ self.mixing
        own = self.kernel.of_itself(rows, self.gamma)
        known = np.einsum("ij,ij->i", values, values)
        own = np.where(np.isnan(own), np.maximum(self.own, known), own)
        rest = np.maximum(own - known, 0.0)
        share = np.divide(rest, own, out=np.ones_like(rest), where=own > 0.0)
        news = (share - self.usual) / max(1.0 - self.usual, 1e-6)
        return values, rest, np.clip(news, 0.0, 1.0)


def blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Some rows at a time, such that a matrix of so many columns is not large."""
    step = max(1, BLOCK // max(1, width))
    for first in range(0, n_rows, step):
        yield slice(first, min(first + step, n_rows))


def fit_map(
    kernel: Kernel,
    gamma: float,
    rows: FloatArray,
    columns: IntArray,
    n_features: int,
    rng: np.random.Generator,
    most: int = EXACT_ROWS,
) -> FeatureMap:
    """Landmarks and features for some rows.

    Parameters
    ----------
    columns : array of shape (n_rows,)
        Numbers that rows have in a precomputed matrix.
    n_features : int
        Features wanted, at most.
    most : int
        Landmarks, at most, unless more features are wanted; of fewer rows every one is a landmark.
    """
    given = isinstance(kernel, Precomputed)
    own = rows[np.arange(len(rows)), columns] if given else kernel.of_itself(rows, gamma)
    most = max(most, n_features)
    every = len(rows) <= most
    if every:
        chosen = np.arange(len(rows))
    else:
        some = rng.choice(len(rows), min(SEEN, len(rows)), replace=False, shuffle=False)
        count = max(n_features, min(most, PER_FEATURE * n_features, len(some)))
        chosen = some[pivots(kernel, gamma, rows[some], columns[some], own[some], count, rng)]
    points: Any = columns[chosen] if given else rows[chosen]
    gram = kernel.between(rows[chosen], points, gamma)
    values, vectors = linalg.eigh(0.5 * (gram + gram.T))
    _require_definite(values)
    kept = values > DUST * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
    if every:
        spread = values[kept] / len(rows)
    else:
        spread, turn = _main_directions(kernel, gamma, rows, points, root, rng)
        root = root @ turn
    order = np.argsort(spread)[::-1]
    mixing = np.ascontiguousarray(root[:, order[:n_features]])
    found = FeatureMap(kernel, gamma, np.ascontiguousarray(points), mixing, float(own.mean()))
    if every:
        left = alone(values, vectors)
        share = np.divide(left, own, out=np.zeros_like(left), where=own > 0.0)
    else:
        apart = np.setdiff1d(some, chosen)
        share = found.features(rows[apart if len(apart) else some])[2]
    return FeatureMap(kernel, gamma, found.landmarks, mixing, found.own, usual_share(share))


def alone(values: FloatArray, vectors: FloatArray) -> FloatArray:
    """Variance of each row's score that all others leave, by the eigenvalues of their matrix."""
    return np.asarray(
        1.0 / np.maximum(np.square(vectors) @ (1.0 / np.maximum(values, DUST)), 1e-300)
    )


def usual_share(share: FloatArray) -> float:
    """Share of its variance left out that few training rows exceed."""
    return min(float(np.quantile(np.clip(share, 0.0, 1.0), USUAL)), 0.99)


def _require_definite(values: FloatArray) -> None:
    if values[-1] <= 0.0 or values[0] < NEGATIVE * values[-1]:
        raise DataError(
            f"the kernel matrix has eigenvalues from {values[0]:.3g} to {values[-1]:.3g}: a kernel "
            "is a covariance, so none may be negative; use another kernel"
        )


def _main_directions(
    kernel: Kernel,
    gamma: float,
    rows: FloatArray,
    points: Any,
    root: FloatArray,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Variances of rows along the main directions of their features, and those directions."""
    some = rows
    if len(rows) > SEEN:
        some = rows[np.sort(rng.choice(len(rows), SEEN, replace=False, shuffle=False))]
    second = np.zeros((root.shape[1], root.shape[1]))
    for span in blocks(len(some), len(root)):
        values = kernel.between(some[span], points, gamma) @ root
        second += values.T @ values
    spread, turn = linalg.eigh(second / len(some))
    return spread, turn
