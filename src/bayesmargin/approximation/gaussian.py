"""The Gaussian around which sampling is organised: mean and a factor of the covariance."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg
from scipy.linalg import blas

from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import Belief, GaussianBelief

SINGULAR = 1e5  # inverse of the least eigenvalue of correlations that single precision bears


@dataclass(frozen=True)
class GaussianAnchor:
    """Gaussian ``N(mean, S)`` whose covariance is kept as a factor.

    Attributes
    ----------
    mean : array of shape (n_weights,)
        Near the posterior mean.
    factor : array
        ``F`` with ``S = F F'``: a matrix of n rows, blocks (L, n, n) on the diagonal, or the
        standard deviations (n,) when the covariance is diagonal. A matrix has fewer columns than
        rows when some directions are left out.
    iterations : int
        Passes over the data that finding it took.
    common : tuple, optional
        Of blocks that have their axes in common: these, and what
        :class:`~bayesmargin.targets.common_axes.CommonAxes` tells of each class.
    """

    mean: FloatArray
    factor: FloatArray
    iterations: int = 0
    common: tuple[FloatArray, ...] | None = None

    @property
    def n_directions(self) -> int:
        """Number of directions in which the weights vary."""
        if self.factor.ndim == 3:
            return int(self.factor.shape[0] * self.factor.shape[2])
        return int(self.factor.shape[-1])

    def variances(self) -> FloatArray:
        """Diagonal of the covariance."""
        if self.factor.ndim == 1:
            return self.factor**2
        return np.einsum("...ij,...ij->...i", self.factor, self.factor).ravel()

    @cached_property
    def unit_factor(self) -> FloatArray:
        """The factor, a matrix, in units of the deviations of the weights, as products take it.

        It is in single precision, which products are four times as fast in, where no direction is
        so narrow beside the weights that rounding would show in it.
        """
        unit = self.factor / np.sqrt(self.variances())[:, None]
        if not self.triangular:
            return unit
        inverse = linalg.solve_triangular(unit, np.eye(len(unit)), check_finite=False)
        return unit if np.sum(inverse**2) > SINGULAR else unit.astype(np.float32)

    @cached_property
    def triangular(self) -> bool:
        """Whether the factor is a square matrix with nothing below its diagonal."""
        factor = self.factor
        square = factor.ndim == 2 and factor.shape[0] == factor.shape[1]
        return bool(square and not np.tril(factor, -1).any())

    def spread(self, rows: FloatArray) -> FloatArray:
        """Deviations of the scores of rows, given in units of the deviations of the weights.

        The rows have the precision of :attr:`unit_factor`, a matrix. Half of the products with a
        triangle are with zeros, and are left out.
        """
        unit = self.unit_factor
        if self.triangular:
            multiply = blas.dtrmm if unit.dtype == float else blas.strmm
            moved = multiply(1.0, unit.T, rows.T, lower=True).T
        else:
            moved = rows @ unit
        return np.sqrt(np.einsum("ij,ij->i", moved, moved).astype(float, copy=False))

    def widest(self) -> float:
        r"""Bound of the spectral norm of the factor in units of the deviations of the weights.

        Its square is the largest eigenvalue of the correlations :math:`R`. The largest row sum of
        their sizes is never below it, nor is :math:`(\sum_i \lambda_i^8)^{1/8} = \|R^4\|_F^{1/4}`;
        together they take three products of matrices.
        """
        if self.factor.ndim == 1:
            return 1.0
        unit = self.unit_factor.astype(float, copy=False)
        correlation = unit @ unit.T
        fourth = np.linalg.matrix_power(correlation, 4)
        rows = float(np.abs(correlation).sum(axis=1).max())
        return float(np.sqrt(min(rows, float(np.linalg.norm(fourth)) ** 0.25)))

    def with_prior_axes(self, prior: Belief) -> tuple[FloatArray, FloatArray]:
        r"""Whitening basis ``W`` in which a Gaussian prior has a diagonal precision.

        Any ``W = F Q`` with orthogonal ``Q`` whitens; the eigenvectors of
        :math:`F^T \Lambda_0 F` also make the prior diagonal, so that a step costs no matrix
        product. Returns ``W`` and the diagonal.
        """
        assert isinstance(prior, GaussianBelief)
        assert self.factor.ndim == 2
        precision = prior.precision
        inner = (
            self.factor.T @ (precision[:, None] * self.factor)
            if precision.ndim == 1
            else self.factor.T @ precision @ self.factor
        )
        curvature, rotation = linalg.eigh(inner)
        return self.factor @ rotation, np.maximum(curvature, 0.0)

    def moved_by(self, positions: FloatArray) -> "GaussianAnchor":
        """Anchor re-estimated from draws in its own coordinates (rows of ``positions``).

        The covariance of the draws is shrunk towards the identity, that is, towards this anchor.
        """
        count, size = positions.shape
        shift = positions.mean(axis=0)
        if self.factor.ndim == 1:
            spread = (count * positions.var(axis=0) + 5.0) / (count + 5.0)
            return GaussianAnchor(self.mean + self.factor * shift, self.factor * np.sqrt(spread))
        if self.factor.ndim == 3:
            blocks, length, _ = self.factor.shape
            parts = positions.reshape(count, blocks, length)
            moved = np.einsum("bij,bj->bi", self.factor, parts.mean(axis=0))
            factors = [
                self.factor[b] @ _shrunk_root(parts[:, b], count, length) for b in range(blocks)
            ]
            return GaussianAnchor(self.mean + moved.ravel(), np.stack(factors))
        root = _shrunk_root(positions, count, size)
        return GaussianAnchor(self.mean + self.factor @ shift, self.factor @ root)


def _shrunk_root(positions: FloatArray, count: int, size: int) -> FloatArray:
    """Root of the covariance of ``positions`` pulled towards the identity.

    It is zero below the diagonal, as the factor of a fresh anchor is, so that their product is.
    """
    weight = count / (count + 2.0 * size)
    covariance = np.atleast_2d(np.cov(positions.T))
    shrunk = weight * covariance + (1.0 - weight) * np.eye(size)
    return np.ascontiguousarray(np.linalg.cholesky(shrunk[::-1, ::-1])[::-1, ::-1])
