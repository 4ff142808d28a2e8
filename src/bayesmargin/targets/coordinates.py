r"""Coordinates of the sampler: position :math:`u`, weights :math:`w = m + W u`.

When rows can be transformed once (binary, Gaussian prior) the samplers work with
:class:`Identity`, because :math:`x \cdot W u = (W^T x) \cdot u`. Otherwise every step maps the
position to weights and the gradient back.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit, jit
from bayesmargin.foundation.types import FloatArray, IntArray


def to_weights(coordinates: Any, position: FloatArray, out: FloatArray) -> None:
    """Write the weights that belong to ``position`` to ``out`` (generic, compiled)."""
    raise TypeError(f"{type(coordinates).__name__} is not a coordinate system")


def pull_back(coordinates: Any, gradient: FloatArray, out: FloatArray) -> None:
    """Write the gradient in positions that belongs to one in weights (generic, compiled)."""
    raise TypeError(f"{type(coordinates).__name__} is not a coordinate system")


class Identity(NamedTuple):
    """Positions are the weights (rows may have been transformed instead)."""


@implements(to_weights, Identity, borrows=True)
def _identity_weights(coordinates, position, out):  # type: ignore[no-untyped-def]
    for j in range(position.shape[0]):
        out[j] = position[j]


@implements(pull_back, Identity, borrows=True)
def _identity_gradient(coordinates, gradient, out):  # type: ignore[no-untyped-def]
    for j in range(gradient.shape[0]):
        out[j] = gradient[j]


class Scaled(NamedTuple):
    """Weights are ``centre + scale * position``."""

    centre: FloatArray
    scale: FloatArray


@implements(to_weights, Scaled, borrows=True)
def _scaled_weights(coordinates, position, out):  # type: ignore[no-untyped-def]
    for j in range(position.shape[0]):
        out[j] = coordinates.centre[j] + coordinates.scale[j] * position[j]


@implements(pull_back, Scaled, borrows=True)
def _scaled_gradient(coordinates, gradient, out):  # type: ignore[no-untyped-def]
    for j in range(gradient.shape[0]):
        out[j] = coordinates.scale[j] * gradient[j]


class Rotated(NamedTuple):
    """Weights are ``centre + basis @ position``, in equal blocks: (blocks, weights, positions).

    One block is a full matrix; one block per class leaves the classes uncoupled. Positions may be
    fewer than weights. ``triangular`` says that the basis is zero below the diagonal that ends in
    its last corner, as the factor of a fresh anchor is: half of the products are then left out.
    A basis in single precision is read at twice the pace and rounds a little; it is the same for
    positions and gradients, so that the law of the weights is not touched.
    """

    centre: FloatArray
    basis: FloatArray
    transposed: FloatArray
    triangular: bool


@inner_borrowing_jit
def _add_lines(matrix, factors, block, begin, end, out):  # type: ignore[no-untyped-def]
    """Write the sum of the lines of ``matrix``, each times its factor, for one block of both.

    Eight lines at a time: sums that stand side by side need no order of their own, and a sum in
    memory is read and written once for eight products. Zeros are left out: with ``begin`` 1 those
    below the diagonal that ends in the last corner, with ``end`` 1 those above the one that begins
    in the first, and lines whose factors are.
    """
    size, width = matrix.shape
    kind = matrix.dtype.type
    source, target, surplus = block * size, block * width, size - width
    sums = out[target : target + width]
    for j in range(width):
        sums[j] = 0.0
    for i in range(0, size - 7, 8):
        # Unsigned: a loop whose index might count from the end is not made one of vectors.
        low = np.uint64(begin * max(0, i - surplus))
        high = np.uint64(min(width, i + 8 - surplus) if end else width)
        a, b, c, d = matrix[i], matrix[i + 1], matrix[i + 2], matrix[i + 3]
        e, f, g, h = matrix[i + 4], matrix[i + 5], matrix[i + 6], matrix[i + 7]
        k = source + i
        p, q = kind(factors[k]), kind(factors[k + 1])
        r, s = kind(factors[k + 2]), kind(factors[k + 3])
        t, u = kind(factors[k + 4]), kind(factors[k + 5])
        v, w = kind(factors[k + 6]), kind(factors[k + 7])
        if p == q == r == s == t == u == v == w == 0.0:
            continue
        for j in range(low, high):
            sums[j] += (p * a[j] + q * b[j] + r * c[j] + s * d[j]) + (
                t * e[j] + u * f[j] + v * g[j] + w * h[j]
            )
    for i in range(size - size % 8, size):
        factor = kind(factors[source + i])
        for j in range(width):
            sums[j] += factor * matrix[i, j]


@implements(to_weights, Rotated, borrows=True)
def _rotated_weights(coordinates, position, out):  # type: ignore[no-untyped-def]
    end = 1 if coordinates.triangular else 0
    for b in range(coordinates.basis.shape[0]):
        _add_lines(coordinates.transposed[b], position, b, 0, end, out)
    for j in range(out.shape[0]):
        out[j] += coordinates.centre[j]


@implements(pull_back, Rotated, borrows=True)
def _rotated_gradient(coordinates, gradient, out):  # type: ignore[no-untyped-def]
    begin = 1 if coordinates.triangular else 0
    for b in range(coordinates.basis.shape[0]):
        _add_lines(coordinates.basis[b], gradient, b, begin, 0, out)


class Sheared(NamedTuple):
    r"""Scaled coordinates of several classes, interleaved, whose intercepts make up for the words.

    The score of the mean row :math:`c` is what data pin down; the intercept alone moves with all
    words against it. Weights are :math:`m + s \odot u`, less :math:`\sum_j c_j s_{jk} u_{jk}` for
    the intercept of class :math:`k`, which comes last. ``columns`` are the features that the mean
    row has most of, ``share`` how much.
    """

    centre: FloatArray
    scale: FloatArray
    columns: IntArray
    share: FloatArray
    n_classes: int


@implements(to_weights, Sheared, borrows=True)
def _sheared_weights(coordinates, position, out):  # type: ignore[no-untyped-def]
    scale, count = coordinates.scale, coordinates.n_classes
    last = position.shape[0] - count
    for j in range(position.shape[0]):
        out[j] = coordinates.centre[j] + scale[j] * position[j]
    for i in range(coordinates.columns.shape[0]):
        first, share = coordinates.columns[i] * count, coordinates.share[i]
        for k in range(count):
            out[last + k] -= share * scale[first + k] * position[first + k]


@implements(pull_back, Sheared, borrows=True)
def _sheared_gradient(coordinates, gradient, out):  # type: ignore[no-untyped-def]
    scale, count = coordinates.scale, coordinates.n_classes
    last = gradient.shape[0] - count
    for j in range(gradient.shape[0]):
        out[j] = scale[j] * gradient[j]
    for i in range(coordinates.columns.shape[0]):
        first, share = coordinates.columns[i] * count, coordinates.share[i]
        for k in range(count):
            out[first + k] -= share * scale[first + k] * gradient[last + k]


class Spiked(NamedTuple):
    r"""Scaled coordinates with a few stiff directions undone.

    Weights are :math:`m + s \odot (u + \sum_i g_i\, q_i q_i^T u)` for orthonormal ``directions``
    :math:`q_i` and gains :math:`g_i > -1`; the map in brackets is symmetric.
    """

    centre: FloatArray
    scale: FloatArray
    directions: FloatArray
    gain: FloatArray


@inner_borrowing_jit
def _spike(coordinates, vector):  # type: ignore[no-untyped-def]
    """Apply the map in brackets in place, two directions at a time.

    Orthogonal directions do not see one another.
    """
    directions, gain = coordinates.directions, coordinates.gain
    for i in range(0, gain.shape[0], 2):
        k = min(i + 1, gain.shape[0] - 1)
        first, second = directions[i], directions[k]
        along, across = 0.0, 0.0
        for j in range(vector.shape[0]):
            along += first[j] * vector[j]
            across += second[j] * vector[j]
        along *= gain[i]
        across *= gain[k] if k > i else 0.0
        for j in range(vector.shape[0]):
            vector[j] += along * first[j] + across * second[j]


@implements(to_weights, Spiked, borrows=True)
def _spiked_weights(coordinates, position, out):  # type: ignore[no-untyped-def]
    for j in range(position.shape[0]):
        out[j] = position[j]
    _spike(coordinates, out)
    for j in range(position.shape[0]):
        out[j] = coordinates.centre[j] + coordinates.scale[j] * out[j]


@implements(pull_back, Spiked, borrows=True)
def _spiked_gradient(coordinates, gradient, out):  # type: ignore[no-untyped-def]
    for j in range(gradient.shape[0]):
        out[j] = coordinates.scale[j] * gradient[j]
    _spike(coordinates, out)


@jit
def fill_weights(coordinates, position, out):  # type: ignore[no-untyped-def]
    """:func:`to_weights` for one position, called from outside compiled code."""
    to_weights(coordinates, position, out)


@jit
def fill_gradient(coordinates, gradient, out):  # type: ignore[no-untyped-def]
    """:func:`pull_back` of one gradient, called from outside compiled code."""
    pull_back(coordinates, gradient, out)


def rotated(centre: FloatArray, basis: FloatArray, dtype: Any = np.float64) -> Rotated:
    """Coordinates with the given blocks; a single matrix counts as one block."""
    blocks = np.ascontiguousarray(basis if basis.ndim == 3 else basis[None], dtype=dtype)
    surplus = blocks.shape[1] - blocks.shape[2]
    return Rotated(
        np.ascontiguousarray(centre),
        blocks,
        np.ascontiguousarray(blocks.transpose(0, 2, 1)),
        not np.tril(blocks, -1 - surplus).any(),
    )


def weights_from(coordinates: Any, positions: FloatArray) -> FloatArray:
    """Weights of many positions at once (last axis), outside compiled code."""
    if isinstance(coordinates, Identity):
        return positions
    if isinstance(coordinates, Scaled):
        return coordinates.centre + coordinates.scale * positions
    if isinstance(coordinates, Sheared):
        return coordinates.centre + _shear(coordinates, coordinates.scale * positions, -1.0)
    if isinstance(coordinates, Spiked):
        along = (positions @ coordinates.directions.T) * coordinates.gain
        moved = positions + along @ coordinates.directions
        return coordinates.centre + coordinates.scale * moved
    blocks, _, size = coordinates.basis.shape
    parts = positions.reshape(*positions.shape[:-1], blocks, 1, size)
    moved = (parts @ coordinates.transposed).reshape(*positions.shape[:-1], -1)
    return coordinates.centre + moved


def n_positions(coordinates: Any, n_weights: int) -> int:
    """Length of a position that stands for so many weights."""
    if isinstance(coordinates, Rotated):
        return int(coordinates.basis.shape[0] * coordinates.basis.shape[2])
    return n_weights


def _shear(coordinates: Sheared, moves: FloatArray, sign: float) -> FloatArray:
    """Add what the mean row makes of the words to the intercepts, ``sign`` times."""
    table = moves.reshape(*moves.shape[:-1], -1, coordinates.n_classes)
    table[..., -1, :] += sign * (coordinates.share @ table[..., coordinates.columns, :])
    return moves


def positions_from(
    coordinates: Identity | Scaled | Sheared | Spiked, weights: FloatArray
) -> FloatArray:
    """Positions of many weights at once: the inverse of :func:`weights_from`."""
    if isinstance(coordinates, Identity):
        return weights
    if isinstance(coordinates, Sheared):
        return _shear(coordinates, weights - coordinates.centre, 1.0) / coordinates.scale
    positions = (weights - coordinates.centre) / coordinates.scale
    if isinstance(coordinates, Scaled):
        return positions
    along = (positions @ coordinates.directions.T) * (1.0 / (1.0 + coordinates.gain) - 1.0)
    return positions + along @ coordinates.directions
