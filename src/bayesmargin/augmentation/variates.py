r"""What the mixing variables of a block are made of: squared normals and uniform variates.

In double precision they come one by one from the chain's generator. In single precision the sweep
would spend a third of its time there, so whole vectors of them are made of bits from
:data:`lanes <new_lanes>`: independent xoshiro128++ generators (Blackman and Vigna, 2021), one for
every two rows of a block, whose states the chain's generator draws.

Two rows share the radius and the angle of Box and Muller, :math:`\nu^2 = -2\log(u)\sin^2(\pi t)`
and :math:`-2\log(u)\cos^2(\pi t)`, which are independent. Sine and cosine are both taken of the
angle's distance from their zero, in whole bits, so that a small :math:`\nu` keeps its relative
precision: it is what makes a large :math:`1/\lambda`. Logarithm and sine are polynomials that the
compiler vectorises.
"""

from typing import Any

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.types import IntArray

WORDS = 4  # of 32 bits for two rows: radius, angle, a uniform variate each
_ROTATE, _FAR, _SPREAD, _LAST = np.uint32(7), np.uint32(25), np.uint32(9), np.uint32(11)
_REST = np.uint32(21)
_ONE_BIT, _LARGEST = np.uint32(1), np.uint32(0x7FFFFFFF)
_UNIT, _HALF, _ONE, _TWO = (np.float32(value) for value in (2.0**-32, 0.5, 1.0, 2.0))
_ROOT_HALF, _MANTISSA, _LOG_2 = np.int32(0x3F3504F3), np.int32(23), np.float32(np.log(2.0))
# log(1 + f) = f - f^2/2 + f^3 p(f), where 1 + f is between the roots of 1/2 and of 2.
_LOG = [
    np.float32(coefficient)
    for coefficient in np.polynomial.Chebyshev.interpolate(
        lambda f: (np.log1p(f) - f + 0.5 * f * f) / f**3, 8, [0.5**0.5 - 1.0, 2.0**0.5 - 1.0]
    )
    .convert(kind=np.polynomial.Polynomial)
    .coef
]
_L0, _L1, _L2, _L3, _L4, _L5, _L6, _L7, _L8 = _LOG
# sin(pi t) = t p(t^2) for 0 <= t <= 1/2.
_SINE = [
    np.float32(coefficient)
    for coefficient in np.polynomial.Chebyshev.interpolate(
        lambda square: np.pi * np.sinc(np.sqrt(square)), 5, [0.0, 0.25]
    )
    .convert(kind=np.polynomial.Polynomial)
    .coef
]
_S0, _S1, _S2, _S3, _S4, _S5 = _SINE


def new_lanes(rng: np.random.Generator, size: int) -> IntArray:
    """States of the generators for blocks of ``size`` rows, one a column."""
    return rng.integers(1, 2**32, size=(4, -(-size // 2)), dtype=np.uint32)


@inner_borrowing_jit
def next_lanes(lanes: Any, out: Any) -> None:
    """Write 32 random bits of every lane."""
    a, b, c, d = lanes[0], lanes[1], lanes[2], lanes[3]
    for k in range(out.shape[0]):
        total = np.uint32(a[k] + d[k])
        rotated = np.uint32(np.uint32(total << _ROTATE) | np.uint32(total >> _FAR))
        out[k] = np.uint32(rotated + a[k])
        shifted = np.uint32(b[k] << _SPREAD)
        c[k] ^= a[k]
        d[k] ^= b[k]
        b[k] ^= c[k]
        a[k] ^= d[k]
        c[k] ^= shifted
        d[k] = np.uint32(np.uint32(d[k] << _LAST) | np.uint32(d[k] >> _REST))


@inner_borrowing_jit
def minus_log(value: Any) -> Any:
    """``-log(value)`` in single precision for ``0 < value <= 1``."""
    bits = np.float32(value).view(np.int32)
    power = np.int32(np.int32(bits - _ROOT_HALF) >> _MANTISSA)
    f = np.int32(bits - np.int32(power << _MANTISSA)).view(np.float32) - _ONE
    square = f * f
    low = (_L0 + f * _L1) + square * (_L2 + f * _L3)
    high = (_L4 + f * _L5) + square * (_L6 + f * _L7) + square * square * _L8
    tail = low + square * square * high
    return -(np.float32(power) * _LOG_2 + (f + square * (f * tail - _HALF)))


@inner_borrowing_jit
def sine_square(part: Any) -> Any:
    r""":math:`\sin^2(\pi t)` for the :math:`t` in the middle of a cell of width 2^-32."""
    t = (np.float32(part) + _HALF) * _UNIT
    square = t * t
    fourth = square * square
    low, high = _S0 + square * _S1, (_S2 + square * _S3) + fourth * (_S4 + square * _S5)
    sine = t * (low + fourth * high)
    return sine * sine


@inner_borrowing_jit
def fill_variates(lanes, rng, bits, square, uniform):  # type: ignore[no-untyped-def]
    """Write squared standard normals and uniform variates for the rows of a block.

    Without ``lanes`` they come from ``rng``. ``bits`` is work space: :data:`WORDS` rows, as wide as
    the lanes.
    """
    size, width = square.shape[0], lanes.shape[1]
    if width == 0:
        for k in range(size):
            normal = rng.standard_normal()
            square[k] = normal * normal
        for k in range(size):
            uniform[k] = rng.random()
        return
    for word in range(WORDS):
        next_lanes(lanes, bits[word])
    radius, angle, one, other = bits[0], bits[1], bits[2], bits[3]
    first, second = square[:width], square[width:]
    for k in range(width):
        first[k] = _TWO * minus_log((np.float32(radius[k]) + _HALF) * _UNIT)
    for k in range(second.shape[0]):
        part = np.uint32(angle[k] >> _ONE_BIT)
        second[k] = first[k] * sine_square(np.uint32(_LARGEST - part))
    for k in range(width):
        first[k] *= sine_square(np.uint32(angle[k] >> _ONE_BIT))
    first, second = uniform[:width], uniform[width:]
    for k in range(width):
        first[k] = (np.float32(one[k]) + _HALF) * _UNIT
    for k in range(second.shape[0]):
        second[k] = (np.float32(other[k]) + _HALF) * _UNIT
