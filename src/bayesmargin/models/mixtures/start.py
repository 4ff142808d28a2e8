"""Choices made from the data: standardised features, first partition, base measure."""

import math
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

from bayesmargin.foundation.types import FloatArray, IntArray

_SMALL = 3000
_ROWS_A_CLUSTER = 100
_MOST_CLUSTERS = 100


class Scaling(NamedTuple):
    """Centre and width of every feature; a constant one has infinite width and becomes 0.

    So it does in new rows, whatever its value there: nothing was learned about it.
    """

    centre: FloatArray
    width: FloatArray

    def apply(self, X: FloatArray) -> FloatArray:
        """Standardised copy of ``X``."""
        value: FloatArray = np.ascontiguousarray((X - self.centre) / self.width)
        return value


def fit_scaling(X: FloatArray) -> Scaling:
    """Means and standard deviations, safe for constant columns."""
    centre, width = X.mean(axis=0), X.std(axis=0)
    tiny = width <= 1e-10 * np.maximum(np.abs(centre), 1e-300)
    return Scaling(centre, np.where(tiny | (width == 0), np.inf, width))


def default_clusters(rows: int) -> int:
    """Number of k-means clusters that a chain starts from: a quarter of sqrt(rows), at most 100."""
    return max(1, min(_MOST_CLUSTERS, math.ceil(math.sqrt(rows) / 4)))


def first_partition(X: FloatArray, clusters: int, seed: int) -> IntArray:
    """K-means labels; fewer clusters when there are not enough distinct rows.

    Of a large data set a sample of the rows places the clusters.
    """
    size = min(len(X), max(_SMALL, _ROWS_A_CLUSTER * clusters))
    sample = X
    if size < len(X):
        chosen = np.random.default_rng(seed).choice(len(X), size, replace=False, shuffle=False)
        sample = X[chosen]
    distinct = len(np.unique(sample[:_SMALL], axis=0)) if len(X) else 1
    clusters = min(clusters, distinct, len(X))
    if clusters <= 1 or X.shape[1] == 0:
        return np.zeros(len(X), np.int64)
    # One thread: a process that was forked would wait forever for those that its parent had, and
    # sums over rows would depend on their number.
    with threadpool_limits(1, user_api="openmp"):
        model = KMeans(clusters, random_state=seed, n_init=1).fit(sample)
        labels: IntArray = model.predict(X).astype(np.int64)
    return labels


def within_variance(X: FloatArray, labels: IntArray) -> float:
    """Variance of the features inside the clusters of a partition, averaged over features."""
    if X.shape[1] == 0:
        return 1.0
    count = np.bincount(labels).astype(float)
    total = 0.0
    for column in X.T:
        sums = np.bincount(labels, weights=column)
        total += float(column @ column - np.sum(sums**2 / np.maximum(count, 1.0)))
    return min(max(total / X.size, 1e-3), 1.0)
