r"""From draws of features and weights to probabilities of links.

A draw that gives a link the score f finds it as probable as :math:`\sigma(2 f / \ell)`, so that it
hardly counts by how much a score is beyond the margin: hinges are silent there, and the prior alone
speaks. Of the mean of that over the draws, with log odds :math:`m`, the probability of the link is
:math:`\sigma(a m + b)`. Slope and offset are learned from pairs that some further chains are not
shown: the model bends its features to the pairs that it sees, and is not as sure of others.
(Leaving a pair out by computation does not do: a law of its score that is close to normal forgets
that the features would have been other ones.)
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from bayesmargin.foundation.types import BoolArray, FloatArray, IntArray
from bayesmargin.models.links.model import Draw
from bayesmargin.models.links.pairs import Asked


class Chances(NamedTuple):
    """The map from log odds by the draws to those of a link: ``slope m + offset``."""

    slope: float
    offset: float

    def apply(self, odds: FloatArray) -> FloatArray:
        """Probabilities of links with these log odds by the draws."""
        found: FloatArray = expit(self.slope * odds + self.offset)
        return found


def fit_chances(odds: FloatArray, linked: BoolArray, weight: FloatArray) -> Chances:
    """The map under which links and their absence are most probable, with a weak prior.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.links.answers import fit_chances
    >>> odds, linked = np.repeat([-1.0, 1.0], 500), np.arange(1000) % 10 < np.repeat([1, 8], 500)
    >>> map_of = fit_chances(odds, linked, np.ones(1000))
    >>> map_of.apply(np.array([-1.0, 1.0])).round(2)
    array([0.1, 0.8])
    """
    sign = np.where(linked, 1.0, -1.0)

    def loss(found: FloatArray) -> float:
        chance = log_expit(sign * (np.exp(found[0]) * odds + found[1]))
        return float(0.5 * found[0] ** 2 + 0.5 * (found[1] / 10.0) ** 2 - weight @ chance)

    runs = [minimize(loss, np.array([start, -1.0]), method="L-BFGS-B") for start in (0.0, 1.5)]
    found = min(runs, key=lambda run: run.fun).x
    return Chances(float(np.exp(found[0])), float(found[1]))


def scores_of(draw: Draw, asked: tuple[IntArray, ...]) -> FloatArray:
    """Scores of pairs (source, target, relation) under a draw."""
    source, target, relation = asked
    held = draw.held.astype(float)
    found = np.empty(len(source))
    for r in range(len(draw.intercept)):
        own = np.flatnonzero(relation == r)
        there = held @ draw.weights[r]
        found[own] = np.einsum("ij,ij->i", there[source[own]], held[target[own]])
    return found + draw.intercept[relation]


def odds_of(scores: FloatArray, margin: float) -> FloatArray:
    """Log odds that a draw gives to links with these scores."""
    return np.asarray(2.0 / margin * scores)


def mean_odds(draws: Iterable[Draw], asked: tuple[IntArray, ...], margin: float) -> FloatArray:
    """Log odds of the mean of the probabilities that draws give to pairs."""
    mean = np.zeros(len(asked[0]))
    for number, draw in enumerate(draws, start=1):
        mean += (expit(odds_of(scores_of(draw, asked), margin)) - mean) / number
    found: FloatArray = logit(np.clip(mean, 1e-100, 1.0 - 1e-12))
    return found


def chances_of(draws: Any, hidden: Asked, margin: float) -> Chances:
    """The map of a fit, from pairs that the chains of these draws were not shown."""
    odds = mean_odds(draws, (hidden.source, hidden.target, hidden.relation), margin)
    return fit_chances(odds, hidden.linked > 0, hidden.weight)


def order_of(held: IntArray) -> IntArray:
    """Entities so that those of the same features stand together.

    Features are taken by how many hold them, as digits of a number, the most common one first.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.links.answers import order_of
    >>> order_of(np.array([[0, 1], [1, 0], [1, 1], [1, 0]]))
    array([2, 1, 3, 0])
    """
    ranked = held[:, np.argsort(-held.sum(axis=0), kind="stable")]
    order: IntArray = np.lexsort((1 - ranked).T[::-1]) if ranked.size else np.arange(len(held))
    return order
