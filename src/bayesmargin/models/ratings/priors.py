r"""Priors of the rows of users and of items, and how they are learned.

Every coordinate of a row is :math:`N(\mu, 1/\tau)` with a :math:`\tau` of its own, from a Gamma
prior of mean :math:`1/s^2`, where s is the scale that is expected; but the factors of users are
:math:`N(0, 1)`, which fixes the unit of the factors, and where users have binary features instead
one precision serves all columns of items. Means are zero, but for those of thresholds,
:math:`N(\rho_r, (3g)^2)` around :math:`\rho_r` with equal gaps g.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.types import FloatArray


class Priors(NamedTuple):
    """Means and precisions of a row: bias, factors, and thresholds of a user."""

    user_mean: FloatArray
    user_precision: FloatArray
    item_mean: FloatArray
    item_precision: FloatArray


class Expected(NamedTuple):
    """What is believed of the priors themselves."""

    bias: float  #: scale of biases, and of a user's thresholds around the mean ones
    factor: float  #: scale of an item's factors
    spacing: float  #: between thresholds
    learned: bool  #: whether priors are learned
    strength: float = 1.0  #: shape of the Gamma prior; at one little is known of a scale
    spread: float = 3.0  #: deviation of mean thresholds, in units of ``spacing``


def middle_of(n_cuts: int, expected: Expected) -> FloatArray:
    """What mean thresholds are expected to be."""
    value: FloatArray = expected.spacing * (np.arange(n_cuts) - 0.5 * (n_cuts - 1))
    return value


def first_priors(n_factors: int, n_scales: int, n_cuts: int, expected: Expected) -> Priors:
    """Priors as they are expected, of so many factors of users and scales of those of items."""
    cuts = middle_of(n_cuts, expected)
    of_bias, of_factor = expected.bias**-2, expected.factor**-2
    return Priors(
        np.concatenate([np.zeros(1 + n_factors), cuts]),
        np.concatenate([[of_bias], np.ones(n_factors), np.full(n_cuts, of_bias)]),
        np.zeros(1 + n_scales),
        np.concatenate([[of_bias], np.full(n_scales, of_factor)]),
    )


def _precisions(
    rng: np.random.Generator, away: FloatArray, scales: FloatArray | float, strength: float
) -> FloatArray:
    """Draw the precision of every column given its differences to the mean."""
    rate = strength * np.square(scales) + 0.5 * np.square(away).sum(axis=0)
    drawn: FloatArray = rng.standard_gamma(strength + 0.5 * len(away), away.shape[1]) / rate
    return drawn


def draw_priors(
    rng: np.random.Generator,
    user: FloatArray,
    threshold: FloatArray,
    item: FloatArray,
    expected: Expected,
    priors: Priors,
) -> None:
    """Draw means of thresholds and all precisions given the rows, in place."""
    if not expected.learned:
        return
    n_cuts = threshold.shape[1]
    width = len(priors.user_mean) - n_cuts
    cuts = middle_of(n_cuts, expected)
    own = priors.user_precision[width:]
    wide = (expected.spread * expected.spacing) ** -2
    precision = len(threshold) * own + wide
    mean = (own * threshold.sum(axis=0) + wide * cuts) / precision
    priors.user_mean[width:] = mean + rng.standard_normal(n_cuts) / np.sqrt(precision)
    away = np.hstack([user[:, :1], threshold - priors.user_mean[width:]])
    drawn = _precisions(rng, away, expected.bias, expected.strength)
    priors.user_precision[0], priors.user_precision[width:] = drawn[0], drawn[1:]
    n_scales = len(priors.item_precision) - 1
    factors = item[:, 1:].reshape(-1, n_scales) if n_scales == 1 else item[:, 1:]
    priors.item_precision[:1] = _precisions(rng, item[:, :1], expected.bias, expected.strength)
    priors.item_precision[1:] = _precisions(rng, factors, expected.factor, expected.strength)
