"""Grid searches of steps: short runs judged on a validation part of the training rows."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayesmargin.experiments.clock import Stopwatch
from bayesmargin.experiments.curves import Judge, follow
from bayesmargin.experiments.linear_problems import LinearSet
from bayesmargin.samplers.stochastic import StochasticSampler


class Found(NamedTuple):
    """The best candidate, every candidate with its score, and the processor seconds it took."""

    best: StochasticSampler
    scores: list[float]
    seconds: float


def search(
    candidates: Sequence[StochasticSampler],
    data: LinearSet,
    seconds: float,
    seed: int,
    thin: int = 10,
    lasting: float = 0.0,
    survivors: int = 1,
) -> Found:
    """Choose the sampler whose running mean is most accurate over a short run.

    The score is the mean accuracy over the checkpoints (which are even in the logarithm of time)
    on a fifth of the training rows, held out; a chain that diverges scores nothing. The best must
    also survive some runs of ``lasting`` seconds on all training rows, from as many seeds as there
    are ``survivors``, else the next best is taken.
    """
    watch, (fitted, judge) = Stopwatch(), data.validation(seed)
    scores = []
    with watch.running():
        for candidate in candidates:
            curve = follow(candidate, fitted, judge, seconds, seed, thin)
            lost = curve.diverged or not curve.values
            scores.append(-np.inf if lost else float(np.mean(curve.values)))
        while lasting > seconds and max(scores) > -np.inf:
            best = int(np.argmax(scores))
            seeds = range(seed, seed + survivors)
            if _survives(candidates[best], data, judge, lasting, seeds, thin):
                break
            scores[best] = -np.inf
    return Found(candidates[int(np.argmax(scores))], scores, watch.seconds)


def _survives(
    candidate: StochasticSampler,
    data: LinearSet,
    judge: Judge,
    seconds: float,
    seeds: range,
    thin: int,
) -> bool:
    """Whether several chains stay finite; with more rows than in the search, gradients are larger.

    Their accuracy does not matter here.
    """
    problem = data.problem()
    return not any(follow(candidate, problem, judge, seconds, s, thin).diverged for s in seeds)
