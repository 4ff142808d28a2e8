r"""Posteriors without one row, from the draws of the posterior with it.

Leaving row :math:`d` out divides the posterior by :math:`\psi_d = e^{-c (u)_+}`. That changes the
law of the row's slack :math:`u`, and the laws of its scores as far as they go with the slack.
Weighting the draws would need the far tail of :math:`u`, which few draws see, and rows would look
better predicted than they are. But without the row its slack is a sum over many weights, close to
normal. So with the row its law is close to :math:`N(u; m, v)\, e^{-c (u)_+}`, a family of two
parameters, one member of which has the mean and the variance that the draws have.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bayesmargin.calibration.leading import at_leader, leader_of
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.tilting import with_hinge

ROUNDS = 40
STEP = 1e-5  # of the differences that stand for derivatives
AHEAD, UP = STEP * np.array([[1.0], [0.0]]), STEP * np.array([[0.0], [1.0]])
PRECISION = 1e-7
WIDEST = 25.0  # variance without the row over that with it, at most

Tilted = Callable[[FloatArray, FloatArray, IntArray], tuple[FloatArray, FloatArray]]


def leave_one_out(
    mean: FloatArray, variance: FloatArray, sign: FloatArray, margin: float, cost: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means and variances of scores under the posterior without their rows.

    Parameters
    ----------
    mean, variance : array of any shape
        Those under the posterior with all rows.
    sign : array of that shape
        The side on which each score should be.
    margin : float
    cost : array of that shape
        Of a unit of slack, which is the margin less sign times score.
    """
    shift, growth = _change(margin - sign * mean, variance, cost)
    return mean - sign * shift, variance + growth


def leave_one_out_jointly(
    scores: FloatArray, slack: FloatArray, cost: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The same for scores that share a hinge, from their draws.

    Parameters
    ----------
    scores : array of shape (draw, row, class)
    slack : array of shape (draw, row)
    cost : array of shape (row,)

    Returns
    -------
    mean : array of shape (row, class)
    variance : array of shape (row, class)
        Of the differences to the class of the largest mean.
    """
    mean = scores.mean(axis=0)
    away = scores - mean
    level, spread = slack.mean(axis=0), slack.var(axis=0)
    facts = SlackFacts(
        level, spread, mean, np.einsum("ij,ijk->jk", slack - level, away) / len(away)
    )

    def spread_to(leader: IntArray) -> FloatArray:
        from_leader = np.subtract(away, at_leader(away, leader), out=away)
        variance: FloatArray = np.square(from_leader, out=from_leader).mean(axis=0)
        return variance

    return without_rows(facts, cost, spread_to)


class SlackFacts(NamedTuple):
    """What draws say of rows: slacks (row), scores (row, class), covariances of both."""

    level: FloatArray
    spread: FloatArray
    mean: FloatArray
    covariance: FloatArray


def without_rows(
    facts: SlackFacts, cost: FloatArray, spread_to: Callable[[IntArray], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """:func:`leave_one_out_jointly` from what draws say.

    ``spread_to`` has variances (row, class) of the differences to the score of a class a row.
    """
    shift, growth = _change(facts.level, facts.spread, cost)
    along = facts.covariance / np.where(facts.spread > 0.0, facts.spread, 1.0)[:, None]
    mean = facts.mean + along * shift[:, None]
    leader = leader_of(mean)
    along -= at_leader(along, leader)
    return mean, spread_to(leader) + np.square(along) * growth[:, None]


def _change(mean: FloatArray, variance: FloatArray, cost: FloatArray) -> tuple[FloatArray, ...]:
    """What leaving the row out adds to mean and variance of its slack; nothing if it is known."""
    scaled = cost**2 * variance  # slacks in units of one over the cost
    matters = scaled > 1e-12
    unit = np.where(matters, cost, 1.0)
    found = without(unit * mean, np.where(matters, scaled, 1.0))
    moved = found[0] / unit - mean, found[1] / unit**2 - variance
    return tuple(np.where(matters, part, 0.0) for part in moved)


def without(
    mean: FloatArray,
    variance: FloatArray,
    slope: FloatArray | None = None,
    tilted: Tilted | None = None,
) -> tuple[FloatArray, FloatArray]:
    r"""Mean and variance of the normal law that, tilted by a row, has those given.

    Newton's method, halving steps that make it worse. The unknowns are those in which the limit of
    ever wider laws is nothing special: the log of the growth of the variance, and the shift of the
    mean, in units of the given sd, over that growth.

    Parameters
    ----------
    mean, variance : arrays of any shape
    slope : array of that shape, optional
        Of the row's loss where nearly all of the law sees one piece of it, which only moves the
        law; zero where it sees several. By default those of the hinge.
    tilted : callable, optional
        Mean and variance of laws, given theirs without the row and the (flat) places of the rows;
        by default :func:`with_hinge`.
    """
    shape, mean, variance = mean.shape, mean.ravel(), variance.ravel()
    sd = np.sqrt(variance)
    slope = (mean > 3.0 * sd).astype(float) if slope is None else slope.ravel()
    tilted = tilted or (lambda mean, variance, _: with_hinge(mean, variance))
    state = np.stack([slope * sd, np.zeros_like(mean)])
    step, best = np.zeros_like(state), np.full(len(mean), np.inf)
    rest = np.arange(len(mean))  # those that are not there yet
    for _ in range(ROUNDS):
        error, newton = _newton(state[:, rest], mean[rest], variance[rest], rest, tilted)
        worse = error > best[rest]
        step[:, rest] = np.where(worse, -0.5 * step[:, rest], newton)
        best[rest] = np.where(worse, best[rest], error)
        state[:, rest] += step[:, rest]
        step[:, rest[worse]] *= -1.0  # half of the last one is left
        rest = rest[error > PRECISION]
        if not len(rest):
            break
    shift, growth = state[0], np.exp(np.minimum(state[1], np.log(WIDEST)))
    return (mean + sd * shift * growth).reshape(shape), (variance * growth).reshape(shape)


def _newton(
    state: FloatArray, mean: FloatArray, variance: FloatArray, rest: IntArray, tilted: Tilted
) -> tuple[FloatArray, FloatArray]:
    """How wrong mean and log variance are, and the next step, at most one in each unknown."""
    sd = np.sqrt(variance)

    def error(state: FloatArray) -> FloatArray:
        growth = np.exp(state[1])
        found = tilted(mean + sd * state[0] * growth, variance * growth, rest)
        return np.stack([(found[0] - mean) / sd, np.log(found[1] / variance)])

    now = error(state)
    a, c = (error(state + AHEAD) - now) / STEP
    b, d = (error(state + UP) - now) / STEP
    step = np.stack([b * now[1] - d * now[0], c * now[0] - a * now[1]]) / (a * d - b * c)
    return np.abs(now).max(axis=0), step / np.maximum(1.0, np.abs(step).max(axis=0))
