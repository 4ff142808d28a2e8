r"""The anchor of an expert, and the metric in which it moves.

The anchor is the weights as the last sweep over the assignments saw them. The metric is
:math:`H = I/s^2 + c\,f\,\sum_{d\in k} x_d x_d^\top` with :math:`f` the density of the slacks at
the kink (shared among the classes), which is foreseen from the rows of the component
(:mod:`~bayesmargin.models.infinite_svc.sharpness`); the sum is that of the Gaussians where experts
see the same columns, else it is estimated on a few dozen members.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit, inner_jit
from bayesmargin.foundation.copying import copy_vector
from bayesmargin.foundation.linear_algebra import accumulate_outer, cholesky, invert_lower
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.coarseness import force_jump, mean_whitened_square
from bayesmargin.models.infinite_svc.experts import add_pull, fill_scores, winning_option
from bayesmargin.models.infinite_svc.sharpness import kind_of, sharpness_of
from bayesmargin.models.infinite_svc.state import Components, Hinge, Mixture, Rows

_SAMPLE = 64
_PRIOR_DOMINATES = 4.0  # times the number of columns bounds the rows' part in the metric's trace
_ROWS_PER_ROOT, _CLASSES_OF_ROWS = 16.0, 5.0


@inner_jit
def refresh_anchor(slot: int, mixture: Mixture) -> None:
    """Make the current weights of a component its anchor, by a pass over its members."""
    rows, assignment, components, _, hinge = mixture
    scores = np.empty(components.weights.shape[1])
    pull = components.pull[slot]
    pull[:, :] = 0.0
    for position in range(assignment.start[slot], assignment.start[slot + 1]):
        d = assignment.members[position]
        fill_scores(components.weights[slot], rows.design[d], scores)
        assignment.winner[d] = winning_option(scores, rows.labels[d], hinge)
        add_pull(pull, rows.design[d], rows.labels[d], assignment.winner[d], 1.0)


@inner_jit
def fill_gram(members: IntArray, rows: Rows, limit: int, gram: FloatArray) -> None:
    """Sum of x x' over the members, estimated from evenly spaced ones if more than ``limit``."""
    count = members.shape[0]
    used = min(count, limit)
    padded = (used + 3) // 4 * 4
    block, weight = np.zeros((padded, gram.shape[0])), np.zeros(padded)
    for i in range(used):
        copy_vector(rows.design[members[i * count // used]], block[i])
        weight[i] = count / used
    gram[:, :] = 0.0
    accumulate_outer(gram, block, weight)


@inner_borrowing_jit
def unpack_gram(moment: FloatArray, gram: FloatArray) -> None:
    """Sum of x x' over the members, from that of their quadratic features: its lower triangle.

    The features of a row (:func:`~bayesmargin.models.infinite_svc.gaussian.fill_features`) are the
    lower triangle of the products of (x, 1), line by line.
    """
    position = 0
    for i in range(gram.shape[0]):
        for j in range(i + 1):
            gram[i, j] = moment[position + j]
        position += i + 1


@inner_borrowing_jit
def mean_square(slot: int, members: IntArray, rows: Rows, components: Components) -> float:
    """Mean of |x|^2 over the members, of a sample where their sums are not known."""
    size, count = rows.design.shape[1], members.shape[0]
    square = 0.0
    if rows.nested:
        for i in range(size):
            square += components.moment[slot, i * (i + 3) // 2]
        return square / count
    used = min(count, _SAMPLE)
    for i in range(used):
        d = members[i * count // used]
        for j in range(size):
            square += rows.design[d, j] * rows.design[d, j]
    return square / used


@inner_borrowing_jit
def gram_to_whitener(matrix: FloatArray, curvature: float, scale: float) -> None:
    """Overwrite a sum G of x x' by the inverse Cholesky factor of I/s^2 + curvature * G."""
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            matrix[i, j] *= curvature
        matrix[i, i] += 1.0 / (scale * scale)
    cholesky(matrix)
    invert_lower(matrix)


@inner_borrowing_jit
def curvature_share(hinge: Hinge, sharpness: float, vectors: int) -> float:
    """Curvature that one row adds to one weight vector, in units of x x'."""
    return hinge.cost * sharpness * (1.0 if vectors == 1 else 2.0 / vectors)


@inner_borrowing_jit
def prepare_update(slot: int, mixture: Mixture) -> None:
    """Count one more update of a component's weights, and make the metric for it.

    It is made anew for every update, of the rows that are members now (or a sample): one of the
    rows of before would know something of the weights, which had a say in who is a member.
    Where the prior dominates (few members a class) a multiple of the identity does; ``width`` is
    then its inverse square root, and zero where the full whitener is in use.
    """
    rows, assignment, components, base, hinge = mixture
    components.age[slot] += 1
    members = assignment.members[assignment.start[slot] : assignment.start[slot + 1]]
    _, vectors, size = components.weights.shape
    scale = base.weight_scale
    components.kind[slot] = kind_of(slot, rows, assignment)
    curvature = curvature_share(hinge, sharpness_of(components, slot), vectors)
    square = mean_square(slot, members, rows, components)
    trace = square * curvature * scale * scale * members.shape[0]
    if trace < _PRIOR_DOMINATES * size:
        width = scale / math.sqrt(1.0 + 2.0 * trace / size)
        components.width[slot] = width
        components.jump[slot] = force_jump(hinge, width * width * square, vectors)
        return
    components.width[slot] = 0.0
    whitener = components.whitener[slot]
    if rows.nested:
        unpack_gram(components.moment[slot], whitener)
    else:
        fill_gram(members, rows, _SAMPLE, whitener)
    gram_to_whitener(whitener, curvature, scale)
    square = mean_whitened_square(whitener, curvature, scale, members.shape[0])
    components.jump[slot] = force_jump(hinge, square, vectors)


@inner_borrowing_jit
def batch_rows(batch: int, count: int, vectors: int) -> int:
    """Rows of a step in a component of ``count``: as given, or by default for ``batch`` 0.

    A row pushes two of the classes, which share the rows among them: with more than five of them
    the noise of narrow directions grows, and so does the default.
    """
    if batch > 0:
        return batch
    share = max(1.0, vectors / _CLASSES_OF_ROWS)
    return math.ceil(_ROWS_PER_ROOT * share * math.sqrt(count))


@inner_borrowing_jit
def whiten(width: float, whitener: FloatArray, gradient: FloatArray, result: FloatArray) -> None:
    """Gradient in whitened coordinates: W g for every weight vector, one after the other."""
    vectors, size = gradient.shape
    if width > 0.0:
        for y in range(vectors):
            for i in range(size):
                result[y * size + i] = width * gradient[y, i]
        return
    whole = vectors - vectors % 4
    for y in range(0, whole, 4):  # four at a time: each entry of W is loaded once for all of them
        first = y * size
        for i in range(size):
            a = b = c = d = 0.0
            for j in range(i + 1):
                entry = whitener[i, j]
                a += entry * gradient[y, j]
                b += entry * gradient[y + 1, j]
                c += entry * gradient[y + 2, j]
                d += entry * gradient[y + 3, j]
            result[first + i], result[first + size + i] = a, b
            result[first + 2 * size + i], result[first + 3 * size + i] = c, d
    for y in range(whole, vectors):
        for i in range(size):
            total = 0.0
            for j in range(i + 1):
                total += whitener[i, j] * gradient[y, j]
            result[y * size + i] = total


@inner_borrowing_jit
def add_unwhitened(
    width: float, whitener: FloatArray, change: FloatArray, weights: FloatArray
) -> None:
    """Move the weights by W' change, one vector of which follows the other."""
    vectors, size = weights.shape
    if width > 0.0:
        for y in range(vectors):
            for j in range(size):
                weights[y, j] += width * change[y * size + j]
        return
    whole = size - size % 2
    for y in range(vectors):
        first = y * size
        for i in range(0, whole, 2):  # two lines of W at a time, for one pass over the weights
            above, below = change[first + i], change[first + i + 1]
            for j in range(i + 1):
                weights[y, j] += above * whitener[i, j] + below * whitener[i + 1, j]
            weights[y, i + 1] += below * whitener[i + 1, i + 1]
        if whole < size:
            below = change[first + whole]
            for j in range(size):
                weights[y, j] += below * whitener[whole, j]
