r"""Which rows can matter: screening and stratified batches around the anchor.

Under the anchor a row changes its state with probability :math:`\Phi(-|t_d|)`, where
:math:`t_d = \mu_d/\sigma_d` is the distance of its kink in posterior standard deviations along the
row's own direction. Rows that keep their state contribute nothing beyond the control variate, so

* rows with :math:`|t_d|` above :data:`SCREEN` are left out of sampling altogether (their expected
  contribution is below :math:`10^{-14}` of the gradient, whatever the number of rows);
* the others are sorted into strata by :math:`|t_d|` and a batch is divided among the strata in
  proportion to :math:`N_s \sqrt{v_s}`, :math:`v_s` the mean variance of a row's contribution,
  which minimises the variance of the gradient.

About :math:`\sqrt{nD}` rows lie within one standard deviation of their kink, and the noise per
coordinate comes out near :math:`5n/B`, whatever the number :math:`D` of rows.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import normal_density
from bayesmargin.targets.rows import Strata

SCREEN = 8.0
EDGES = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, SCREEN])
LARGEST_KICK = 1.0  # momentum, in units of its standard deviation, that one row may give
QUIET = 1.0  # predicted variance of the gradient estimate, whose mean square itself is about one
IDLE = 1e-6  # share of all changes of state that rows may make which nobody reads
STILL = 0.02  # the same for rows read in turns, whose chains are taken for free of noise
AFFORDABLE = 1 << 18  # numbers in the rows of a batch up to which it may grow to be quiet


def roughness(distance: FloatArray, reach: FloatArray) -> float:
    """How far the energy is from smooth on the scale of the posterior.

    The curvature of the anchor is a sum over kinks; this is the root mean square of their jumps in
    force, in whitened coordinates. Far below one, many rows share the curvature and it acts like a
    smooth one; above one, single rows make corners that a large step cuts. Arguments are those of
    :func:`screen`.
    """
    share = normal_density(distance) * reach
    total = float(share.sum())
    return float(np.sqrt(share @ reach**2 / total)) if total > 0.0 else 0.0


@dataclass(frozen=True)
class Screening:
    """Rows kept for sampling, in the order of their strata, and the sizes of the strata."""

    index: IntArray
    start: IntArray
    variance: FloatArray
    reach: FloatArray


def screen(distance: FloatArray, reach: FloatArray, rng: np.random.Generator) -> Screening:
    """Sort rows into strata by the distance of their kinks; those beyond all edges are left out.

    Parameters
    ----------
    distance : array of shape (n_rows,)
        Distance of each row's kink from the anchor, in posterior standard deviations.
    reach : array of shape (n_rows,)
        Length of a row's contribution to the gradient in whitened coordinates.
    rng : numpy.random.Generator
        Shuffles the rows within their strata.
    """
    distance = np.abs(distance)
    kept = np.flatnonzero(distance < SCREEN)
    kept = kept[rng.permutation(kept.size)]
    stratum = np.searchsorted(EDGES, distance[kept], side="right") - 1
    kept = kept[np.argsort(stratum, kind="stable")]
    sizes = np.bincount(stratum, minlength=EDGES.size - 1)
    sizes = sizes[sizes > 0]
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    contribution = reach[kept] ** 2 * ndtr(-distance[kept])
    pieces = [slice(a, b) for a, b in itertools.pairwise(start)]
    variance = np.array([contribution[piece].mean() for piece in pieces])
    longest = np.array([reach[kept[piece]].max() for piece in pieces])
    return Screening(kept, start, variance, longest)


def without_idle_rows(screening: Screening, distance: FloatArray) -> Screening:
    """One stratum of the rows but those that are in reach and all but never change their state.

    Together the rows left out make no more than :data:`IDLE` of all changes under the anchor. They
    are about half, and would be read at every step by whoever takes no batches.
    """
    far = np.abs(distance[screening.index])
    order = np.argsort(far, kind="stable")
    changes = np.cumsum(ndtr(-far[order])[::-1])[::-1]
    n_kept = int(np.searchsorted(-changes, -IDLE * changes[:1].sum(), side="right"))
    kept = order[: max(1, n_kept)]
    start = np.array([0, kept.size], dtype=np.int64)
    longest = np.array([screening.reach.max(initial=0.0)])
    return Screening(screening.index[kept], start, np.array([0.0]), longest)


def in_turns(
    whole: Screening,
    distance: FloatArray,
    reach: FloatArray,
    step: float,
    n_coordinates: int,
    turns: int,
    rng: np.random.Generator,
) -> tuple[Screening, int]:
    """The rows, those last that may be read at one step of ``turns``, and how many may not.

    The noise of reading them so, as the anchor predicts it, stays below :data:`STILL`, and none of
    them kicks a momentum by more than half of :data:`LARGEST_KICK`. Their order is random.
    """
    kicks = turns * step * reach[whole.index]
    far = np.where(kicks > 0.5 * LARGEST_KICK, 0.0, np.abs(distance[whole.index]))
    order = whole.index[np.argsort(far, kind="stable")]
    changes = ndtr(-np.abs(distance[order])) * reach[order] ** 2
    noise = (turns - 1) * np.cumsum(changes[::-1])[::-1] / n_coordinates
    near = max(int(np.sum(far == 0.0)), int(np.sum(noise > STILL)))
    if order.size - near < turns:
        near = order.size
    mixed = np.concatenate([order[:near], rng.permutation(order[near:])])
    return Screening(mixed, whole.start, whole.variance, whole.reach), near


def allocate(screening: Screening, batch_size: int, step: float) -> Strata:
    """Divide a batch among the strata so that the gradient noise is smallest.

    A stratum also gets enough rows that a single change of state, multiplied by
    ``N_s / B_s``, kicks the momentum by no more than :data:`LARGEST_KICK`.
    """
    sizes = np.diff(screening.start)
    if batch_size >= screening.index.size:
        return Strata(screening.start, sizes)
    share = sizes * np.sqrt(screening.variance)
    total = share.sum()
    wanted = batch_size * share / total if total > 0 else np.zeros(len(sizes))
    gentle = np.minimum(step * sizes * screening.reach / LARGEST_KICK, 0.5 * sizes)
    take = np.ceil(np.maximum(np.maximum(wanted, gentle), 1.0)).astype(np.int64)
    return Strata(screening.start, np.where(take > 0.7 * sizes, sizes, take))


def quiet_batch(
    screening: Screening, batch_size: int, step: float, n_coordinates: int, n_columns: int
) -> int:
    """The batch size, doubled until the noise that the anchor predicts is small.

    Near a Gaussian the size asked for is quiet enough. Where the posterior is a wall on one side
    and a long tail on the other, as a rare class makes it, batches are noisy near the wall and
    silent in the tail; one thermostat for both leaves the tail cold, by a fifth of its variance.
    """
    most = min(screening.index.size, AFFORDABLE // n_columns)
    while batch_size < most:
        strata = allocate(screening, batch_size, step)
        if gradient_noise(screening, strata, n_coordinates) <= QUIET:
            break
        batch_size = min(2 * batch_size, screening.index.size)
    return batch_size


def gradient_noise(screening: Screening, strata: Strata, n_coordinates: int) -> float:
    """Predicted variance of the gradient estimate, mean over whitened coordinates."""
    sizes = np.diff(strata.start)
    partial = strata.take < sizes
    noise = sizes**2 / strata.take * (1.0 - strata.take / sizes) * screening.variance
    return float(noise[partial].sum() / n_coordinates)
