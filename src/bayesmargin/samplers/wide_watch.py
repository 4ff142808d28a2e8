"""What a wide chain shows the supervisor: a few coordinates, and how far the classes are apart.

Most of a weight that several classes share a hinge for is common to them: the hinge does not see
that part, it is drawn afresh, and it hides how slowly the rest moves. Differences between the last
coordinates of the classes, the intercepts where there are any, are the slowest of that rest, so
they are watched beside the coordinates themselves.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray

WATCHED = 256  # figures of a draw whose R-hat and ESS steer the run
MOST_CLASSES = WATCHED // 2  # whose differences are among them


class Watch(NamedTuple):
    """Figures of a position that are watched."""

    coordinates: IntArray
    scale: FloatArray = np.empty(0)
    """Of the last coordinate of every class, where one hinge joins them; else empty."""

    def __call__(self, positions: FloatArray) -> FloatArray:
        """Watched figures (draw, figure) of positions (draw, coordinate)."""
        seen = positions[:, self.coordinates]
        count = self.scale.size
        if count == 0:
            return seen
        moves = self.scale * positions[:, -count:]
        apart = moves - moves.mean(axis=1, keepdims=True)
        return np.hstack([seen, apart[:, _even(count, MOST_CLASSES)]])


def watch(size: int, n_blocks: int, scale: FloatArray | None) -> Watch:
    """What to watch of ``size`` coordinates, those of ``n_blocks`` classes interleaved.

    ``scale`` turns coordinates into weights where one hinge joins the classes; None says that
    every class has a posterior of its own. The intercepts come last and are always among the
    coordinates, or an even selection of them.
    """
    last = size - n_blocks + _even(n_blocks, MOST_CLASSES)
    if scale is None or n_blocks == 1:
        return Watch(np.union1d(_even(size, WATCHED - len(last) + 1), last))
    return Watch(_even(size, WATCHED - len(last)), scale[-n_blocks:])


def _even(size: int, most: int) -> IntArray:
    """At most ``most`` of the numbers below ``size``, evenly spread, the last among them."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).astype(np.int64))
