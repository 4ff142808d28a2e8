r"""The weights of the workers, as a target that the library's dynamics move.

Given the labels y of all items, with :math:`s_{ik} = \sum_{j: x_{ij} = k} \eta_j` the weight of the
votes for class k, the energy is

.. math:: U(\eta) = \sum_j \frac{(\eta_j - m)^2}{2 v}
          + c \sum_i \Big(\ell + \max_{k \ne y_i} s_{ik} - s_{iy_i}\Big)_+ .

A position is in units of each worker's own width, :math:`\eta_j = m + \sigma_j u_j` with
:math:`\sigma_j = (1/v + c^2 n_j / 4)^{-1/2}` for a worker of :math:`n_j` labels: the precision at
mixing variables of one (:mod:`bayesmargin.augmentation.mixing`).
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.dynamics.base import advance
from bayesmargin.foundation.compiling import implements, inner_jit, jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.crowd.votes import Votes
from bayesmargin.targets.base import energy


class Weights(NamedTuple):
    """The law of the weights given labels."""

    start: IntArray
    worker: IntArray
    label: IntArray
    truth: IntArray  #: (n_items,) labels of the items just now
    cost: float
    margin: float
    mean: float
    precision: float  #: of the prior
    width: FloatArray  #: (n_workers,)
    eta: FloatArray  #: (n_workers,) the weights of the last position that was asked for
    scores: FloatArray  #: (n_classes,) work space


def weights_of(
    votes: Votes,
    truth: IntArray,
    n_classes: int,
    n_workers: int,
    cost: float,
    margin: float,
    mean: float,
    scale: float,
) -> Weights:
    """The target of one chain; it reads ``truth`` whenever it is asked."""
    given = np.bincount(votes.worker, minlength=n_workers)
    width = 1.0 / np.sqrt(scale**-2 + 0.25 * cost**2 * given)
    empty = np.full(n_workers, mean), np.zeros(n_classes)
    return Weights(*votes, truth, cost, margin, mean, scale**-2, width, *empty)


@inner_jit
def fill_scores(start, worker, label, eta, item, scores):  # type: ignore[no-untyped-def]
    """Weight of the votes for every class."""
    scores[:] = 0.0
    for v in range(start[item], start[item + 1]):
        scores[label[v]] += eta[worker[v]]


@inner_jit
def rival(scores, own):  # type: ignore[no-untyped-def]
    """The other class with the largest score."""
    best = 1 if own == 0 else 0
    for k in range(scores.shape[0]):
        if k != own and scores[k] > scores[best]:
            best = k
    return best


@inner_jit
def place(target, position):  # type: ignore[no-untyped-def]
    """The weights of a position into ``target.eta``.

    Loops that write sum nothing up: whether the compiler's vectors may be used would depend on how
    far short arrays happen to lie apart, and with it the order of the sum.
    """
    for j in range(target.eta.shape[0]):
        target.eta[j] = target.mean + target.width[j] * position[j]


@jit
def place_weights(target, position):  # type: ignore[no-untyped-def]
    """:func:`place`, from Python."""
    place(target, position)


@implements(energy, Weights)
def _energy_of_weights(target, position, work):  # type: ignore[no-untyped-def]
    eta, gradient, width = target.eta, work.gradient, target.width
    start, worker, label, scores = target.start, target.worker, target.label, target.scores
    place(target, position)
    total = 0.0
    for j in range(eta.shape[0]):
        gradient[j] = target.precision * (eta[j] - target.mean)
    for j in range(eta.shape[0]):  # apart from what is written: see ``place``
        total += (eta[j] - target.mean) ** 2
    total *= 0.5 * target.precision
    for i in range(target.truth.shape[0]):
        own = target.truth[i]
        fill_scores(start, worker, label, eta, i, scores)
        best = rival(scores, own)
        lacking = target.margin + scores[best] - scores[own]
        if lacking > 0.0:
            total += target.cost * lacking
            for v in range(start[i], start[i + 1]):
                if label[v] == best:
                    gradient[worker[v]] += target.cost
                elif label[v] == own:
                    gradient[worker[v]] -= target.cost
    for j in range(eta.shape[0]):
        gradient[j] *= width[j]
    return total


@jit
def move_weights(dynamics, target, state, work, rng, times):  # type: ignore[no-untyped-def]
    """Some transitions of a dynamics; the weights of where it arrives go into ``target.eta``.

    The energy is that of labels which have moved since the last call.
    """
    state.energy[0] = np.nan
    for _ in range(times):
        advance(dynamics, target, state, work, rng)
    place(target, state.position)
