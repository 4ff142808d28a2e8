r"""Two sides for the rows that a split or merge is about: one around row i, one around row j.

They are a function of i, j and the set of rows: each row joins the nearer of the two, and a few
rounds of hard assignment to two sets of normal laws with class frequencies improve on that. Where a
split then throws a row, and what the chance was that it threw one where it lies in a state before a
merge, follows from the odds of the last round, no more than :data:`_FIRM` nats for either side.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_jit
from bayesmargin.foundation.types import FloatArray, IntArray

_ROUNDS = 5
_FIRM = 6.0


@inner_jit
def _fill_moments(
    side: IntArray,
    number: int,
    members: IntArray,
    X: FloatArray,
    labels: IntArray,
    width: FloatArray,
    mean: FloatArray,
    variance: FloatArray,
    log_class: FloatArray,
) -> float:
    """Means, variances and log class frequencies of a side; returns the number of its rows."""
    count = 0.0
    for j in range(X.shape[1]):
        mean[j] = 0.0
    for y in range(log_class.shape[0]):
        log_class[y] = 1.0
    for i in range(members.shape[0]):
        if side[i] == number:
            count += 1.0
            log_class[labels[members[i]]] += 1.0
            for j in range(X.shape[1]):
                mean[j] += X[members[i], j]
    for j in range(X.shape[1]):
        mean[j] /= count
        variance[j] = width[j]  # a row's worth of that of all rows, so that none is zero
    for i in range(members.shape[0]):
        if side[i] == number:
            for j in range(X.shape[1]):
                variance[j] += (X[members[i], j] - mean[j]) ** 2
    for j in range(X.shape[1]):
        variance[j] /= count + 1.0
    for y in range(log_class.shape[0]):
        log_class[y] = math.log(log_class[y] / (count + log_class.shape[0]))
    return count


@inner_jit
def fill_odds(
    first: int, second: int, members: IntArray, X: FloatArray, labels: IntArray, classes: int,
    odds: FloatArray,
) -> None:  # fmt: skip
    """Log odds of j's side (``second``) against i's for every row of ``members``, increasing."""
    features = X.shape[1]
    side = np.zeros(members.shape[0], np.int64)
    width, log_class = np.empty(features), np.empty((2, classes))
    mean, variance = np.empty((2, features)), np.empty((2, features))
    _fill_moments(
        side, 0, members, X, labels, np.full(features, 1e-20), mean[0], width, log_class[0]
    )
    for i in range(members.shape[0]):
        odds[i] = 0.0
        for j in range(features):
            to_first, to_second = X[members[i], j] - X[first, j], X[members[i], j] - X[second, j]
            odds[i] += (to_first**2 - to_second**2) / width[j]
    for _ in range(_ROUNDS):
        for i in range(members.shape[0]):
            side[i] = 1 if odds[i] > 0.0 else 0
            if members[i] == first or members[i] == second:
                side[i] = 1 if members[i] == second else 0
        constant = 0.0
        for number in range(2):
            count = _fill_moments(
                side, number, members, X, labels, width, mean[number], variance[number],
                log_class[number],
            )  # fmt: skip
            value = math.log(count)
            for j in range(features):
                value -= 0.5 * math.log(variance[number, j])
            constant += value if number == 1 else -value
        for i in range(members.shape[0]):
            d = members[i]
            odds[i] = constant + log_class[1, labels[d]] - log_class[0, labels[d]]
            for j in range(features):
                odds[i] += 0.5 * (X[d, j] - mean[0, j]) ** 2 / variance[0, j]
                odds[i] -= 0.5 * (X[d, j] - mean[1, j]) ** 2 / variance[1, j]
    for i in range(members.shape[0]):
        odds[i] = min(max(odds[i], -_FIRM), _FIRM)
