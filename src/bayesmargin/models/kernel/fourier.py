r"""Random features: waves whose products are the kernel on average, and what they leave out.

A kernel that depends on the difference of two rows alone is a mean over waves,

.. math:: k(x - x') = E_\omega \cos(\omega \cdot (x - x')),
    \qquad z(x) = D^{-1/2} (\cos \omega_1 \cdot x, \sin \omega_1 \cdot x, \dots),

with frequencies of a normal law for "rbf" and of Cauchy's for "laplacian" [1]_, so that
:math:`z(x) \cdot z(x')` is the kernel but for an error of some :math:`D^{-1/2}`. Nothing of the
rows goes into the waves. Of all directions of :math:`z` those are kept in which the rows vary most.

All rows have waves of length one, so the share :math:`e(x)` of it in the kept directions says how
much of a row they explain. A row that is like no training row has waves of random phase, and of
these :math:`n` of :math:`2D` directions hold a share of about :math:`n / 2D` by chance alone (a
beta law). What chance may explain is taken off: with :math:`e_0`, which chance exceeds once in a
thousand rows, features are scaled to the squared length :math:`(e(x) - e_0)_+ / (1 - e_0)`, and the
rest of the row's own variance is left out. Far from all rows that is all of it.

.. [1] A. Rahimi and B. Recht, "Random features for large-scale kernel machines", 2007.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg, stats

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.kernel.kernels import RBF, Kernel
from bayesmargin.models.kernel.landmarks import (
    EXACT_ROWS,
    SEEN,
    FeatureMap,
    alone,
    blocks,
    fit_map,
    usual_share,
)
from bayesmargin.models.kernel.pivots import DUST

PER_FEATURE = 4  # cosines and sines for each feature, at least
BY_CHANCE = 0.999  # quantile of the share that chance explains


@dataclass(frozen=True)
class FourierMap:
    """Rows to features, and to what these leave out.

    Parameters
    ----------
    kernel : RBF
    gamma : float
    frequencies : array of shape (n_columns, n_waves)
    mixing : array of shape (2 * n_waves, n_features)
        Directions that are kept, of length one and orthogonal.
    usual : float
        Share of its own variance that is left out of a training row; few rows have more.
    """

    kernel: RBF
    gamma: float
    frequencies: FloatArray
    mixing: FloatArray
    usual: float = 0.0
    own: float = 1.0

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.mixing.shape[1])

    @property
    def chance(self) -> float:
        """Share of a row of random phases that the features explain at most."""
        total, kept = self.mixing.shape
        if kept == total:
            return 0.0
        return float(stats.beta.ppf(BY_CHANCE, 0.5 * kept, 0.5 * (total - kept)))

    def features(self, rows: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Features (row, feature), variance left out (row), and how new a row is, from 0 to 1."""
        values = np.empty((len(rows), self.n_features))
        for span in blocks(len(rows), len(self.mixing)):
            values[span] = waves(rows[span], self.frequencies) @ self.mixing
        share, chance = np.einsum("ij,ij->i", values, values), self.chance
        known = np.clip((share - chance) / (1.0 - chance), 0.0, 1.0)
        length = np.divide(known, share, out=np.zeros_like(share), where=share > 0.0)
        values *= np.sqrt(length)[:, None]
        rest = 1.0 - known
        news = (rest - self.usual) / max(1.0 - self.usual, 1e-6)
        return values, rest, np.clip(news, 0.0, 1.0)


def waves(rows: FloatArray, frequencies: FloatArray) -> FloatArray:
    """Cosines and sines (row, 2 * wave), each row of length one.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.kernel.fourier import waves
    >>> waves(np.zeros((1, 3)), np.ones((3, 2))).round(3)
    array([[0.707, 0.707, 0.   , 0.   ]])
    """
    angles = rows @ frequencies
    found = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    found /= np.sqrt(frequencies.shape[1])
    return np.asarray(found)


def fit_waves(
    kernel: RBF,
    gamma: float,
    rows: FloatArray,
    n_features: int,
    rng: np.random.Generator,
    most: int = EXACT_ROWS,
) -> FourierMap:
    """Frequencies and features for some rows.

    Parameters
    ----------
    n_features : int
        Features wanted, at most.
    most : int
        Cosines and sines, at most, unless more features are wanted.
    """
    n_waves = max(most, PER_FEATURE * n_features) // 2
    frequencies = kernel.frequencies((rows.shape[1], n_waves), gamma, rng)
    some = rows
    if len(rows) > SEEN:
        some = rows[np.sort(rng.choice(len(rows), SEEN, replace=False, shuffle=False))]
    every = len(some) <= 2 * n_waves
    if every:
        known = waves(some, frequencies)
        values, vectors = linalg.eigh(known @ known.T)
        kept = np.flatnonzero(values > DUST * values[-1])[::-1][:n_features]
        mixing = known.T @ (vectors[:, kept] / np.sqrt(values[kept]))
        left = alone(values, vectors)
    else:
        second = np.zeros((2 * n_waves, 2 * n_waves))
        for span in blocks(len(some), 2 * n_waves):
            known = waves(some[span], frequencies)
            second += known.T @ known
        first = max(0, len(second) - n_features)
        values, vectors = linalg.eigh(second, subset_by_index=(first, len(second) - 1))
        mixing = vectors[:, values > DUST * values[-1]][:, ::-1]
    found = FourierMap(kernel, gamma, frequencies, np.ascontiguousarray(mixing))
    own = found.features(some)[1]
    left = np.maximum(left, own) if every else own
    return FourierMap(kernel, gamma, frequencies, found.mixing, usual_share(left))


def fit_features(
    kernel: Kernel,
    gamma: float,
    rows: FloatArray,
    columns: IntArray,
    n_features: int,
    rng: np.random.Generator,
    most: int = EXACT_ROWS,
) -> FeatureMap | FourierMap:
    """Features for some rows, by landmarks or by waves, as the kernel says."""
    if isinstance(kernel, RBF) and kernel.of_waves:
        return fit_waves(kernel, gamma, rows, n_features, rng, most)
    return fit_map(kernel, gamma, rows, columns, n_features, rng, most)
