r"""Minimising many convex functions side by side, one of each column of a table.

The anchors of one-vs-rest classes are separate problems that share their passes over the rows. One
limited-memory quasi-Newton method for all of them together would be as slow as the worst and mix
their curvatures; here every column has its own. A pass evaluates a trial point of every column. A
column whose slope along its direction has not turned far upwards takes the point, the others try a
shorter step in the next pass, so no column waits for another.

Only gradients are compared: for a convex function the slope along a line tells on which side of
the minimum a point lies, and unlike values, which agree in their first ten digits near the minimum,
slopes do not cancel.
"""

from collections import deque
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.types import FloatArray

MEMORY = 5  # pairs of steps and changes of the gradient
UPWARDS = 0.3  # slope past the minimum up to which a point is good, in units of that at the start

Pair = tuple[FloatArray, FloatArray, FloatArray]


def minimise_columns(
    gradient_at: Callable[[FloatArray], FloatArray],
    position: FloatArray,
    n_passes: int,
    tolerance: float,
) -> FloatArray:
    """Table whose columns minimise their functions, as far as ``n_passes`` gradients lead.

    Parameters
    ----------
    gradient_at : callable
        Gradients of all columns at a table, as a new table.
    position : array of shape (n, n_columns)
        Where to start.
    n_passes : int
        Gradients to evaluate at most.
    tolerance : float
        The end is reached when every column expects to fall by less than half of this.
    """
    gradient = gradient_at(position)
    count = position.shape[1]
    length: FloatArray = np.ones(count)
    gamma: FloatArray = 1.0 / np.maximum(1.0, np.sqrt(_products(gradient, gradient)))
    pairs: deque[Pair] = deque(maxlen=MEMORY)
    for _ in range(n_passes - 1):
        direction = _direction(gradient, pairs, gamma)
        slope = _products(direction, gradient)
        if pairs and np.all(slope > -tolerance):
            break
        trial = position.copy()
        _add(length, direction, trial)
        changed = gradient_at(trial)
        after = _products(direction, changed)
        good = after <= UPWARDS * np.abs(slope)
        gamma = _take(good, position, gradient, trial, changed, gamma, pairs)
        shorter = np.clip(slope / np.minimum(slope - after, -1e-300), 0.1, 0.5)
        length = np.where(good, 1.0, length * shorter)
    return position


def _take(
    good: npt.NDArray[np.bool_],
    position: FloatArray,
    gradient: FloatArray,
    trial: FloatArray,
    changed: FloatArray,
    gamma: FloatArray,
    pairs: deque[Pair],
) -> FloatArray:
    """Move the good columns, in place, and learn their curvature; returns the new scales."""
    _move(good, position, trial)
    _move(good, gradient, changed)
    along, size = _products(trial, changed), _products(changed, changed)
    useful = good & (along > 1e-12 * size)
    pairs.append((trial, changed, np.where(useful, 1.0 / np.where(useful, along, 1.0), 0.0)))
    return np.where(useful, along / np.where(useful, size, 1.0), gamma)


def _direction(gradient: FloatArray, pairs: deque[Pair], gamma: FloatArray) -> FloatArray:
    """Minus the inverse of the learned Hessian times the gradient, column by column."""
    result = -gradient
    shares = []
    for step, change, inverse in reversed(pairs):
        share = inverse * _products(step, result)
        _add(-share, change, result)
        shares.append(share)
    result *= gamma
    for (step, change, inverse), share in zip(pairs, reversed(shares), strict=True):
        _add(share - inverse * _products(change, result), step, result)
    return result


def _products(first: FloatArray, second: FloatArray) -> FloatArray:
    """Inner products of the columns of two tables."""
    total = np.zeros(first.shape[1])
    _sum_products(first, second, total)
    return total


@jit
def _sum_products(first, second, total):  # type: ignore[no-untyped-def]
    for j in range(first.shape[0]):
        for k in range(first.shape[1]):
            total[k] += first[j, k] * second[j, k]


@jit
def _add(factor, table, out):  # type: ignore[no-untyped-def]
    """Add each column of ``table`` times its factor."""
    for j in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[j, k] += factor[k] * table[j, k]


@jit
def _move(good, old, new):  # type: ignore[no-untyped-def]
    """Take the good columns from ``new`` and leave the difference there, zero for the others."""
    for j in range(old.shape[0]):
        for k in range(old.shape[1]):
            change = new[j, k] - old[j, k] if good[k] else 0.0
            new[j, k] = change
            old[j, k] += change
