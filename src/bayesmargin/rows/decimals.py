r"""Decimal numbers in bytes of text, read by compiled code as Python's ``float`` reads them.

A number is :math:`w\,10^q` with whole :math:`w < 10^{19}`. The method of Lemire ("Number parsing at
a gigabyte per second", 2021) multiplies :math:`w` by the first 128 bits of :math:`5^q`; the upper
bits of the product are the correctly rounded mantissa but for products that cannot be told from
halves. Those, longer numbers and extreme exponents are left to Python.
"""

from typing import Any

import numpy as np

from bayesmargin.foundation.compiling import inner_jit

EXTREME = 250  # exponents up to here give neither denormal nor infinite numbers
MOST_DIGITS = 19  # that 64 bits always hold

_ONE, _TEN, _ZERO = np.uint64(1), np.uint64(10), np.uint64(48)
_HALF, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_DROPPED = np.uint64(9)  # bits of a product below the mantissa, its bit for rounding and one spare
_MANTISSA = np.uint64(52)
_SIGN = np.uint64(63)


def _leading_bits(power: int) -> int:
    """The first 128 bits of a power of five: rounded down, of inverses rounded up."""
    if power >= 0:
        whole = 5**power
        excess = whole.bit_length() - 128
        return whole >> excess if excess > 0 else whole << -excess
    whole = 5**-power
    return (1 << (whole.bit_length() + 127)) // whole + 1


def _power_table() -> Any:
    bits = [_leading_bits(power) for power in range(-EXTREME, EXTREME + 1)]
    return np.array([(b >> 64, b & 0xFFFFFFFFFFFFFFFF) for b in bits], dtype=np.uint64)


POWERS_OF_FIVE = _power_table()
"""Upper and lower 64 bits of the powers from ``-EXTREME`` on."""


@inner_jit
def read_decimal(text, place, powers):  # type: ignore[no-untyped-def]
    """Place after the number that begins at ``place``, and the bits of the double; -1: not plain.

    Text after the number must hold something that is no part of one. ``powers`` are
    :data:`POWERS_OF_FIVE`.
    """
    sign = np.uint64(text[place] == 45)  # a minus
    if text[place] == 45 or text[place] == 43:
        place += 1
    first, power = place, 0
    place, whole = _digits(text, place, np.uint64(0))
    seen = place - first
    if text[place] == 46:  # a point
        point = place
        place, whole = _digits(text, place + 1, whole)
        power = point + 1 - place
        seen -= power
    if seen == 0 or (seen > MOST_DIGITS and seen - _zeros(text, first) > MOST_DIGITS):
        return -1, np.uint64(0)
    if text[place] | 32 == 101:  # an exponent
        place, exponent = _exponent(text, place + 1)
        power += exponent
        if place < 0:
            return -1, np.uint64(0)
    if whole == 0:
        return place, sign << _SIGN
    if not -EXTREME <= power <= EXTREME:
        return -1, np.uint64(0)
    bits = _rounded(whole, power, powers)
    return (place if bits else -1), sign << _SIGN | bits


@inner_jit
def _digits(text, place, whole):  # type: ignore[no-untyped-def]
    """Place after digits, and the number that they continue."""
    digit = np.uint64(text[place]) - _ZERO
    while digit < _TEN:  # what comes before the zero wraps around
        whole = whole * _TEN + digit
        place += 1
        digit = np.uint64(text[place]) - _ZERO
    return place, whole


@inner_jit
def _zeros(text, place):  # type: ignore[no-untyped-def]
    """Zeros before the first other digit of a number."""
    count = 0
    while text[place] == 48 or text[place] == 46:
        count += text[place] == 48
        place += 1
    return count


@inner_jit
def _exponent(text, place):  # type: ignore[no-untyped-def]
    """Place after an exponent, and its value; -1: not plain."""
    negative = text[place] == 45
    if negative or text[place] == 43:
        place += 1
    value, first = 0, place
    while 48 <= text[place] <= 57:
        value = 10 * value + np.int64(text[place]) - 48
        place += 1
    if not 1 <= place - first <= 6:
        return -1, 0
    return place, -value if negative else value


@inner_jit
def _rounded(whole, power, powers):  # type: ignore[no-untyped-def]
    """Bits of the double closest to ``whole`` times a power of ten; zero where that is in doubt."""
    shift = np.uint64(0)
    for step in (32, 16, 8, 4, 2, 1):
        if whole >> np.uint64(64 - step) == 0:
            whole <<= np.uint64(step)
            shift += np.uint64(step)
    high, low = _product(whole, powers[power + EXTREME, 0])
    rest = (_ONE << _DROPPED) - _ONE
    if high & rest == rest:  # what the lower bits of the power add may carry
        more, _ = _product(whole, powers[power + EXTREME, 1])
        low += more
        high += np.uint64(low < more)
        if low == _ALL and not -27 <= power <= 55:
            return np.uint64(0)
    top = high >> _SIGN
    mantissa = high >> (top + _DROPPED)
    nothing_below = low <= _ONE and -4 <= power <= 23 and mantissa << (top + _DROPPED) == high
    if nothing_below and mantissa & np.uint64(3) == _ONE:
        mantissa -= _ONE  # halfway between two doubles: the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    # The power of two of the leading bit: log2(10) in 16 bits is exact for all powers here.
    exponent = ((217706 * power) >> 16) + 63 + np.int64(top) - np.int64(shift) + 1023
    if mantissa >> (_MANTISSA + _ONE):
        mantissa >>= _ONE
        exponent += 1
    return np.uint64(exponent) << _MANTISSA | mantissa & ((_ONE << _MANTISSA) - _ONE)


@inner_jit
def _product(one, other):  # type: ignore[no-untyped-def]
    """Upper and lower 64 bits of a product of two numbers of 64 bits."""
    a, b, c, d = one >> _HALF, one & _LOW, other >> _HALF, other & _LOW
    cross = a * d + ((b * d) >> _HALF)  # at most 2**64 - 2**32
    other_cross = b * c + (cross & _LOW)
    return a * c + (cross >> _HALF) + (other_cross >> _HALF), one * other
