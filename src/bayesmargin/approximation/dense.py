r"""Gaussians nearest to posteriors of two classes on rows at hand: many small fits.

The Gaussian is that of :mod:`bayesmargin.approximation.binary`, found by the same steps. A choice
among settings asks for dozens of them on a thousand rows and a hundred columns, where looking for
rows out of reach of their kinks takes as long as reading them, and a neighbour's Gaussian is a
start. From one fit follows what each score would be without its own row. Row :math:`d` is in the
Gaussian by a force :math:`c\,\Phi(t_d)` on the mean of its score, and by the curvature
:math:`\lambda_d = c\,\varphi(t_d) / \sigma_d` that it adds to the precision, where its slack has
the mean :math:`\mu_d`, the deviation :math:`\sigma_d`, and :math:`t_d = \mu_d / \sigma_d`. Without
the two the score of a row has, to the order of a Newton step,

.. math:: \sigma_{-d}^2 = \frac{\sigma_d^2}{1 - \lambda_d \sigma_d^2}, \qquad
          f_{-d} = f_d - y_d\, c\, \Phi(t_d)\, \sigma_{-d}^2 ,

with the precision that the curvatures of all rows add up to, and after the step that is left to the
Gaussian itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import blas
from scipy.special import ndtr

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.newton import CLOSE, TOLERANCE, Energy, inverse_factor, newton
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import normal_density

OUT_OF_REACH = 8.5  # deviations between a slack and its kink, from where it bends nothing
BLOCK = 1 << 13  # rows at a time
LARGE, PART = 12_000, 4000  # rows from which on some of them, so many, give a start
MOST_OWN = 1.0 - 1e-9  # of the precision of its score that a row may have brought itself


@dataclass(frozen=True)
class RowsOfTwoClasses:
    r"""Rows, the sides on which their scores should be, and a prior :math:`N(0, \Lambda_0^{-1})`.

    Parameters
    ----------
    rows : array of shape (n_rows, n_weights)
    sign : array of shape (n_rows,)
    cost : array of shape (n_rows,)
        Of a unit of slack.
    margin : float
    precision : array of shape (n_weights,)
    """

    rows: FloatArray
    sign: FloatArray
    cost: FloatArray
    margin: float
    precision: FloatArray

    def at(self, index: Any) -> "RowsOfTwoClasses":
        """Some of the rows."""
        parts = (self.rows[index], self.sign[index], self.cost[index])
        return RowsOfTwoClasses(*parts, self.margin, self.precision)

    def scores(self, anchor: GaussianAnchor) -> tuple[FloatArray, FloatArray]:
        """Means and variances of the scores of the rows."""
        return score_moments(self.rows, anchor)

    def active(self, anchor: GaussianAnchor) -> FloatArray:
        """Probabilities that the hinges of the rows bend."""
        mean, variance = self.scores(anchor)
        return np.asarray(ndtr(self._kinks(mean, variance, slice(None))[0]))

    def precision_of(self, sites: FloatArray) -> FloatArray:
        """That of the prior and of sites of the rows."""
        precision = np.diag(self.precision)
        for span in self._spans():
            near = np.flatnonzero(sites[span] > 0.0)
            bent = self.rows[span][near] * np.sqrt(sites[span][near])[:, None]
            precision += bent.T @ bent
        return precision

    def energy(self, anchor: GaussianAnchor) -> Energy:
        """Expected energy under a Gaussian, its gradient, and the expected Hessian."""
        pull = self.precision * anchor.mean
        value = 0.5 * float(pull @ anchor.mean + self.precision @ anchor.variances())
        gradient, hessian = pull, np.diag(self.precision)
        for span in self._spans():
            rows, cost, sign = self.rows[span], self.cost[span], self.sign[span]
            mean, variance = score_moments(rows, anchor)
            ratio, deviation = self._kinks(mean, variance, span)
            active, density = ndtr(ratio), normal_density(ratio)
            value += float(cost @ (deviation * (ratio * active + density)))
            gradient = gradient - (cost * sign * active) @ rows
            near = np.flatnonzero(np.abs(ratio) < OUT_OF_REACH)
            bent = rows[near] * np.sqrt((cost * density / deviation)[near])[:, None]
            hessian += bent.T @ bent
        return value, gradient, hessian

    def fit(
        self, start: GaussianAnchor | None = None, tolerance: float = TOLERANCE
    ) -> GaussianAnchor:
        """The Gaussian of least divergence, to so many posterior deviations.

        Of many rows some, each of which stands for several, give a start.
        """
        close = tolerance
        if start is None and len(self.rows) > LARGE:
            step = -(-len(self.rows) // PART)
            part = self.at(slice(None, None, step))
            part = replace(part, cost=part.cost * (self.cost.sum() / part.cost.sum()))
            start, close = part.fit(None, CLOSE), CLOSE
        broad = 1.0 / np.sqrt(self.precision)
        return newton(self.energy, len(broad), start, broad, tolerance, close)

    def without_rows(
        self, anchor: GaussianAnchor, cost: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Means and variances of the scores, each without what its row does to it.

        ``cost`` is that of the one row that is left out, where equal rows are one.
        """
        _, gradient, hessian = self.energy(anchor)
        factor, _ = inverse_factor(hessian)
        left = factor @ (factor.T @ gradient)
        told = np.empty((2, len(self.rows)))
        for span in self._spans():
            rows, single = self.rows[span], cost[span]
            mean, variance = score_moments(rows, anchor)
            ratio, deviation = self._kinks(mean, variance, span)
            spread = rows @ factor
            own = np.einsum("ij,ij->i", spread, spread)
            alone = 1.0 - np.minimum(single * normal_density(ratio) / deviation * own, MOST_OWN)
            step = rows @ left + own * single * self.sign[span] * ndtr(ratio)
            told[0, span], told[1, span] = mean - step / alone, own / alone
        return told[0], told[1]

    def gradients(self, anchor: GaussianAnchor, draws: FloatArray) -> FloatArray:
        """Gradients at draws of N(0, I), in the coordinates in which that is the Gaussian.

        Parameters
        ----------
        draws : array of shape (n_draws, n_weights)
        """
        weights = anchor.mean + draws @ anchor.factor.T
        found = weights * self.precision
        for span in self._spans():
            rows, sign = self.rows[span], self.sign[span, None]
            bends = self.margin > sign * (rows @ weights.T)
            found -= (self.cost[span, None] * sign * bends).T @ rows
        return found @ anchor.factor

    def _spans(self) -> Iterator[slice]:
        """Some rows at a time."""
        for first in range(0, len(self.rows), BLOCK):
            yield slice(first, first + BLOCK)

    def _kinks(
        self, mean: FloatArray, variance: FloatArray, span: slice
    ) -> tuple[FloatArray, FloatArray]:
        """Mean slacks in deviations of the scores, and these deviations."""
        deviation = np.sqrt(np.maximum(variance, 1e-300))
        return (self.margin - self.sign[span] * mean) / deviation, deviation


def score_moments(rows: FloatArray, anchor: GaussianAnchor) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the scores of rows under a Gaussian whose factor is a matrix."""
    if anchor.triangular:
        spread = blas.dtrmm(1.0, anchor.factor.T, rows.T, lower=True).T
    else:
        spread = rows @ anchor.factor
    return rows @ anchor.mean, np.einsum("ij,ij->i", spread, spread)
