r"""Labels of the items, confusion matrices and class shares, each drawn given all else.

.. math:: P(y_i = k \mid \cdot) &\propto \pi_k \prod_j \Phi_{j k x_{ij}}\;
          \exp\!\Big(-c \big(\ell + \max_{k' \ne k} s_{ik'} - s_{ik}\big)_+\Big), \\
          \Phi_{jk} &\sim \mathrm{Dir}(a_k + n_{jk}), \qquad \pi \sim \mathrm{Dir}(1 + n),

with :math:`n_{jkx}` the labels x that worker j gave to items of class k. The plain max-margin vote
has neither matrices nor shares.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.crowd.votes import UNKNOWN
from bayesmargin.models.crowd.weights import fill_scores, rival


@inner_jit
def fill_odds(
    start: IntArray,
    worker: IntArray,
    label: IntArray,
    item: int,
    eta: FloatArray,
    spoken: FloatArray,
    shares: FloatArray,
    cost: float,
    margin: float,
    scores: FloatArray,
    chance: FloatArray,
) -> None:
    """Probabilities of the classes of one item into ``chance``.

    ``spoken`` are logs of the matrices and ``shares`` logs of class shares; empty without them.
    """
    fill_scores(start, worker, label, eta, item, scores)
    size, top = chance.shape[0], -np.inf
    for k in range(size):
        value = -cost * max(0.0, margin + scores[rival(scores, k)] - scores[k])
        if shares.shape[0] > 0:
            value += shares[k]
            for v in range(start[item], start[item + 1]):
                value += spoken[worker[v], k, label[v]]
        chance[k] = value
        top = max(top, value)
    total = 0.0
    for k in range(size):
        chance[k] = math.exp(chance[k] - top)
        total += chance[k]
    for k in range(size):
        chance[k] /= total


@inner_jit
def pick(rng: np.random.Generator, chance: FloatArray) -> int:
    """A class with the given probabilities."""
    left = rng.random()
    for k in range(chance.shape[0] - 1):
        left -= chance[k]
        if left < 0.0:
            return k
    return chance.shape[0] - 1


@jit
def draw_labels(
    rng: np.random.Generator,
    start: IntArray,
    worker: IntArray,
    label: IntArray,
    known: IntArray,
    truth: IntArray,
    eta: FloatArray,
    spoken: FloatArray,
    shares: FloatArray,
    cost: float,
    margin: float,
    chances: FloatArray,
) -> int:
    """Draw the label of every item that is not known; returns how many changed.

    The probabilities that they were drawn with are added to ``chances``.
    """
    size = chances.shape[1]
    scores, chance = np.empty(size), np.empty(size)
    changed = 0
    for i in range(truth.shape[0]):
        if known[i] != UNKNOWN:
            chances[i, known[i]] += 1.0
            continue
        fill_odds(start, worker, label, i, eta, spoken, shares, cost, margin, scores, chance)
        for k in range(size):
            chances[i, k] += chance[k]
        drawn = pick(rng, chance)
        changed += 1 if drawn != truth[i] else 0
        truth[i] = drawn
    return changed


@inner_jit
def draw_dirichlet(rng: np.random.Generator, strength: FloatArray, logs: FloatArray) -> None:
    """Logs of a draw of Dirichlet's law, of small strengths too."""
    top = -np.inf
    for k in range(strength.shape[0]):
        a = strength[k]  # a draw of Gamma(a) is one of Gamma(a + 1) times U^(1/a)
        uniform = max(rng.random(), 1e-300)
        logs[k] = math.log(max(rng.standard_gamma(a + 1.0), 1e-300)) + math.log(uniform) / a
        top = max(top, logs[k])
    total = 0.0
    for k in range(strength.shape[0]):
        total += math.exp(logs[k] - top)
    for k in range(strength.shape[0]):
        logs[k] -= top + math.log(total)


@jit
def draw_confusion(
    rng: np.random.Generator,
    start: IntArray,
    worker: IntArray,
    label: IntArray,
    truth: IntArray,
    strength: FloatArray,
    spoken: FloatArray,
    shares: FloatArray,
) -> float:
    """Draw matrices and class shares given labels, as logs.

    ``strength`` is the table of prior counts of every worker. Returns the log probability of the
    votes given matrices and labels.
    """
    n_workers, size = spoken.shape[0], shares.shape[0]
    counts = np.empty((n_workers, size, size))
    totals = np.ones(size)
    for j in range(n_workers):
        for k in range(size):
            for x in range(size):
                counts[j, k, x] = strength[k, x]
    for i in range(truth.shape[0]):
        totals[truth[i]] += 1.0
        for v in range(start[i], start[i + 1]):
            counts[worker[v], truth[i], label[v]] += 1.0
    for j in range(n_workers):
        for k in range(size):
            draw_dirichlet(rng, counts[j, k], spoken[j, k])
    draw_dirichlet(rng, totals, shares)
    value = 0.0
    for i in range(truth.shape[0]):
        value += shares[truth[i]]
        for v in range(start[i], start[i + 1]):
            value += spoken[worker[v], truth[i], label[v]]
    return value


@jit
def forecast(
    start: IntArray,
    worker: IntArray,
    label: IntArray,
    eta: FloatArray,
    spoken: FloatArray,
    shares: FloatArray,
    cost: float,
    margin: float,
    chances: FloatArray,
) -> None:
    """Add the probabilities of items under many draws (first axis) to ``chances``, their mean."""
    n_draws, size = eta.shape[0], chances.shape[1]
    scores, chance = np.empty(size), np.empty(size)
    for t in range(n_draws):
        for i in range(chances.shape[0]):
            fill_odds(
                start, worker, label, i, eta[t], spoken[t], shares[t], cost, margin, scores, chance
            )
            for k in range(size):
                chances[i, k] += chance[k] / n_draws
