"""How functions of the array engine are compiled.

For every matrix product on a GPU, XLA tries many kernels that it makes itself, which takes
longer than most fits, and the vendor's library has better ones for heads: 1,000 classes on
100,000 x 384 rows took 108 s with them and 29 s without on an H200. With the library alone the fit
of ten million rows of 28 features did not end in 310 s (58 s with kernels of XLA); which of its
products is slow was not looked into.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax

OPTIONS = {"xla_gpu_enable_triton_gemm": False}


class Program:
    """A compiled function that no other one calls.

    A layout among its arguments says where its products come from; without one it is the library.
    """

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._vendor = jax.jit(function, compiler_options=OPTIONS, **options)
        self._tried = jax.jit(function, **options)

    def _chosen(self, *arguments: Any) -> Any:
        vendor = all(getattr(one, "vendor", True) for one in arguments)
        return self._vendor if vendor else self._tried

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Run it."""
        return self._chosen(*arguments, *named.values())(*arguments, **named)

    def lower(self, *arguments: Any, **named: Any) -> Any:
        """As that of ``jax.jit``."""
        return self._chosen(*arguments, *named.values()).lower(*arguments, **named)

    def eval_shape(self, *arguments: Any, **named: Any) -> Any:
        """As that of ``jax.jit``."""
        return self._chosen(*arguments, *named.values()).eval_shape(*arguments, **named)


def program(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A function as a :class:`Program`; used as a decorator, with options of ``jax.jit`` or bare.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.engines.programs import program
    >>> double = program(lambda x: 2.0 * x)
    >>> float(double(np.float32(1.5)))
    3.0
    """
    return partial(program, **options) if function is None else Program(function, **options)
