r"""What can be sampled: a gradient, an energy, and the directions in which to move.

A target says how steep its energy :math:`U` is; it never asks who moves. Its compiled bodies are
registered with :func:`~bayesmargin.foundation.compiling.implements` for a NamedTuple of its own:

* :func:`estimate_gradient` for every sampler of one gradient a step. The estimate is unbiased and
  goes to ``work.gradient``; the part that rows bring, before any prior, to ``work.data``.
* :func:`energy` for the exact samplers; its gradient comes along.
* :func:`space_of` says which directions are moved: :class:`Full`, or :class:`Contrasts`.

``work`` are scratch arrays of one chain. A target brings a class of its own for them; agreed on are
the names ``gradient``, ``data`` and ``noise``.
"""

from typing import Any, NamedTuple

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray


class Scratch(NamedTuple):
    """The arrays that every target has, for those that need no more."""

    gradient: FloatArray
    data: FloatArray
    noise: FloatArray


class Full(NamedTuple):
    """All directions are sampled."""


class Contrasts(NamedTuple):
    """Positions are ``n_vectors`` vectors, one after another, whose mean stays where it is.

    What a projection takes away, the mean of the vectors, is left in ``shared``. Gradients of a
    target in this space have mean zero. Where ``shared`` has no entries nothing is shared, and all
    directions are sampled.
    """

    n_vectors: int
    shared: FloatArray


def estimate_gradient(target: Any, position: FloatArray, source: Any, work: Any) -> None:
    """Unbiased estimate of the gradient at ``position`` into ``work`` (generic, compiled).

    ``source`` is a generator or a stream of bits.
    """
    raise TypeError(f"{type(target).__name__} is not a target with gradients")


def energy(target: Any, position: FloatArray, work: Any) -> float:
    """Energy up to a constant; its gradient goes to ``work.gradient`` (generic, compiled)."""
    raise TypeError(f"{type(target).__name__} is not a target with an energy")


def space_of(target: Any) -> Any:
    """Directions in which positions move (generic, compiled)."""
    raise TypeError(f"{type(target).__name__} is not a target")


def freedom(space: Any, size: int) -> int:
    """How many directions of ``size`` coordinates are sampled (generic, compiled)."""
    raise TypeError(f"{type(space).__name__} is not a space")


def project(space: Any, vector: FloatArray) -> None:
    """Project a vector onto the directions that are sampled, in place (generic, compiled)."""
    raise TypeError(f"{type(space).__name__} is not a space")


@implements(freedom, Full, borrows=True)
def _all_of_them(space, size):  # type: ignore[no-untyped-def]
    return size


@implements(project, Full, borrows=True)
def _leave(space, vector):  # type: ignore[no-untyped-def]
    pass


@implements(freedom, Contrasts, borrows=True)
def _all_but_one(space, size):  # type: ignore[no-untyped-def]
    return size - space.shared.shape[0]


@implements(project, Contrasts, borrows=True)
def _less_their_mean(space, vector):  # type: ignore[no-untyped-def]
    shared, count = space.shared, space.n_vectors
    length = shared.shape[0]
    if length == 0:
        return
    for j in range(length):
        shared[j] = 0.0
    for i in range(vector.shape[0]):
        shared[i % length] += vector[i] / count
    for i in range(vector.shape[0]):
        vector[i] -= shared[i % length]


@inner_borrowing_jit
def restore(vector: FloatArray, shared: FloatArray, factor: float) -> None:
    """Add ``factor`` times what a projection took away to each of the vectors."""
    length = shared.shape[0]
    if length > 0:
        for i in range(vector.shape[0]):
            vector[i] += factor * shared[i % length]
