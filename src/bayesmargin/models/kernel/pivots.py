r"""Landmarks drawn one after another: randomly pivoted Cholesky, a block of proposals at a time.

Each landmark is a row drawn with a probability proportional to :math:`r(x)`, what those before
leave out of the row's own variance. One at a time that reads the factor once a landmark. So several
are proposed by what is left out before any of them, and each is taken with the probability
:math:`r_{now}(x) / r_{before}(x)` that is left once those taken before it are landmarks, too. The
law of what is taken is the same, and the factor grows by products of matrices [1]_.

.. [1] E. N. Epperly, J. A. Tropp and R. J. Webber, "Embrace rejection: kernel matrix approximation
   by accelerated randomly pivoted Cholesky", 2024.
"""

from typing import Any

import numpy as np
from scipy import linalg

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.kernel.kernels import Kernel, Precomputed

DUST = 1e-10  # share of the largest eigenvalue, or of a row's own variance, that is rounding
PROPOSED = 64  # landmarks at a time


def pivots(
    kernel: Kernel,
    gamma: float,
    rows: FloatArray,
    columns: IntArray,
    own: FloatArray,
    count: int,
    rng: np.random.Generator,
) -> IntArray:
    """Numbers of rows that are drawn in turn, each by what the landmarks before leave out of it."""
    rest = np.maximum(own, 0.0)
    factor, size = np.zeros((count, len(rows))), 0
    chosen: list[int] = []
    given = isinstance(kernel, Precomputed)
    floor = DUST * float(rest.sum())
    while size < count and float(rest.sum()) > floor:
        ladder = np.cumsum(rest)
        drawn = rng.random((2, min(PROPOSED, count - size)))
        some = np.searchsorted(ladder, drawn[0] * ladder[-1], side="right")
        some = np.minimum(some, len(rows) - 1)
        points: Any = columns[some] if given else rows[some]
        between = kernel.between(rows[some], points, gamma)
        between = between - factor[:size, some].T @ factor[:size, some]
        taken, root = _taken(between, rest[some], DUST * own[some], drawn[1])
        if len(taken) == 0:
            rest[some] = 0.0
            continue
        new = some[taken]
        points = columns[new] if given else rows[new]
        value = kernel.between(rows, points, gamma).T - factor[:size, new].T @ factor[:size]
        added = linalg.solve_triangular(root, value, lower=True, check_finite=False)
        factor[size : size + len(new)] = added
        rest = np.maximum(rest - np.einsum("ij,ij->j", added, added), 0.0)
        rest[new] = 0.0
        chosen += new.tolist()
        size += len(new)
    return np.array(chosen, dtype=np.int64)


def _taken(
    between: FloatArray, before: FloatArray, least: FloatArray, chance: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Proposals that are taken, and the Cholesky factor of what is left between them."""
    left = between.copy()
    taken: list[int] = []
    parts = np.zeros((len(left), len(left)))
    for k in range(len(left)):
        now = left[k, k]
        if now <= least[k] or chance[k] * before[k] > now:
            continue
        parts[:, len(taken)] = left[:, k] / np.sqrt(now)
        left -= np.outer(parts[:, len(taken)], parts[:, len(taken)])
        taken.append(k)
    index = np.array(taken, dtype=np.int64)
    return index, np.tril(parts[index, : len(taken)])
