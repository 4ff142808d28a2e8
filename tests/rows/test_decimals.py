"""Decimal numbers read by compiled code, against Python's ``float``, bit by bit."""

import random
import struct

import numpy as np
import pytest

from bayesmargin.foundation.compiling import from_python
from bayesmargin.rows.decimals import EXTREME, POWERS_OF_FIVE, read_decimal

reader = from_python(read_decimal)


def read(text):
    """Place after the number, and the number."""
    place, bits = reader(np.frombuffer(text.encode() + b"\n", np.uint8), 0, POWERS_OF_FIVE)
    return place, struct.unpack("<d", struct.pack("<Q", int(bits)))[0]


def misread(texts):
    """Those of the texts that are not read to their end, or not as ``float`` reads them."""
    return [
        text
        for text in texts
        if read(text)[0] != len(text)
        or struct.pack("<d", read(text)[1]) != struct.pack("<d", float(text))
    ]


def test_numbers_as_programs_write_them():
    rng = random.Random(0)
    texts = ["0", "-0", "+0.0", "007", ".5", "5.", "+1E+05", "1e-0003", "-.25e2", "0e99999"]
    for _ in range(3000):
        value = rng.gauss(0.0, 1.0) * 10.0 ** rng.randint(-40, 40)
        texts += [repr(value), f"{value:.{rng.randint(0, 18)}g}", f"{value:.18e}"]
    assert misread(texts) == []


def test_numbers_halfway_between_two_doubles_are_rounded_to_even():
    rng, texts = random.Random(1), []
    for _ in range(1000):
        odd = rng.randrange(2**53 + 1, 2**54, 2)  # 54 bits, the last of them set
        texts += [str(odd), *(f"{odd * 5**k}e-{k}" for k in range(1, 4))]
        for power in range(1, 23):
            multiple = odd // 5**power | 1
            if 2**53 < multiple * 5**power < 2**54:
                texts.append(f"{multiple}e{power}")
    assert misread(texts) == []


def test_numbers_next_to_halves_and_to_powers_of_two():
    texts = []
    for power in range(-EXTREME + 30, EXTREME - 30, 3):
        for double in (2.0 ** (3.3 * power) // 1.0 or 2.0**power, 10.0**power):
            digits, exponent = f"{double:.18e}".split("e")
            whole = int(digits.replace(".", ""))
            texts += [f"{whole + nudge}e{int(exponent) - 18}" for nudge in (-1, 0, 1)]
    assert misread(texts) == []


@pytest.mark.parametrize(
    "text",
    ["", "-", "+", ".", "e5", "1e", "1e+", "nan", "inf", "12345678901234567890", "1e300", "1e-290"],
)
def test_what_is_no_plain_number_is_left_to_others(text):
    assert read(text)[0] == -1


def test_what_follows_a_number_is_not_read():
    assert read("0x10") == (1, 0.0)
    assert read("1_000") == (1, 1.0)
    assert read("1.5.2") == (3, 1.5)
    assert read("0.00000000000000000000125 7") == (25, 1.25e-21)
