r"""Moves of all rows at once, along directions that ratings see little of, or nothing.

Rows that are drawn one after another hardly move what they share. No rating sees a

* number :math:`\delta` added to all biases of one side and to all thresholds;
* vector :math:`\delta` added to all :math:`U_i`, with :math:`d_j` less :math:`\delta \cdot V_j`;
  likewise of :math:`V_j` and :math:`a_i`.

Only priors do, and Gaussian ones, so :math:`\delta` is drawn from a Gaussian. And where scales are
learned, all scores and thresholds times :math:`e^\epsilon`, with every scale, leave the priors of
the rows as they are: Metropolis and Hastings' test asks the hinges and the priors of scales alone.
"""

import math

import numpy as np

from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.ratings.priors import Expected, Priors, middle_of
from bayesmargin.models.ratings.tables import Ratings, measure


def draw_common(rng: np.random.Generator, precision: FloatArray, linear: FloatArray) -> FloatArray:
    """A draw of the Gaussian with this precision and linear term."""
    lower = np.linalg.cholesky(precision)
    centre = np.linalg.solve(lower, linear) + rng.standard_normal(len(linear))
    return np.asarray(np.linalg.solve(lower.T, centre))


def shift_bias(
    rng: np.random.Generator,
    bias: FloatArray,
    precision: float,
    threshold: FloatArray,
    expected: Expected,
    priors: Priors,
) -> None:
    """Add a number to all biases of a side and to all thresholds, and to their learned means."""
    n_cuts = threshold.shape[1]
    means, own = priors.user_mean[-n_cuts:], priors.user_precision[-n_cuts:]
    total, pull = len(bias) * precision, -precision * bias.sum()
    if expected.learned:
        wide = (expected.spread * expected.spacing) ** -2
        total += n_cuts * wide
        pull -= wide * (means - middle_of(n_cuts, expected)).sum()
    else:
        total += len(threshold) * own.sum()
        pull -= (own * (threshold - means)).sum()
    change = pull / total + rng.standard_normal() / math.sqrt(total)
    bias += change
    threshold += change
    if expected.learned:
        means += change


def shift_factors(
    rng: np.random.Generator,
    moved: FloatArray,
    precision: FloatArray,
    bias: FloatArray,
    of_bias: float,
    far: FloatArray,
) -> None:
    """Add a vector to all factors of a side; biases of the other side take it back."""
    linear = of_bias * far.T @ bias - precision * moved.sum(axis=0)
    change = draw_common(rng, np.diag(len(moved) * precision) + of_bias * far.T @ far, linear)
    moved += change
    bias -= far @ change


def stretch(
    rng: np.random.Generator,
    by_user: Ratings,
    rows: tuple[FloatArray, FloatArray, FloatArray],
    cost: float,
    margin: float,
    expected: Expected,
    priors: Priors,
    reach: float,
) -> bool:
    """Propose to multiply scores, thresholds and their scales; returns whether it was accepted.

    ``rows`` are those of users, thresholds and items. Factors of users stay, as does their scale.
    """
    user, threshold, item = rows
    n_cuts = threshold.shape[1]
    change = reach * rng.standard_normal()
    times = math.exp(change)
    wider = user.copy(), times * threshold, times * item
    wider[0][:, 0] *= times
    before, _ = measure(*by_user, user, item, threshold, margin)
    after, _ = measure(*by_user, wider[0], wider[2], wider[1], margin)
    value = cost * (before - after)
    means, middle = priors.user_mean[-n_cuts:], middle_of(n_cuts, expected)
    wide = 0.5 * (expected.spread * expected.spacing) ** -2
    value += wide * (((means - middle) ** 2).sum() - ((times * means - middle) ** 2).sum())
    value += n_cuts * change  # of the means; rows and their scales keep their volume together
    user_scales = np.append(priors.user_precision[0], priors.user_precision[-n_cuts:])
    for precisions, scale in (
        (user_scales, expected.bias),
        (priors.item_precision[:1], expected.bias),
        (priors.item_precision[1:], expected.factor),
    ):
        less = precisions.sum() * (1.0 - times**-2)
        value += expected.strength * (scale**2 * less - 2.0 * change * len(precisions))
    if math.log(max(rng.random(), 1e-300)) >= value:
        return False
    for old, new in zip(rows, wider, strict=True):
        old[:] = new
    means *= times
    priors.user_precision[0] /= times**2
    priors.user_precision[-n_cuts:] /= times**2
    priors.item_precision[:] /= times**2
    return True
