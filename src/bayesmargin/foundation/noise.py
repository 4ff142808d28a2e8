r"""Normal variates by the vector: from a generator, or from the bytes of a stream.

The noise that a stochastic sampler injects at every step need not be normal to the last digit: the
law of the chain after many steps depends on it through its moments, the more weakly the higher
they are (weak approximation of diffusions; Kloeden and Platen, 1992, chapter 14, where three values
do). Here a byte picks one of 256 values, the normal quantiles bent a little so that the moments up
to the seventh are those of the normal law; the eighth is 99.8 instead of 105. That costs a
sixteenth of a normal variate.

Where the normal law itself is the target (the prior, a conditional, a fresh momentum), draw from
the generator.
"""

from typing import Any

import numpy as np
from scipy.optimize import root
from scipy.special import ndtri

from bayesmargin.foundation.streams import next_bits, serve_sources
from bayesmargin.foundation.types import FloatArray

_BYTE, _EIGHT = np.uint64(255), np.uint64(8)
_MOMENTS = {2: 1.0, 4: 3.0, 6: 15.0}


def _normal_levels() -> FloatArray:
    """256 values, symmetric about zero, that share seven moments with the normal law."""
    quantile = ndtri((np.arange(256) + 0.5) / 256)
    powers = np.stack([quantile, quantile**3, quantile**5])

    def gaps(bend: FloatArray) -> list[float]:
        levels = bend @ powers
        return [float(np.mean(levels**k)) / moment - 1.0 for k, moment in _MOMENTS.items()]

    found = root(gaps, [1.0, 0.0, 0.0], tol=1e-13)
    levels: FloatArray = found.x @ powers
    return levels


LEVELS = _normal_levels()


def fill_noise(source: Any, values: FloatArray) -> None:
    """Fill a vector with variates of mean 0 and variance 1, from a generator or from a stream."""
    raise TypeError("compiled code only: one body a kind of source")


def _from_generator(source: Any, values: FloatArray) -> None:
    for i in range(values.shape[0]):
        values[i] = source.standard_normal()


def _from_stream(source: Any, values: FloatArray) -> None:
    size = values.shape[0]
    whole = size - size % 8
    for begin in range(0, whole, 8):
        bits = next_bits(source)
        for k in range(8):
            values[begin + k] = LEVELS[(bits >> np.uint64(8 * k)) & _BYTE]
    if whole < size:
        bits = next_bits(source)
        for i in range(whole, size):
            values[i] = LEVELS[bits & _BYTE]
            bits >>= _EIGHT


serve_sources(fill_noise, _from_generator, _from_stream)
