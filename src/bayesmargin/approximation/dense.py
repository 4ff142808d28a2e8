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

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import blas
from scipy.special import ndtr

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.newton import TOLERANCE, Energy, inverse_factor, newton
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import normal_density

OUT_OF_REACH = 8.5  # deviations between a slack and its kink, from where it bends nothing
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

    def at(self, index: FloatArray) -> "RowsOfTwoClasses":
        """Some of the rows."""
        parts = (self.rows[index], self.sign[index], self.cost[index])
        return RowsOfTwoClasses(*parts, self.margin, self.precision)

    def with_cost(self, cost: FloatArray) -> "RowsOfTwoClasses":
        """The same rows with other costs."""
        return replace(self, cost=cost)

    def scores(self, anchor: GaussianAnchor) -> tuple[FloatArray, FloatArray]:
        """Means and variances of the scores of the rows."""
        return score_moments(self.rows, anchor)

    def energy(self, anchor: GaussianAnchor) -> Energy:
        """Expected energy under a Gaussian, its gradient, and the expected Hessian."""
        mean, variance = self.scores(anchor)
        deviation = np.sqrt(np.maximum(variance, 1e-300))
        slack = self.margin - self.sign * mean
        ratio = slack / deviation
        active, density = ndtr(ratio), normal_density(ratio)
        value = float(self.cost @ (slack * active + deviation * density))
        gradient = -((self.cost * self.sign * active) @ self.rows)
        near = np.flatnonzero(np.abs(ratio) < OUT_OF_REACH)
        bends = np.sqrt((self.cost * density / deviation)[near])
        bent = self.rows[near] * bends[:, None]
        hessian = bent.T @ bent
        hessian.flat[:: len(hessian) + 1] += self.precision
        pull = self.precision * anchor.mean
        value += 0.5 * float(pull @ anchor.mean + self.precision @ anchor.variances())
        return value, gradient + pull, hessian

    def fit(
        self, start: GaussianAnchor | None = None, tolerance: float = TOLERANCE
    ) -> GaussianAnchor:
        """The Gaussian of least divergence, to so many posterior deviations."""
        broad = 1.0 / np.sqrt(self.precision)
        return newton(self.energy, len(broad), start, broad=broad, tolerance=tolerance)

    def without_rows(
        self, anchor: GaussianAnchor, cost: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Means and variances of the scores, each without what its row does to it.

        ``cost`` is that of the one row that is left out, where equal rows are one.
        """
        _, gradient, hessian = self.energy(anchor)
        factor, _ = inverse_factor(hessian)
        spread = self.rows @ factor
        own = np.einsum("ij,ij->i", spread, spread)
        mean, variance = self.scores(anchor)
        deviation = np.sqrt(np.maximum(variance, 1e-300))
        t = (self.margin - self.sign * mean) / deviation
        alone = 1.0 - np.minimum(cost * normal_density(t) / deviation * own, MOST_OWN)
        step = spread @ (factor.T @ gradient) + own * cost * self.sign * ndtr(t)
        return mean - step / alone, own / alone

    def gradients(self, anchor: GaussianAnchor, draws: FloatArray) -> FloatArray:
        """Gradients at draws of N(0, I), in the coordinates in which that is the Gaussian.

        Parameters
        ----------
        draws : array of shape (n_draws, n_weights)
        """
        turned = self.rows @ anchor.factor
        scores = (self.rows @ anchor.mean)[:, None] + turned @ draws.T
        bends = self.margin > self.sign[:, None] * scores
        forces = -(self.cost * self.sign)[:, None] * bends
        weights = anchor.mean + draws @ anchor.factor.T
        return forces.T @ turned + (weights * self.precision) @ anchor.factor


def score_moments(rows: FloatArray, anchor: GaussianAnchor) -> tuple[FloatArray, FloatArray]:
    """Means and variances of the scores of rows under a Gaussian whose factor is a matrix."""
    if anchor.triangular:
        spread = blas.dtrmm(1.0, anchor.factor.T, rows.T, lower=True).T
    else:
        spread = rows @ anchor.factor
    return rows @ anchor.mean, np.einsum("ij,ij->i", spread, spread)
