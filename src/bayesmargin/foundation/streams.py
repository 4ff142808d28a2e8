r"""Uniform variates inside the kernels: from a generator, or from a stream of bits.

Training draws from the :class:`numpy.random.Generator` objects of the fit. A stream is a SplitMix64
counter (Steele, Lea and Flood, 2014) in an array of one. It serves where a generator costs too
much: the topics' many small variates cost a third, and a compiled function that is called often
takes a generator apart in ten microseconds, an array in less than one. And it can be seeded by
anything: prediction must give a document the same answer whatever batch it comes in and wherever it
stands there, so the stream of a document starts from its words.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.core.types import NumPyRandomGeneratorType
from numba.extending import overload

from bayesmargin.foundation.compiling import FASTMATH, inner_jit, jit
from bayesmargin.foundation.types import IntArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = (np.uint64(s) for s in (30, 27, 31, 11))
_UNIT = 2.0**-53


@inner_jit
def mix(value: Any) -> Any:
    """Finaliser of SplitMix64: a bijection of 64 bits whose output looks random."""
    value = (value ^ (value >> _S30)) * _FIRST
    value = (value ^ (value >> _S27)) * _SECOND
    return value ^ (value >> _S31)


@jit
def next_bits(stream: Any) -> Any:
    """The next 64 random bits of a stream."""
    stream[0] += _GOLDEN
    return mix(stream[0])


def seed_from_generator(stream: Any, rng: np.random.Generator) -> None:
    """Start a stream where the generator says.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.foundation.streams import next_bits, seed_from_generator
    >>> stream = np.empty(1, np.uint64)
    >>> seed_from_generator(stream, np.random.default_rng(0))
    >>> bool(next_bits(stream) != next_bits(stream))
    True
    """
    stream[0] = rng.bit_generator.random_raw()


@inner_jit
def seed_stream(stream: Any, seed: int, words: IntArray) -> None:
    """Start the stream of a document: a function of ``seed`` and of its sorted words alone."""
    state: Any = np.uint64(seed)
    for n in range(words.shape[0]):
        state = mix(state + _GOLDEN + np.uint64(words[n]))
    stream[0] = state


def serve_sources(
    generic: Callable[..., Any], from_generator: Callable[..., Any], from_stream: Callable[..., Any]
) -> None:
    """Register the two bodies of a generic function whose first argument is a source of bits."""

    def choose(source: Any, *_: Any) -> Callable[..., Any] | None:
        if isinstance(source, NumPyRandomGeneratorType):
            return from_generator
        return from_stream if isinstance(source, types.Array) else None

    choose.__signature__ = inspect.signature(generic)  # type: ignore[attr-defined]
    overload(generic, jit_options={"nogil": True, "fastmath": FASTMATH})(choose)


def uniform(source: Any) -> float:
    """One uniform variate in [0, 1) from a generator or from a stream."""
    raise TypeError("compiled code only: one body a kind of source")


def _from_generator(source: Any) -> float:
    return source.random()


def _from_stream(source: Any) -> float:
    return (next_bits(source) >> _S11) * _UNIT


serve_sources(uniform, _from_generator, _from_stream)
