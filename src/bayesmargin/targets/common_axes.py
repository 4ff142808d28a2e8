r"""Coordinates of classes along axes that they share, but for a few directions of their own.

.. math:: w_k = m_k + Q \Big(s_k \odot \big(u_k + \sum_i g_{ki}\, v_{ki} v_{ki}^\top u_k\big)\Big)

A block a class would be read from memory at every step, twice: a hundred megabytes for a hundred
classes of four hundred features. One rotation :math:`Q` stays in the cache, and turns all classes
by one product of matrices. The orthonormal directions :math:`v_{ki}` are those in which a class is
much narrower than its deviations :math:`s_k` along the axes say: where its own rows lie.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements, inner_jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.targets.coordinates import pull_back, to_weights


class CommonAxes(NamedTuple):
    """Centre of all weights, axes (feature, axis) and their transpose, and what classes have.

    That is a scale (class, axis), narrow directions (class, direction, axis) and their gains.
    """

    centre: FloatArray
    axes: FloatArray
    transposed: FloatArray
    scale: FloatArray
    narrow: FloatArray
    gain: FloatArray


@inner_jit
def _narrowed(narrow, gain, vectors):  # type: ignore[no-untyped-def]
    """Apply the map in the inner brackets to the vector of every class, in place."""
    for k in range(gain.shape[0]):
        for i in range(gain.shape[1]):
            along = vectors.dtype.type(0.0)
            for j in range(vectors.shape[1]):
                along += narrow[k, i, j] * vectors[k, j]
            along *= gain[k, i]
            for j in range(vectors.shape[1]):
                vectors[k, j] += along * narrow[k, i, j]


@implements(to_weights, CommonAxes)
def _common_weights(coordinates, position, out):  # type: ignore[no-untyped-def]
    scale, centre = coordinates.scale, coordinates.centre
    n_classes, size = scale.shape
    moves = np.empty(scale.shape, scale.dtype)
    for k in range(n_classes):
        for j in range(size):
            moves[k, j] = position[k * size + j]
    _narrowed(coordinates.narrow, coordinates.gain, moves)
    for k in range(n_classes):
        for j in range(size):
            moves[k, j] *= scale[k, j]
    turned = np.dot(moves, coordinates.transposed)
    for k in range(n_classes):
        for j in range(size):
            out[k * size + j] = centre[k * size + j] + turned[k, j]


@implements(pull_back, CommonAxes)
def _common_gradient(coordinates, gradient, out):  # type: ignore[no-untyped-def]
    scale = coordinates.scale
    n_classes, size = scale.shape
    slopes = np.empty(scale.shape, scale.dtype)
    for k in range(n_classes):
        for j in range(size):
            slopes[k, j] = gradient[k * size + j]
    turned = np.dot(slopes, coordinates.axes)
    for k in range(n_classes):
        for j in range(size):
            turned[k, j] *= scale[k, j]
    _narrowed(coordinates.narrow, coordinates.gain, turned)
    for k in range(n_classes):
        for j in range(size):
            out[k * size + j] = turned[k, j]


def common_axes_of(centre: FloatArray, axes: Any, dtype: Any) -> CommonAxes:
    """Such coordinates in a precision; ``axes`` are the last four parts but the transpose."""
    turn, scale, narrow, gain = (np.ascontiguousarray(part, dtype=dtype) for part in axes)
    turned = np.ascontiguousarray(turn.T)
    return CommonAxes(np.ascontiguousarray(centre), turn, turned, scale, narrow, gain)


def weights_along(coordinates: CommonAxes, positions: FloatArray) -> FloatArray:
    """Weights of many positions at once (last axis), outside compiled code."""
    scale, result = coordinates.scale, np.empty(positions.shape)
    for index in np.ndindex(*positions.shape[:-1]):
        part = positions[index].reshape(scale.shape).astype(scale.dtype)
        moved = scale * _times_narrow(coordinates, coordinates.gain, part)
        result[index] = coordinates.centre + (moved @ coordinates.transposed).ravel()
    return result


def positions_of_shift(coordinates: CommonAxes, shift: FloatArray) -> FloatArray:
    """How a position moves where the weights (feature) of every class move by as much."""
    scale = coordinates.scale
    along = (coordinates.transposed @ shift.astype(scale.dtype)) / scale
    back = 1.0 / (1.0 + coordinates.gain) - 1.0
    return _times_narrow(coordinates, back, along).ravel()


def _times_narrow(coordinates: CommonAxes, gain: FloatArray, vectors: FloatArray) -> FloatArray:
    share = gain * np.einsum("kij,kj->ki", coordinates.narrow, vectors)
    return vectors + np.einsum("ki,kij->kj", share, coordinates.narrow)
