r"""An exponential that the compiler can vectorise, for the single-precision kernels.

In double precision it is ``math.exp``. In single precision :math:`2^t = 2^i\,2^f` with integer
:math:`i` and :math:`|f| \le 1/2`: a polynomial for the fraction, bits of the exponent for the rest
(relative error below 3e-7). Arguments are not positive: weights are exponentiated after their
maximum was subtracted.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from bayesmargin.foundation.compiling import FASTMATH

_LOG2_E = np.float32(1.0 / math.log(2.0))
_LOWEST = np.float32(-126.0)
_HALF = np.float32(0.5)
_BIAS = np.int32(127)
_SHIFT = np.int32(23)
# Taylor coefficients log(2)^n / n!: on |f| <= 1/2 the remainder is below single precision.
_C0, _C1, _C2, _C3, _C4, _C5, _C6 = (
    np.float32(math.log(2.0) ** n / math.factorial(n)) for n in range(7)
)


def exponential(value: Any) -> Any:
    """``exp(value)`` for ``value <= 0``, in the precision of its argument."""
    return math.exp(value)


def _single(value: Any) -> Any:
    power = value * _LOG2_E
    power = power if power > _LOWEST else _LOWEST
    whole = np.int32(power - _HALF)
    f = power - np.float32(whole)
    fraction = _C0 + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * (_C5 + f * _C6)))))
    return fraction * np.int32((whole + _BIAS) << _SHIFT).view(np.float32)


def _double(value: Any) -> Any:
    return math.exp(value)


@overload(exponential, jit_options={"nogil": True, "fastmath": FASTMATH})
def _choose(value: Any) -> Callable[..., Any]:
    return _single if value == types.float32 else _double
