r"""Kernels: how alike two rows are.

=============  ==========================================================
name           :math:`k(x, x')`
=============  ==========================================================
rbf            :math:`\exp(-\gamma\,|x - x'|^2)`
laplacian      :math:`\exp(-\gamma \sum_j |x_j - x'_j|)`
poly           :math:`(\gamma\, x \cdot x' + r)^p`
linear         :math:`x \cdot x'`
cosine         :math:`x \cdot x' / (|x|\,|x'|)`
precomputed    the numbers that are given
a function     what it returns for two matrices of rows
=============  ==========================================================

A kernel is the covariance of the scores before any row is seen, so it must be positive definite.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from bayesmargin.errors import DataError
from bayesmargin.foundation.arguments import require_choice, require_count
from bayesmargin.foundation.settings import Settings
from bayesmargin.foundation.types import FloatArray

ALONE = 64  # rows whose function values with each other are computed for those with themselves


class Kernel(Settings):
    """Base of the kernels. They are frozen: ``gamma``, which may be learned, is handed in."""

    @abstractmethod
    def between(self, first: FloatArray, second: Any, gamma: float) -> FloatArray:
        """Matrix of the kernel between two matrices of rows."""

    @abstractmethod
    def of_itself(self, rows: FloatArray, gamma: float) -> FloatArray:
        """Kernel of every row with itself."""

    def check(self) -> None:
        """Raise ``ValueError`` for settings that are not allowed."""

    @property
    def has_gamma(self) -> bool:
        """Whether ``gamma`` means anything."""
        return False


@dataclass(frozen=True, repr=False)
class RBF(Kernel):
    r"""Gaussian kernel :math:`\exp(-\gamma\,|x - x'|^2)`.

    Parameters
    ----------
    features : {"landmarks", "random"}
        What describes rows: their kernel with some of them, or random waves that know no row.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.kernel.kernels import RBF
    >>> RBF().between(np.zeros((1, 2)), np.array([[0.0, 0.0], [1.0, 1.0]]), 0.5).round(3)
    array([[1.   , 0.368]])
    """

    features: str = "landmarks"

    def check(self) -> None:
        """Raise ``ValueError`` for settings that are not allowed."""
        require_choice("features", self.features, ("landmarks", "random"))

    @property
    def has_gamma(self) -> bool:
        """Whether ``gamma`` means anything."""
        return True

    @property
    def of_waves(self) -> bool:
        """Whether rows are described by random waves, not by landmarks."""
        return self.features == "random"

    def frequencies(
        self, shape: tuple[int, int], gamma: float, rng: np.random.Generator
    ) -> FloatArray:
        """Of a normal law."""
        return np.sqrt(2.0 * gamma) * rng.standard_normal(shape)

    def between(self, first: FloatArray, second: Any, gamma: float) -> FloatArray:
        """Matrix of the kernel between two matrices of rows."""
        values = first @ (2.0 * second.T)
        values -= np.einsum("ij,ij->i", first, first)[:, None]
        values -= np.einsum("ij,ij->i", second, second)
        values *= gamma
        np.minimum(values, 0.0, out=values)
        return np.exp(values, out=values)

    def of_itself(self, rows: FloatArray, gamma: float) -> FloatArray:
        """One for every row."""
        return np.ones(len(rows))


@dataclass(frozen=True, repr=False)
class Laplacian(RBF):
    r"""Kernel :math:`\exp(-\gamma \sum_j |x_j - x'_j|)`, for rougher scores."""

    def between(self, first: FloatArray, second: Any, gamma: float) -> FloatArray:
        """Matrix of the kernel between two matrices of rows."""
        return np.exp(-gamma * cdist(first, second, "cityblock"))

    def frequencies(
        self, shape: tuple[int, int], gamma: float, rng: np.random.Generator
    ) -> FloatArray:
        """Of Cauchy's law."""
        return gamma * rng.standard_cauchy(shape)


@dataclass(frozen=True, repr=False)
class Linear(Kernel):
    r"""Kernel :math:`x \cdot x'`: straight lines, for which the linear model is the quicker one."""

    def between(self, first: FloatArray, second: Any, gamma: float) -> FloatArray:
        """Matrix of the kernel between two matrices of rows."""
        return first @ second.T

    def of_itself(self, rows: FloatArray, gamma: float) -> FloatArray:
        """Squared lengths of the rows."""
        return np.einsum("ij,ij->i", rows, rows)


@dataclass(frozen=True, repr=False)
class PolynomialKernel(Kernel):
    r"""Kernel :math:`(\gamma\, x \cdot x' + r)^p`.

    Parameters
    ----------
    degree : int
        The power :math:`p`.
    coef0 : float
        The constant :math:`r`, not negative; without one there are no terms of lower degree.
    """

    degree: int = 3
    coef0: float = 1.0

    @property
    def has_gamma(self) -> bool:
        """Whether ``gamma`` means anything."""
        return True

    def check(self) -> None:
        """Raise ``ValueError`` for settings that are not allowed."""
        require_count("degree", self.degree, 1)
        if not 0.0 <= self.coef0 < np.inf:
            raise ValueError(f"coef0={self.coef0!r} is not allowed: it is a number of 0 or more")

    def between(self, first: FloatArray, second: Any, gamma: float) -> FloatArray:
        """Matrix of the kernel between two matrices of rows."""
        return np.asarray((gamma * (first @ second.T) + self.coef0) ** self.degree)

    def of_itself(self, rows: FloatArray, gamma: float) -> FloatArray:
        """Kernel of every row with itself."""
        squares = np.einsum("ij,ij->i", rows, rows)
        return np.asarray((gamma * squares + self.coef0) ** self.degree)


@dataclass(frozen=True, repr=False)
class Cosine(Kernel):
    r"""Kernel :math:`x \cdot x' / (|x|\,|x'|)`; rows of zeros are like no other."""

    def between(self, first: FloatArray, second: Any, gamma: float) -> FloatArray:
        """Matrix of the kernel between two matrices of rows."""
        return _directions(first) @ _directions(second).T

    def of_itself(self, rows: FloatArray, gamma: float) -> FloatArray:
        """One for every row."""
        return np.ones(len(rows))


def _directions(rows: FloatArray) -> FloatArray:
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.where(length > 0.0, length, 1.0)[:, None])


@dataclass(frozen=True, repr=False)
class Precomputed(Kernel):
    """Rows hold the kernel with all training rows; ``second`` are numbers of training rows."""

    def between(self, first: FloatArray, second: Any, gamma: float) -> FloatArray:
        """Columns of the given matrix."""
        return np.asarray(first[:, second])

    def of_itself(self, rows: FloatArray, gamma: float) -> FloatArray:
        """Unknown for new rows: whoever fits knows the diagonal of the training matrix."""
        return np.full(len(rows), np.nan)


@dataclass(frozen=True, repr=False)
class PrecomputedKernel(Kernel):
    """A function of two matrices of rows that returns the matrix of the kernel."""

    function: Callable[[FloatArray, FloatArray], Any]

    def between(self, first: FloatArray, second: Any, gamma: float) -> FloatArray:
        """Matrix of the kernel between two matrices of rows."""
        values = np.asarray(self.function(first, second), dtype=float)
        if values.shape != (len(first), len(second)) or not np.isfinite(values).all():
            raise DataError(
                f"the kernel function gave an array of shape {values.shape} for {len(first)} and "
                f"{len(second)} rows: it has to give finite numbers of shape (first, second)"
            )
        return values

    def of_itself(self, rows: FloatArray, gamma: float) -> FloatArray:
        """Kernel of every row with itself."""
        parts = [rows[first : first + ALONE] for first in range(0, len(rows), ALONE)]
        return np.concatenate([np.diag(self.between(part, part, gamma)) for part in parts])


KERNELS: dict[str, type[Kernel]] = {
    "rbf": RBF,
    "laplacian": Laplacian,
    "poly": PolynomialKernel,
    "linear": Linear,
    "cosine": Cosine,
    "precomputed": Precomputed,
}


def kernel_of(kernel: Any) -> Kernel:
    """Kernel object for a name, a function or an object.

    Examples
    --------
    >>> from bayesmargin.models.kernel.kernels import kernel_of
    >>> kernel_of("poly").set_params(degree=2)
    PolynomialKernel(degree=2)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]()
    if callable(kernel):
        return PrecomputedKernel(kernel)
    names = ", ".join(map(repr, KERNELS))
    hint = ""
    if isinstance(kernel, str) and kernel == "sigmoid":
        hint = " (that of a sigmoid is not positive definite, so it is no covariance)"
    raise ValueError(
        f"kernel={kernel!r} is not allowed{hint}: choose one of {names}, or pass a function of two "
        "matrices of rows"
    )
