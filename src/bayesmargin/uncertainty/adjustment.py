r"""Draws moved and stretched so that their intervals cover: an affine map, kept with the draws.

Draws with mean :math:`\bar w` and covariance :math:`S` become
:math:`\hat w + A\,(w - \bar w)`, where :math:`\hat w` and :math:`V` are what
:mod:`bayesmargin.uncertainty.sandwich` finds and :math:`A S A^T = V`. Of all such maps

.. math:: A = S^{-1/2} \left(S^{1/2} V S^{1/2}\right)^{1/2} S^{-1/2}

moves draws least: where the posterior is as wide as it should be, :math:`A` is the identity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from bayesmargin.foundation.storage import DRAW_TYPE, draw_array
from bayesmargin.foundation.types import FloatArray

SMALLEST = 1e-12  # share of the largest variance below which a direction counts as fixed
PIECE = 256  # draws mapped at a time


@dataclass(frozen=True)
class Adjustment:
    """An affine map of weights, classes one after another, the intercept last in each.

    Attributes
    ----------
    mean, centre : arrays of shape (n_weights,)
        Mean of the draws, and where it is moved.
    stretch : array
        The matrix ``A``; blocks of it (block, n, n), or its diagonal.
    doubts : str
        Why intervals may not cover even so; empty where nothing speaks against it.
    """

    mean: FloatArray
    centre: FloatArray
    stretch: FloatArray = field(repr=False)
    doubts: str = ""

    @property
    def form(self) -> str:
        """Whether the whole covariance is put right, or blocks or the diagonal of it."""
        return ("diagonal", "full", "blocks")[self.stretch.ndim - 1]

    def moved(self, draws: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Draws ``coef`` (chain, draw, ..., feature) and ``intercept`` (chain, draw, ...), mapped.

        An intercept that the map does not know, zero in every draw, stays as it is.
        """
        coef, intercept = draws["coef"], draws["intercept"]
        size, blocks = coef[0, 0].size, intercept[0, 0].size
        known = len(self.mean) > size
        result = dict(draws)
        large = coef.dtype == DRAW_TYPE
        result["coef"] = new = draw_array(coef.shape) if large else np.empty(coef.shape)
        if known:
            result["intercept"] = ends = np.empty(intercept.shape, intercept.dtype)
        for chain in range(coef.shape[0]):
            for start in range(0, coef.shape[1], PIECE):
                part = chain, slice(start, start + PIECE)
                some = {"coef": coef[part][None], "intercept": intercept[part][None]}
                table = self.applied(self.joint(some)).reshape(len(coef[part]), blocks, -1)
                new[part] = table[..., : size // blocks].reshape(new[part].shape)
                if known:
                    ends[part] = table[..., -1].reshape(ends[part].shape)
        return result

    def joint(self, draws: Mapping[str, FloatArray]) -> FloatArray:
        """Draws of coefficients and intercepts as weights (draw, weight)."""
        coef, intercept = draws["coef"], draws["intercept"]
        count, blocks = coef.shape[0] * coef.shape[1], intercept[0, 0].size
        table = coef.reshape(count, blocks, -1).astype(float)
        if len(self.mean) > table[0].size:
            table = np.concatenate([table, intercept.reshape(count, blocks, 1)], axis=2)
        return table.reshape(count, -1)

    def applied(self, weights: FloatArray) -> FloatArray:
        """Weights (draw, weight), mapped."""
        away = weights - self.mean
        if self.stretch.ndim == 1:
            return self.centre + away * self.stretch
        if self.stretch.ndim == 2:
            return self.centre + away @ self.stretch.T
        parts = away.reshape(len(away), *self.stretch.shape[:2])
        moved = np.einsum("kij,dkj->dki", self.stretch, parts, optimize=True)
        return self.centre + moved.reshape(away.shape)


def stretch_between(covariance: FloatArray, wanted: FloatArray) -> FloatArray:
    """The symmetric matrix ``A`` of ``A @ covariance @ A.T = wanted``.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.uncertainty.adjustment import stretch_between
    >>> wanted = np.array([[4.0, 1.0], [1.0, 1.0]])
    >>> found = stretch_between(np.diag([1.0, 4.0]), wanted)
    >>> bool(np.allclose(found @ np.diag([1.0, 4.0]) @ found.T, wanted))
    True
    """
    scale = np.sqrt(np.maximum(np.diag(wanted), 1e-300))  # units in which both are of order one
    covariance = covariance / np.outer(scale, scale)
    wanted = wanted / np.outer(scale, scale)
    values, vectors = linalg.eigh(covariance)
    values = np.maximum(values, SMALLEST * values[-1])
    root = (vectors * np.sqrt(values)) @ vectors.T
    inverse = (vectors / np.sqrt(values)) @ vectors.T
    inner, axes = linalg.eigh(root @ wanted @ root)
    middle = (axes * np.sqrt(np.maximum(inner, 0.0))) @ axes.T
    result: FloatArray = (inverse @ middle @ inverse) * np.outer(scale, 1.0 / scale)
    return result
