r"""What the sandwich asks of rows with one score each: slope, Hessian and scatter under a Gaussian.

It asks several times, under Gaussians that differ little. So the rows are read once, into the
coordinates in which the posterior is round, where single precision is enough: with the factor
:math:`F` and the mean :math:`m` of the posterior, weights are :math:`m + F u` and a row is
:math:`z = F^T x`. Its slack under :math:`N(u, G G^T)` has the mean :math:`\mu_0 - y\,z \cdot u` and
the deviation :math:`\|G^T z\|`, of which all three are made.
"""

import numpy as np
from scipy import sparse
from scipy.special import ndtr

from bayesmargin.approximation.binary import CERTAIN
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import normal_density
from bayesmargin.uncertainty.scatter import Sample, finished

UNSEEN = 1e-9  # share of a hinge below which its row has not pulled anything
FAR = 6.0  # deviations of a slack beyond which a kink adds nothing to the Hessian
EVERY = slice(None)


class RoundRows:
    """Rows of a problem of two classes, or with values, in coordinates of its posterior.

    Parameters
    ----------
    sample : Sample
        The problem, and how its rows came about.
    start : GaussianAnchor
        Mean and factor of the posterior.
    """

    def __init__(self, sample: Sample, start: GaussianAnchor) -> None:
        self.problem, self.number, self.groups = sample.problem, sample.number, sample.groups
        problem, groups = self.problem, self.groups
        self.origin, self.back = start.mean, np.linalg.inv(start.factor)
        self.values = np.empty((problem.source.n_rows, problem.n_weights), np.float32)
        self.slack = np.empty(problem.source.n_rows)
        for span, block in problem.source.blocks():
            rows = block.astype(float, copy=False)
            self.slack[span] = problem.slack(span, rows @ start.mean)
            self.values[span] = rows @ start.factor
        self.norms = np.sqrt(np.einsum("ij,ij->i", self.values, self.values)).astype(float)
        self.together = None
        if groups is not None:  # a matrix that sums the rows of every group
            shape, places = (int(groups.max()) + 1, len(groups)), np.arange(len(groups))
            ones = np.ones(len(groups), np.float32)
            self.together = sparse.csr_matrix((ones, (groups, places)), shape)

    def under(self, anchor: GaussianAnchor) -> "Seen":
        """The rows as a Gaussian sees them."""
        shift = (self.back @ (anchor.mean - self.origin)).astype(np.float32)
        factor = self.back @ anchor.factor
        centre = self.slack - self.problem.hinges.side * (self.values @ shift)
        reach = float(np.linalg.norm(factor, 2)) * self.norms
        near = np.flatnonzero(np.abs(centre) <= CERTAIN * reach)
        if self.together is not None:  # whose rows may be pulled a long way
            near = np.arange(len(centre))
        seen = Seen(self, factor.astype(np.float32), centre, reach)
        seen.deviation[near] = seen.deviations(near)
        seen.share[near] = ndtr(centre[near] / seen.deviation[near])
        seen.near = near
        return seen

    def precision(self, inner: FloatArray) -> FloatArray:
        """A precision of the weights, from one of the round coordinates."""
        result: FloatArray = self.back.T @ inner.astype(float) @ self.back
        return result


class Seen:
    """Rows under a Gaussian: means and deviations of their slacks, and chances of their hinges."""

    def __init__(
        self, rows: RoundRows, factor: FloatArray, centre: FloatArray, reach: FloatArray
    ) -> None:
        self.rows, self.factor, self.centre, self.reach = rows, factor, centre, reach
        self.deviation = np.maximum(reach, 1e-300)  # of rows that are not near, at most
        self.share = (centre > 0.0).astype(float)
        self.near = np.arange(0)

    def deviations(self, index: IntArray) -> FloatArray:
        """Deviations of the slacks of some rows."""
        every = len(index) == len(self.centre)
        moved = (self.rows.values if every else self.rows.values[index]) @ self.factor
        return np.maximum(np.sqrt(np.einsum("ij,ij->i", moved, moved)).astype(float), 1e-300)

    def slope(self, narrow: float) -> FloatArray:
        """Gradient of the expected hinges, for deviations so many times as large."""
        share, near = (self.centre > 0.0).astype(float), self.near
        share[near] = ndtr(self.centre[near] / (narrow * self.deviation[near]))
        force = self.rows.problem.forces(EVERY, share).astype(np.float32)
        return self.rows.back.T @ (force @ self.rows.values).astype(float)

    def hessian(self, wide: float = 1.0) -> FloatArray:
        """Hessian of the expected hinges, likewise."""
        deviation = wide * self.deviation[self.near]
        ratio = self.centre[self.near] / deviation
        seen = np.abs(ratio) <= FAR
        index, deviation = self.near[seen], deviation[seen]
        weight = self.rows.problem.cost[index] * normal_density(ratio[seen]) / deviation
        return self.rows.precision(self._square(index, weight))

    def scatter(self, inverse: FloatArray) -> tuple[FloatArray, float]:
        """Covariance of the summed subgradients, and rows whose hinge is active.

        ``inverse`` is that of the Hessian, which says how far rows have pulled the weights.
        """
        problem, number = self.rows.problem, self.rows.number
        side, slope = problem.hinges.side, problem.hinges.slope
        inner = (self.rows.back @ inverse @ self.rows.back.T).astype(np.float32)
        share = self._without_row(inner) if self.rows.together is None else self._without(inner)
        push = problem.forces(EVERY, share).astype(np.float32)
        sums = None
        square = share * (slope - side) ** 2 + (1.0 - share) * slope**2
        if self.rows.together is not None:
            sums = self.rows.together.multiply(push) @ self.rows.values
            square = share * (1.0 - share)
        index = np.flatnonzero(square > 0.0)
        total = self._square(index, square[index] * problem.cost[index] ** 2 / number[index])
        spread = finished(total, (push @ self.rows.values).astype(float), sums, number)
        active = float(number @ share)
        if problem.hinges.tilted:  # rows on either side bound the weights from theirs
            active = min(active, float(number.sum()) - active)
        return self.rows.precision(spread), active

    def _without_row(self, inverse: FloatArray) -> FloatArray:
        """Chances of the hinges where each row has not pulled the weights."""
        problem, share = self.rows.problem, self.share.copy()
        side, slope = problem.hinges.side, problem.hinges.slope
        force = (share - side * slope) * problem.cost / self.rows.number
        most = np.abs(force) * (float(np.linalg.norm(inverse, 2)) * self.rows.norms**2)
        doubtful = np.abs(self.centre) <= CERTAIN * self.reach + most
        some = np.flatnonzero(doubtful & (np.abs(share - side * slope) > UNSEEN))
        beyond = np.setdiff1d(some, self.near, assume_unique=True)
        self.deviation[beyond] = self.deviations(beyond)
        rows = self.rows.values[some]
        pull = force[some] * np.einsum("ij,ij->i", rows @ inverse, rows)
        share[some] = ndtr((self.centre[some] + pull) / self.deviation[some])
        return share

    def _without(self, inverse: FloatArray) -> FloatArray:
        """The same where the whole group of each row has not."""
        rows = self.rows
        assert rows.together is not None
        push = rows.problem.forces(EVERY, self.share).astype(np.float32)
        moved = (rows.together.multiply(push) @ rows.values) @ inverse
        pull = np.einsum("ij,ij->i", rows.values, moved[rows.groups])
        pull = self.centre - rows.problem.hinges.side * pull
        share: FloatArray = ndtr(pull / self.deviation)
        return share

    def _square(self, index: IntArray, weight: FloatArray) -> FloatArray:
        """Sum of the squares of some rows, each times its weight."""
        rows = self.rows.values[index]
        rows *= np.sqrt(weight)[:, None].astype(np.float32)
        return rows.T @ rows
