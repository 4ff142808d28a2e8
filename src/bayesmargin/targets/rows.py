r"""What a sampler samples from: the energy of the weights and an unbiased estimate of its gradient.

The gradient of :math:`U(w) = -\log p_0(w) - \sum_d \log\psi_d(w)` is estimated from a few rows by

.. math:: g = \nabla(-\log p_0) + G_0
          - \sum_s \frac{N_s}{B_s} \sum_{d \in \text{batch}_s}
            \left[\partial\log\psi_d(w) - \partial\log\psi_d(\text{reference})\right],

where :math:`G_0` is the full-data gradient at the reference and rows lie in strata :math:`s` of
:math:`N_s` rows. The hinge makes the control variate free: the state of a row at the reference is
one stored number, and the bracket vanishes unless that state has changed. A plain minibatch is the
same formula with one stratum, a reference at which every row is inactive, and :math:`G_0 = 0`.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit
from bayesmargin.foundation.streams import uniform
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.base import add_rows
from bayesmargin.priors.densities import prior_energy, prior_gradient
from bayesmargin.rows.layout import DenseRows
from bayesmargin.targets.base import Full, energy, estimate_gradient, space_of
from bayesmargin.targets.coordinates import n_positions, pull_back, to_weights


class Strata(NamedTuple):
    """Stratum ``s`` holds rows ``start[s]`` to ``start[s + 1]``; a batch takes ``take[s]``."""

    start: IntArray
    take: IntArray


class Target(NamedTuple):
    """Everything that one gradient estimate reads.

    Within a distance of ``reach`` from the origin the energy needs the rows of the first stratum
    alone.
    """

    rows: Any
    hinge: Any
    prior: Any
    coordinates: Any
    strata: Strata
    drift: FloatArray
    reach: float = -1.0


class Workspace(NamedTuple):
    """Scratch arrays of one chain, so that steps allocate nothing."""

    weights: FloatArray
    working: FloatArray
    data: FloatArray
    prior: FloatArray
    scores: FloatArray
    four_scores: FloatArray
    gradient: FloatArray
    noise: FloatArray


def working_type(target: Target) -> Any:
    """Precision in which rows are multiplied with weights: that of dense rows, single for sparse.

    Sparse rows keep the values they came with, so that they need no copy.
    """
    return target.rows.values.dtype if isinstance(target.rows, DenseRows) else np.float32


def workspace(target: Target, dtype: Any) -> Workspace:
    """Scratch arrays for one chain over ``target`` whose rows have type ``dtype``."""
    n_weights = target.drift.shape[0]
    n_classes = getattr(target.hinge, "n_classes", 1)
    size = n_positions(target.coordinates, n_weights)
    return Workspace(
        weights=np.zeros(n_weights),
        working=np.zeros(n_weights, dtype=dtype),
        data=np.zeros(n_weights),
        prior=np.zeros(n_weights),
        scores=np.zeros(n_classes, dtype=dtype),
        four_scores=np.zeros((4, n_classes), dtype=dtype),
        gradient=np.zeros(size),
        noise=np.zeros(size),
    )


@inner_borrowing_jit
def set_working(weights, working):  # type: ignore[no-untyped-def]
    """Copy weights to the precision in which rows are multiplied with them."""
    # A loop and not a slice: assigning slices costs Numba a check of shapes every time.
    for j in range(weights.shape[0]):
        working[j] = weights[j]


@implements(space_of, Target, borrows=True)
def _all_directions(target):  # type: ignore[no-untyped-def]
    return Full()


@implements(estimate_gradient, Target, borrows=True)
def _gradient_of_rows(target, position, source, work):  # type: ignore[no-untyped-def]
    """Unbiased estimate of the energy gradient at ``position``, written to ``work.gradient``.

    ``work.data`` and ``work.prior`` keep its two parts in weight coordinates. From each stratum a
    run of neighbouring rows is read, from a random start and round the end: rows were shuffled
    once, every row is equally likely, and memory is read in order.
    """
    weights, data, drift = work.weights, work.data, target.drift
    to_weights(target.coordinates, position, weights)
    set_working(weights, work.working)
    for j in range(drift.shape[0]):
        data[j] = drift[j]
    start, take = target.strata.start, target.strata.take
    for s in range(take.shape[0]):
        first, size, count = start[s], start[s + 1] - start[s], take[s]
        if count == 0:
            continue
        index = 0 if count == size else int(uniform(source) * size)
        block = (first, size, index, count)
        add_rows(target.hinge, target.rows, block, size / count, work)
    prior = work.prior
    prior_gradient(target.prior, weights, prior)
    for j in range(weights.shape[0]):
        weights[j] = data[j] + prior[j]
    pull_back(target.coordinates, weights, work.gradient)


@implements(energy, Target)
def _energy_of_rows(target, position, work):  # type: ignore[no-untyped-def]
    r"""Energy :math:`U` at ``position`` up to a constant; its gradient goes to ``work.gradient``.

    Rows contribute their hinge minus its continuation from the reference, and ``drift`` the
    continuations. Beyond ``target.reach`` those of all strata are read.
    """
    weights, data, drift = work.weights, work.data, target.drift
    to_weights(target.coordinates, position, weights)
    set_working(weights, work.working)
    for j in range(drift.shape[0]):
        data[j] = drift[j]
    start, square = target.strata.start, 0.0
    for j in range(position.shape[0]):
        square += position[j] * position[j]
    inside = target.reach >= 0.0 and square <= target.reach * target.reach
    last = 1 if inside else start.shape[0] - 1
    total = prior_energy(target.prior, work.weights)
    for j in range(work.weights.shape[0]):
        total += target.drift[j] * work.weights[j]
    if start[last] > 0:
        block = (0, start[last], 0, start[last])
        total += add_rows(target.hinge, target.rows, block, 1.0, work)
    prior = work.prior
    prior_gradient(target.prior, weights, prior)
    for j in range(weights.shape[0]):
        weights[j] = data[j] + prior[j]
    pull_back(target.coordinates, weights, work.gradient)
    return total
