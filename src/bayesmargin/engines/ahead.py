"""Programs compiled side by side, while the rows are on their way to the device.

What is compiled here is found again by the functions that need it: they are called with arrays of
the same shapes.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from bayesmargin.foundation.threads import n_threads

TOGETHER = 8  # compilations at a time


@contextmanager
def compiled_ahead(programs: Sequence[Callable[[], Any]]) -> Iterator[None]:
    """Compile in threads while the body runs; wait for the last program at its end.

    Examples
    --------
    >>> import jax
    >>> from bayesmargin.engines.ahead import compiled_ahead
    >>> double = jax.jit(lambda x: 2.0 * x)
    >>> shape = jax.ShapeDtypeStruct((3,), "float32")
    >>> with compiled_ahead([lambda: double.lower(shape).compile()]):
    ...     print("rows travel")
    rows travel
    """
    with ThreadPoolExecutor(min(TOGETHER, n_threads(None, len(programs)))) as pool:
        waiting = [pool.submit(program) for program in programs]
        yield
        for program in waiting:
            program.result()
