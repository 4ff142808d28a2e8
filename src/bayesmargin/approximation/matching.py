r"""Gaussians with the moments that rows give their scores: expectation propagation.

The Gaussian of least divergence is too narrow where kinks are many: by a tenth or more where a few
dozens of rows are all that is known. Here every row has a *site*, a Gaussian factor in its score
that stands for its hinge. Without the site the score has the *cavity* :math:`N(m_{-d}, v_{-d})`,
what all other rows say of it. Cavity times hinge has a mean and a variance in closed form, and the
site is changed until the Gaussian has them,

.. math:: \tau_d = \frac{1}{v_d} - \frac{1}{v_{-d}}, \qquad
          \nu_d = \frac{f_d}{v_d} - \frac{m_{-d}}{v_{-d}}, \qquad
          S^{-1} = \Lambda_0 + \sum_d \tau_d x_d x_d^T, \quad m = S \sum_d \nu_d x_d .

The hinge is log-concave, so no precision is negative. What the features of a row leave out of its
score is noise of a known variance, and the site sees the hinge through it. The cavities are the
scores of rows left out.

Sites change all at a time, and where many rows tell of the same directions their changes add up: a
hundredth of a deviation that each row asks for became a tenth of all. So it is not the row's own
wish alone that says when to stop, but by how much the scores still move from round to round.
"""

from dataclasses import dataclass, replace

import numpy as np

from bayesmargin.approximation.dense import BLOCK, RowsOfTwoClasses
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.newton import inverse_factor
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.tilting import with_hinge

ROUNDS = 80
CLOSE = 0.01  # deviations of a score, root mean square, by which moments may disagree at the end
BOLD, TIMID = 1.0, 0.1  # shares of a change of sites that are made: at first, and at least
BOLDER = 1.2  # by which the share grows where moments come nearer
CLEAR = 1e-6  # variance of a slack, in units of the cost, through which a hinge is seen as it is
LEAST = 1e-9  # of the precision of a score that is not its own row's


@dataclass(frozen=True)
class MatchedGaussian:
    r"""A Gaussian, the sites that it is made of, and how far its moments are from those asked for.

    Parameters
    ----------
    part : RowsOfTwoClasses
    anchor : GaussianAnchor
    precision, pull : arrays of shape (n_rows,)
        Of the sites: :math:`\tau_d` and :math:`\nu_d`.
    noise : array of shape (n_rows,)
        Variances of what features leave out of the scores.
    rest : float
        Disagreement of the means of scores, in deviations, root mean square.
    wider : float
        Mean of the variances asked for over those there are, less one.
    """

    part: RowsOfTwoClasses
    anchor: GaussianAnchor
    precision: FloatArray
    pull: FloatArray
    noise: FloatArray
    rest: float
    wider: float

    def without_rows(self, number: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Cavities of the scores, each without one of the equal rows that a row stands for."""
        share = 1.0 / np.maximum(number, 1.0)
        mean, variance = self.part.scores(self.anchor)
        found = _cavity(mean, variance, share * self.precision, share * self.pull)
        return found[0], found[1] + self.noise

    def gradients(self, draws: FloatArray) -> FloatArray:
        """Like :meth:`RowsOfTwoClasses.gradients`, with hinges as they are seen through the noise.

        That is the law which the Gaussian stands for. The hinges themselves are those of rows of
        which features leave nothing out: with large costs quite another law.
        """
        part, anchor = self.part, self.anchor
        weights = anchor.mean + draws @ anchor.factor.T
        found = weights * part.precision
        clear = part.cost**2 * self.noise < CLEAR
        for first in range(0, len(part.rows), BLOCK):
            span = slice(first, first + BLOCK)
            rows, sign, cost = part.rows[span], part.sign[span, None], part.cost[span, None]
            slack = cost * (part.margin - sign * (rows @ weights.T))
            share = (slack > 0.0).astype(float)
            dim = ~clear[span]
            wide = np.square(cost[dim]) * self.noise[span][dim, None]
            share[dim] = (slack[dim] - with_hinge(slack[dim], wide)[0]) / wide
            found -= (cost * sign * share).T @ rows
        return found @ anchor.factor

    def active(self) -> FloatArray:
        """Probabilities that the hinges of the rows bend."""
        mean, variance = self.part.scores(self.anchor)
        cavity, wide = _cavity(mean, variance, self.precision, self.pull)
        moved, _ = _tilted(self.part, cavity, wide + self.noise)
        force = (moved - cavity) / (wide + self.noise)
        return np.clip(self.part.sign * force / self.part.cost, 0.0, 1.0)


def matched(
    part: RowsOfTwoClasses,
    noise: FloatArray | None = None,
    start: MatchedGaussian | None = None,
    close: float = CLOSE,
    together: bool = True,
) -> MatchedGaussian:
    """The Gaussian whose scores have the moments that their rows give them.

    Parameters
    ----------
    noise : array of shape (n_rows,), optional
        Variances of what the features leave out of the scores.
    start : MatchedGaussian, optional
        Of the same rows with other costs; by default no site is there at first.
    close : float
        Deviations by which moments may disagree at the end.
    together : bool
        Whether moments have to rest, too, when all sites change at a time.
    """
    noise = np.zeros(len(part.rows)) if noise is None else noise
    precision: FloatArray = np.zeros(len(part.rows))
    pull: FloatArray = np.zeros(len(part.rows))
    if start is None:
        size = len(part.precision)
        anchor = GaussianAnchor(np.zeros(size), np.diag(1.0 / np.sqrt(part.precision)))
    else:
        precision, pull, anchor = start.precision, start.pull, replace(start.anchor, iterations=0)
    bold, before = BOLD, np.inf
    rest = wider = np.inf
    last: tuple[FloatArray, FloatArray] | None = None
    for _ in range(ROUNDS):
        mean, variance = part.scores(anchor)
        moving = _moved(last, (mean, variance)) / bold if together else 0.0
        last = mean, variance
        cavity, wide = _cavity(mean, variance, precision, pull)
        total = wide + noise
        moved, narrow = _tilted(part, cavity, total)
        own = np.maximum(1.0 / narrow - 1.0 / total, 0.0)
        through = 1.0 + noise * own
        wanted = own / through
        wanted_pull = (moved / narrow - cavity / total) / through
        asked = 1.0 / (1.0 / wide + wanted)
        gap = asked * (cavity / wide + wanted_pull) - mean
        rest = float(np.sqrt(np.mean(gap**2 / variance)))
        wider = float(np.mean(asked / variance) - 1.0)
        spread = float(np.sqrt(np.mean(np.log(asked / variance) ** 2)))
        if max(rest, spread, moving) < close:
            break
        worse = max(rest, spread) > before
        bold = max(TIMID, 0.5 * bold) if worse else min(BOLD, BOLDER * bold)
        before = max(rest, spread)
        precision = precision + bold * (wanted - precision)
        pull = pull + bold * (wanted_pull - pull)
        factor, _ = inverse_factor(part.precision_of(precision))
        centre = factor @ (factor.T @ (pull @ part.rows))
        anchor = GaussianAnchor(centre, factor, anchor.iterations + 1)
    return MatchedGaussian(part, anchor, precision, pull, noise, rest, wider)


def _moved(
    before: tuple[FloatArray, FloatArray] | None, now: tuple[FloatArray, FloatArray]
) -> float:
    """Deviations by which means, or logarithms by which variances, are elsewhere than before."""
    if before is None:
        return float("inf")
    away = np.mean(np.square(now[0] - before[0]) / now[1])
    return float(np.sqrt(max(away, np.mean(np.log(now[1] / before[1]) ** 2))))


def _cavity(
    mean: FloatArray, variance: FloatArray, precision: FloatArray, pull: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means and variances of scores without sites."""
    alone = np.maximum(1.0 - precision * variance, LEAST)
    return (mean - variance * pull) / alone, variance / alone


def _tilted(
    part: RowsOfTwoClasses, mean: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means and variances of normal scores once their hinges are known."""
    slack = part.cost * (part.margin - part.sign * mean)
    moved, narrow = with_hinge(slack, part.cost**2 * variance)
    return part.sign * (part.margin - moved / part.cost), narrow / part.cost**2
