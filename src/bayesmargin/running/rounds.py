"""Rounds: a run is made in pieces short enough to be watched, written down and stopped between."""

import time
from collections.abc import Callable

import numpy as np

ROUND_SECONDS = 0.3


def in_rounds(
    run: Callable[[int], None],
    n_draws: int,
    after: Callable[[int], None],
    first: int = 8,
    fixed: int | None = None,
) -> None:
    """Make ``n_draws`` draws by calls ``run(size)``, and call ``after(made)`` after each.

    Parameters
    ----------
    run : callable
        Makes so many draws.
    n_draws : int
        Draws to make.
    after : callable
        Hears how many draws there are.
    first : int
        Draws of the first round; those of the others take :data:`ROUND_SECONDS` or so.
    fixed : int or None
        Draws of every round, where their number is given.

    Examples
    --------
    >>> from bayesmargin.running.rounds import in_rounds
    >>> in_rounds(lambda size: None, 7, print, fixed=3)
    3
    6
    7
    """
    made, size = 0, first
    while made < n_draws:
        size = min(fixed or size, n_draws - made)
        start = time.perf_counter()
        run(size)
        seconds = time.perf_counter() - start
        made += size
        size = int(np.clip(size * ROUND_SECONDS / max(seconds, 1e-6), 1, 4 * size))
        after(made)
