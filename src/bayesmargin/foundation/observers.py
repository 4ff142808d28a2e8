"""Telling whoever listens where the search for an anchor is: the display, or a stopwatch.

On large data the search is most of a fit, and its means are useful long before it ends.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from bayesmargin.foundation.types import FloatArray

Listener = Callable[[FloatArray], None]
_listener: ContextVar[Listener | None] = ContextVar("bayesmargin_anchor_listener", default=None)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Have every mean that the search comes by in this context handed to ``listener``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.foundation.observers import listening, tell
    >>> with listening(lambda mean: print(mean)):
    ...     tell(np.zeros(2))
    [0. 0.]
    >>> tell(np.ones(2))
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def tell(mean: FloatArray) -> None:
    """Hand over a mean, if somebody listens."""
    listener = _listener.get()
    if listener is not None:
        listener(mean)
