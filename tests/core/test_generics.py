"""Bodies of generic functions: picked by the class of the first argument, compiled once."""

from collections import Counter
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core import event

from bayesmargin.foundation.compiling import (
    borrowing_jit,
    implements,
    inner_borrowing_jit,
    inner_jit,
    jit,
)


class _Line(NamedTuple):
    slope: np.ndarray


class _Step(NamedTuple):
    height: np.ndarray


def _value(curve, place, shift=0.0):
    raise TypeError("compiled code only")


@implements(_value, _Line, borrows=True)
def _value_of_line(curve, place, shift=0.0):
    return curve.slope[0] * (place - shift)


@implements(_value, _Step)
def _value_of_step(curve, place, shift=0.0):
    return curve.height[0] if place > shift else 0.0


@inner_jit
def _allocating(curve, place):
    return _value(curve, place) + np.zeros(1)[0]


@inner_borrowing_jit
def _borrowing(curve, place):
    return _value(curve, place)


@jit
def _sum_of_all(curve, place):
    return _value(curve, place) + _allocating(curve, place) + _borrowing(curve, place)


@borrowing_jit
def _moved(curve, place):
    return _value(curve, place, shift=1.0) + _value(curve, place, 1.0)


def test_the_class_of_the_first_argument_picks_the_body():
    assert _moved(_Line(np.array([3.0])), 2.0) == 6.0
    assert _moved(_Step(np.array([5.0])), 2.0) == 10.0
    assert _moved(_Step(np.array([5.0])), 0.5) == 0.0


def test_a_body_is_compiled_once_whoever_calls_it():
    compiled = Counter()

    class Ear(event.Listener):
        def on_start(self, event):
            compiled[event.data["dispatcher"].py_func.__name__] += 1

        def on_end(self, event):
            pass

    with event.install_listener("numba:compile", Ear()):
        assert _sum_of_all(_Line(np.array([3.0])), np.float32(2.0)) == 18.0
    assert compiled[_value_of_line.__name__] == 1
    assert compiled[_borrowing.__name__] == 1


def test_a_class_without_a_body_is_refused():
    with pytest.raises(numba.TypingError, match="_value"):
        _moved((np.array([3.0]),), 2.0)
