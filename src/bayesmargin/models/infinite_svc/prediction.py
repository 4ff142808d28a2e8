r"""Prediction from posterior draws.

For a row x and one draw the components weigh in with :math:`w_k \propto n_k t_k(x)` and a new one
with :math:`w_{new} \propto \alpha_0 t_0(x)`. The rules:

``"probability"``
    :math:`\sum_k w_k\,\psi(y \mid x, \eta_k) / \sum_{y'} \psi(y' \mid x, \eta_k)`, averaged over
    draws; a new component gives :math:`1/L`.
``"vote"``
    :math:`\sum_k w_k\,[y = \arg\max_{y'} \eta_{ky'}\cdot x]`, averaged over draws.
``"score"``
    scores :math:`\sum_k w_k\,\eta_{ky}\cdot x` averaged over draws, then the pseudo-likelihood.
``"hard"``
    the vote of the heaviest component alone.
``"gibbs"``
    the vote of one component drawn from w (the Gibbs classifier).

The estimator's default, "calibrated", is the first of these with a link behind it
(:mod:`bayesmargin.calibration.floored`).
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit, jit
from bayesmargin.foundation.threads import pool_for
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.hinge import binary_log_psi
from bayesmargin.models.infinite_svc.experts import fill_scores, vote
from bayesmargin.models.infinite_svc.features import fill_features, log_growth
from bayesmargin.models.infinite_svc.gaussian import joining, surely_below
from bayesmargin.models.infinite_svc.state import Base, Components, Hinge
from bayesmargin.models.mixtures.components import Component

RULES = ("probability", "vote", "score", "hard", "gibbs")
_PROBABILITY, _VOTE, _SCORE, _HARD, _GIBBS, _COMPONENT = range(6)
_CHUNK = 2048
_NEGLIGIBLE_SHARE, _NEGLIGIBLE = 1e-9, 36.0


class Draw(NamedTuple):
    """One posterior draw, reduced to what prediction needs."""

    population: FloatArray  #: (K + 1,) sizes; the last entry is the empty component
    height: FloatArray  #: (K + 1,) log of weight times density at the centre
    form: FloatArray  #: (K + 1, F)
    weights: FloatArray  #: (K, R, n)

    def components(self) -> list[Component]:
        """All but the empty one, in the order of their numbers."""
        pairs = zip(self.population[:-1], self.weights, strict=True)
        return [Component(int(size), weights) for size, weights in pairs]


def take_draw(components: Components, empty: Components, concentration: float) -> Draw:
    """Copy the present components; ``empty`` holds a component without members in slot 0."""
    slots = np.sort(components.order[: components.size[0]])
    return Draw(
        np.append(components.population[slots], 0).astype(float),
        np.append(components.height[slots], empty.height[0] + math.log(concentration)),
        np.vstack([components.form[slots], empty.form[:1]]),
        components.weights[slots].copy(),
    )


@jit
def _features(covariates: FloatArray, base: Base, length: int) -> FloatArray:
    """Features of every row, one line each."""
    result = np.empty((covariates.shape[0], length))
    for d in range(covariates.shape[0]):
        fill_features(base, covariates[d], result[d])
    return result


@jit
def _growths(features: FloatArray, draw: Draw, base: Base) -> FloatArray:
    """What every row would add to log det Psi of every component."""
    result = np.empty((features.shape[0], draw.population.shape[0]))
    for d in range(result.shape[0]):
        for k in range(result.shape[1]):
            factor = joining(draw.population[k], base.strength)
            _, result[d, k] = log_growth(base, draw.form, k, features[d], factor)
    return result


def _distances(covariates: FloatArray, draws: list[Draw], base: Base) -> Iterator[FloatArray]:
    """For every draw how far rows are from components.

    Where columns are independent, growths of log det Psi. Otherwise squared radii: they come from
    one product of matrices, and most of them need no logarithm.
    """
    features = _features(covariates, base, draws[0].form.shape[1])
    for draw in draws:
        yield _growths(features, draw, base) if base.diagonal else features @ draw.form.T


@inner_borrowing_jit
def _fill_shares(
    d: int, draw: Draw, base: Base, squares: bool, distances: FloatArray, share: FloatArray
) -> int:
    """Probability that row d belongs to each component or a new one, from its distances.

    Components surely :data:`_NEGLIGIBLE` nats below the best so far need no logarithm. Returns the
    most probable component in use, however improbable beside a new one.
    """
    number = share.shape[0]
    best, leader = -np.inf, 0
    for k in range(number):
        count, growth = draw.population[k], distances[d, k]
        if squares:
            floor, square = best - _NEGLIGIBLE, max(0.0, growth)
            if surely_below(floor, draw.height[k], count, base.strength, base.degrees, square):
                share[k] = -np.inf
                continue
            growth = math.log1p(joining(count, base.strength) * square)
        share[k] = draw.height[k] - 0.5 * (base.degrees + count + 1.0) * growth
        if share[k] > best:
            best = share[k]
            leader = k if k < number - 1 else leader
    total = 0.0
    for k in range(number):
        share[k] = math.exp(share[k] - best) if share[k] > best - _NEGLIGIBLE else 0.0
        total += share[k]
    for k in range(number):
        share[k] /= total
    return leader


@inner_borrowing_jit
def _add_likelihoods(weight: float, hinge: Hinge, scores: FloatArray, result: FloatArray) -> None:
    """Add ``weight`` times the pseudo-likelihood of every class, normalised to sum to one."""
    if scores.shape[0] == 1:
        low = binary_log_psi(hinge.cost, hinge.margin, -1.0, scores[0])
        high = binary_log_psi(hinge.cost, hinge.margin, 1.0, scores[0])
        best = max(low, high)
        low, high = math.exp(low - best), math.exp(high - best)
        result[0] += weight * low / (low + high)
        result[1] += weight * high / (low + high)
        return
    winner = vote(scores)
    second = -np.inf
    for y in range(scores.shape[0]):
        if y != winner and scores[y] > second:
            second = scores[y]
    least = max(0.0, hinge.margin + second - scores[winner])
    total = 0.0
    for turn in range(2):
        for y in range(scores.shape[0]):
            rival = second if y == winner else scores[winner]
            slack = max(0.0, hinge.margin + rival - scores[y])
            value = math.exp(hinge.cost * (least - slack))
            if turn == 0:
                total += value
            else:
                result[y] += weight * value / total


@inner_borrowing_jit
def _add_expert(
    rule: int,
    weight: float,
    weights: FloatArray,
    row: FloatArray,
    hinge: Hinge,
    scores: FloatArray,
    result: FloatArray,
) -> None:
    """Add one expert's contribution with the given weight."""
    fill_scores(weights, row, scores)
    classes = result.shape[0]
    if rule == _SCORE:
        for y in range(scores.shape[0]):
            result[classes - scores.shape[0] + y] += weight * scores[y]
    elif rule == _PROBABILITY:
        _add_likelihoods(weight, hinge, scores, result)
    else:
        result[vote(scores)] += weight


@jit
def _add_draw(
    rule: int,
    draw: Draw,
    base: Base,
    hinge: Hinge,
    squares: bool,
    distances: FloatArray,
    design: FloatArray,
    uniform: FloatArray,
    result: FloatArray,
) -> None:
    """Add the prediction of one draw to ``result`` (rows x classes).

    ``distances`` (rows x components) are those of :func:`_distances`, ``squares`` says which kind.
    """
    scores, share = np.empty(draw.weights.shape[1]), np.empty(draw.population.shape[0])
    number = draw.weights.shape[0]
    classes = result.shape[1]
    for d in range(distances.shape[0]):
        chosen = _fill_shares(d, draw, base, squares, distances, share)
        if rule >= _HARD:
            if rule == _GIBBS:
                chosen = 0
                remaining = uniform[d] - share[0]
                while remaining > 0.0 and chosen < number:
                    chosen += 1
                    remaining -= share[chosen]
            if rule == _COMPONENT:
                result[d, 0] = chosen
                continue
            share[:] = 0.0
            share[chosen] = 1.0
        for k in range(number):
            if share[k] > _NEGLIGIBLE_SHARE:
                _add_expert(rule, share[k], draw.weights[k], design[d], hinge, scores, result[d])
        if rule != _SCORE:
            for y in range(classes):
                result[d, y] += share[number] / classes


def predict_draws(
    rule: str,
    draws: list[Draw],
    base: Base,
    hinge: Hinge,
    covariates: FloatArray,
    design: FloatArray,
    classes: int,
    rng: np.random.Generator,
    threads: int | None,
) -> FloatArray:
    """Class probabilities by one of :data:`RULES`, averaged over draws."""
    code = RULES.index(rule)
    count = covariates.shape[0]
    result = np.zeros((count, classes))
    uniform = rng.random((len(draws), count)) if code == _GIBBS else np.zeros((len(draws), 1))

    def work(begin: int) -> None:
        part = slice(begin, min(begin + _CHUNK, count))
        distances = _distances(covariates[part], draws, base)
        for draw, line, distance in zip(draws, uniform, distances, strict=True):
            chance = line[part] if code == _GIBBS else line
            state = (draw, base, hinge, not base.diagonal, distance)
            _add_draw(code, *state, design[part], chance, result[part])

    begins = range(0, count, _CHUNK)
    with pool_for(len(begins), threads) as pool:
        list(map(work, begins) if pool is None else pool.map(work, begins))
    result /= len(draws)
    return _scores_to_probabilities(result, hinge) if code == _SCORE else _normalised(result)


def predict_components(
    draw: Draw, base: Base, hinge: Hinge, covariates: FloatArray, design: FloatArray
) -> IntArray:
    """Most probable component of each row in one draw (components in use only)."""
    result = np.zeros((covariates.shape[0], 1))
    for begin in range(0, covariates.shape[0], _CHUNK):
        part = slice(begin, begin + _CHUNK)
        (distance,) = _distances(covariates[part], [draw], base)
        state = (draw, base, hinge, not base.diagonal, distance)
        _add_draw(_COMPONENT, *state, design[part], np.zeros(1), result[part])
    return result[:, 0].astype(np.int64)


def _normalised(result: FloatArray) -> FloatArray:
    value: FloatArray = result / result.sum(axis=1, keepdims=True)
    return value


def _scores_to_probabilities(scores: FloatArray, hinge: Hinge) -> FloatArray:
    """Normalised pseudo-likelihood of averaged scores (two classes: column 1 holds the score)."""
    if scores.shape[1] == 2:
        slack = hinge.margin + np.column_stack([scores[:, 1], -scores[:, 1]])
    else:
        top = np.sort(scores, axis=1)
        rival = np.where(scores == top[:, -1:], top[:, -2:-1], top[:, -1:])
        slack = hinge.margin + rival - scores
    slack = np.maximum(slack, 0.0)
    return _normalised(np.exp(hinge.cost * (slack.min(axis=1, keepdims=True) - slack)))
