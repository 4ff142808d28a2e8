"""Options of rows as parabolas in time, and when the next of them overtakes the winner of its row.

Most of the time of a motion that crosses kinks is spent here: every crossing bends all parabolas,
and all are looked at for the next one.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.rows.layout import ONE, WORD


@inner_borrowing_jit
def crossing_time(gap, speed, pull):  # type: ignore[no-untyped-def]
    """When ``gap + speed t + pull t^2 / 2``, at most zero now, rises through zero; infinity: never.

    Examples
    --------
    >>> from bayesmargin.foundation.compiling import from_python
    >>> from bayesmargin.dynamics.parabolas import crossing_time
    >>> time = from_python(crossing_time)
    >>> time(-2.0, 1.0, 2.0), time(0.0, -3.0, 2.0), time(-1.0, 1.0, -1.0)
    (1.0, 3.0, inf)
    """
    inside = speed * speed - 2.0 * gap * pull
    if inside < 0.0:
        return math.inf
    root = math.sqrt(inside)
    if speed > 0.0:
        return -2.0 * gap / (speed + root)
    return (root - speed) / pull if pull > 0.0 else math.inf


@inner_borrowing_jit
def next_crossing(first, winning, parabolas, soonest):  # type: ignore[no-untyped-def]
    """Time, row and option of the next crossing; row -1 where there is none before ``soonest``.

    ``first[i]`` to ``first[i + 1]`` are the options of row ``i``, ``winning[i]`` its winner.
    """
    value, slope, bend = parabolas
    row, option = -1, WORD(0)
    for i in range(WORD(winning.shape[0])):
        best = WORD(winning[i])
        height, speed, pull = value[best], slope[best], bend[best]
        for o in range(WORD(first[i]), WORD(first[i + ONE])):
            gap, rate, curve = value[o] - height, slope[o] - speed, bend[o] - pull
            # The winner itself, and what falls back from a tie, is at zero here.
            if gap + soonest * (max(rate, 0.0) + 0.5 * soonest * max(curve, 0.0)) > 0.0:
                time = crossing_time(min(gap, 0.0), rate, curve)
                if time < soonest:
                    soonest, row, option = time, np.int64(i), o
    return soonest, row, np.int64(option)
