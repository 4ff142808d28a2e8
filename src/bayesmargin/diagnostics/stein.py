r"""Checks of a finished run against the target itself: Stein's identity and the gradient noise.

Because :math:`U` is Lipschitz, :math:`E[\nabla U] = 0` and :math:`E[(u_j - \bar u_j)\,\partial_j U]
= 1` hold for every coordinate under the posterior, kinks or not. A law that is too wide by a factor
:math:`v` in variance gives :math:`v` instead of one: the check sees a bias that no comparison of
chains with each other can see.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.diagnostics.convergence import effective_sample_size
from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.copying import copy_vector
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.each_score import SeparateHinge
from bayesmargin.targets.base import estimate_gradient
from bayesmargin.targets.rows import Strata, Target, Workspace

WILDEST = 4.0  # error of the check, in units of what a Gaussian of as many weights would show
OPERATIONS = 4e8  # multiplications that a check may cost
CHEAP = 1e8  # multiplications for which all draws are looked at
FEW = 400  # draws that suffice where there are many weights
FEWEST = 8  # values from which a correlation can be estimated
NEAR = 0.5  # of its standard deviation within which a slack counts as being at its kink


class SteinCheck(NamedTuple):
    """Mean over coordinates of Stein's identity minus one, and its standard error.

    ``worst`` and ``worst_error`` are those of the single coordinate that is farthest off for its
    error, or of the class where classes have posteriors of their own: one frozen weight of many
    leaves no trace in the mean, and neither does one class of three hundred. ``force`` is the mean
    square of the gradient in the coordinate where it is largest; one for a Gaussian in its own
    scale. ``n_draws`` is the number of draws that were looked at.
    """

    bias: float
    error: float
    worst: float = 0.0
    worst_error: float = float("inf")
    force: float = 0.0
    n_draws: int = 0

    def beside_walls(self, slack: FloatArray, cost: FloatArray, n_directions: int) -> "SteinCheck":
        """The check with errors no smaller than what :func:`wall_error` finds in slacks.

        The slacks may be those of some of the draws.
        """
        least = wall_error(slack, cost) * np.sqrt(len(slack) / max(self.n_draws, len(slack)))
        return self._replace(
            error=max(self.error, least / n_directions), worst_error=max(self.worst_error, least)
        )


def wall_error(slack: FloatArray, cost: FloatArray) -> float:
    r"""Standard error of Stein's identity by rows so dear that few draws, or none, break them.

    A row of mean slack :math:`m` adds :math:`c m` to the identity in the draws in which it is
    active, beyond its kink. With the density :math:`p` of its slack there and a cost that makes it
    a wall, these are one draw in :math:`c/p`, so that the sum over :math:`N` draws has the variance
    :math:`N c m^2 p`. The scatter of draws that never meet the wall shows nothing of it.

    Parameters
    ----------
    slack : array of shape (draw, row)
    cost : array of shape (row,)
    """
    mean, sd = slack.mean(axis=0), slack.std(axis=0)
    near = np.mean(np.abs(slack) < NEAR * sd, axis=0)
    density = near / np.where(sd > 0.0, NEAR * sd, 1.0)
    return float(np.sqrt(np.sum(cost * np.square(mean) * density) / len(slack)))


@jit
def _gradients(target, positions, rng, work, out):  # type: ignore[no-untyped-def]
    for k in range(positions.shape[0]):
        estimate_gradient(target, positions[k], rng, work)
        copy_vector(work.gradient, out[k])


def full_batch(target: Target) -> Target:
    """The same target with every row in the batch: gradients without noise."""
    start = target.strata.start
    return target._replace(strata=Strata(start, np.diff(start)))


def full_cost(target: Target) -> float:
    """Products that the gradient of all rows in reach takes."""
    return max(1.0, float(target.strata.start[-1]) * target.drift.shape[0])


def affordable(target: Target, n_draws: int) -> int:
    """How many of the draws are looked at: a few hundred, and all where they cost next to nothing.

    The error of the check falls with draws times weights. Of two or three weights, 400 draws leave
    it at 0.05, and a variance wrong by a quarter would pass.
    """
    cost = full_cost(target)
    if n_draws * cost <= CHEAP:
        return n_draws
    return int(min(n_draws, FEW, max(8, OPERATIONS / cost)))


def stein_check(
    target: Target,
    draws: FloatArray,
    work: Workspace,
    rng: np.random.Generator,
    centre: FloatArray | None = None,
    n_directions: int | None = None,
) -> SteinCheck:
    """Stein's identity on draws (chain, draw, coordinate), with full-data gradients.

    ``centre`` is the mean of all draws, where those given are only some of them; ``n_directions``
    the number of directions in which they vary, where that is less than coordinates.
    """
    flat = draws.reshape(-1, draws.shape[-1])
    chosen = spread_draws(draws, affordable(target, len(flat)))
    mean = flat.mean(axis=0) if centre is None else centre
    gradients = full_gradients(target, chosen, work, rng)
    n_classes = target.hinge.n_classes if isinstance(target.hinge, SeparateHinge) else 1
    return stein_identity(chosen, gradients, mean, n_directions, n_classes)


def spread_draws(draws: FloatArray, count: int) -> FloatArray:
    """Some draws of all chains, evenly spread, as a matrix."""
    flat = draws.reshape(-1, draws.shape[-1])
    return np.ascontiguousarray(flat[np.linspace(0, len(flat) - 1, count).astype(int)])


def full_gradients(
    target: Target, positions: FloatArray, work: Workspace, rng: np.random.Generator
) -> FloatArray:
    """Gradients without noise at some positions."""
    gradients = np.empty_like(positions)
    _gradients(full_batch(target), positions, rng, work, gradients)
    return gradients


def stein_identity(
    chosen: FloatArray,
    gradients: FloatArray,
    mean: FloatArray,
    n_directions: int | None = None,
    n_classes: int = 1,
) -> SteinCheck:
    """Stein's identity from gradients at some draws; ``mean`` is that of all draws.

    Coordinates of ``n_classes`` posteriors of their own are interleaved, and every class is looked
    at as a whole too: a few draws say little about one coordinate and much about hundreds.
    """
    products = (chosen - mean) * gradients
    count, size = products.shape
    each = products.sum(axis=1) / (n_directions or size)
    error = float(each.std() / np.sqrt(_independent(each)))
    # Draws of a sound chain scatter by chance alone; wilder ones are no excuse for a bias.
    chance = float(np.sqrt(2.0 / chosen.size))
    force = float(np.square(spread_draws(gradients, min(count, FEW))).mean(axis=0).max())
    found = SteinCheck(
        float(each.mean() - 1.0), min(error, WILDEST * chance), force=force, n_draws=count
    )
    if n_directions not in (None, size):
        return found  # coordinates are bound together, and have no identities of their own
    single, errors = _deviations(products, 1)
    if n_classes > 1:
        of_class = products.reshape(count, -1, n_classes).mean(axis=1)
        more, their_errors = _deviations(of_class, size // n_classes)
        single, errors = np.append(single, more), np.append(errors, their_errors)
    worst = int(np.argmax(np.abs(single) / errors))
    return found._replace(worst=float(single[worst]), worst_error=float(errors[worst]))


def _independent(values: FloatArray) -> float:
    """Independent draws that a sequence is worth for its mean, no more than it has."""
    if len(values) < FEWEST:
        return float(len(values))
    return min(float(len(values)), float(effective_sample_size(values[None])))


def _deviations(products: FloatArray, together: int) -> tuple[FloatArray, FloatArray]:
    """Means of products (draw, ...) less one, each a mean of ``together``, and their errors."""
    count = len(products)
    least = np.sqrt(2.0 / (count * together))  # which chance gives a Gaussian
    errors = np.maximum(products.std(axis=0) / np.sqrt(count), least)
    return products.mean(axis=0) - 1.0, errors


def gradient_noise(
    target: Target, draws: FloatArray, work: Workspace, rng: np.random.Generator
) -> float:
    """Measured variance of the gradient estimate, mean over coordinates and some draws.

    Many draws and few batches at each: beside a wall the noise of one draw is ten times another's.
    """
    places, repeats = (32, 10) if draws.shape[-1] < 10_000 else (8, 4)
    found = gradient_variances(target, spread_draws(draws, places), work, rng, repeats)
    return float(found.mean())


def gradient_variances(
    target: Target, places: FloatArray, work: Workspace, rng: np.random.Generator, repeats: int
) -> FloatArray:
    """Measured variances (place, coordinate) of the gradient estimate at some positions."""
    found = np.zeros_like(places)
    if np.all(target.strata.take == np.diff(target.strata.start)):
        return found
    noisy = np.empty((repeats, places.shape[1]))
    for k, truth in enumerate(full_gradients(target, places, work, rng)):
        _gradients(target, np.repeat(places[k][None], repeats, axis=0), rng, work, noisy)
        found[k] = np.mean((noisy - truth) ** 2, axis=0)
    return found
