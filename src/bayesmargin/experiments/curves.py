"""Chains followed while they run: the running posterior mean judged at checkpoints in time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesmargin.errors import DivergenceError
from bayesmargin.experiments.clock import Stopwatch
from bayesmargin.foundation.observers import listening
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.ensemble import Ensemble
from bayesmargin.samplers import Sampler
from bayesmargin.samplers.wide import WideChain
from bayesmargin.targets.problem import Problem

Judge = Callable[[FloatArray], float]
FIRST_LOOK = 1e-3  # seconds from the beginning of the chain, at the least
GROWTH = 1.35  # of the time since the chain began, from one checkpoint to the next
ENOUGH = 400  # draws, some of them close to the last, whose mean takes over from an anchor
MOST_DRAWS = 4000  # in a round, which bounds memory


@dataclass
class Curve:
    """Figures of a chain (accuracy, say) at growing times; ``diverged`` when it blew up.

    ``prepared`` is the time at which the chain could begin: rows laid out, an anchor found. Figures
    before :data:`ENOUGH` draws are those of the means that the search for the anchor came by.
    """

    seconds: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)
    diverged: bool = False
    prepared: float = 0.0

    @property
    def last(self) -> float:
        """Figure at the end, minus infinity for a chain that diverged."""
        return -np.inf if self.diverged or not self.values else self.values[-1]

    @property
    def first_draw(self) -> float:
        """Time of the first look at draws."""
        return next((t for t, n in zip(self.seconds, self.draws, strict=True) if n), np.inf)

    def first_at(self, level: float) -> float:
        """Time from which the figure stays at ``level`` or above; infinite if it never does.

        A chain that diverges later does not stay.
        """
        if self.diverged:
            return np.inf
        below = [k for k, value in enumerate(self.values) if value < level]
        start = below[-1] + 1 if below else 0
        return self.seconds[start] if start < len(self.seconds) else np.inf


class RunningMean:
    """Mean of the later half of the draws so far, from sums over rounds."""

    def __init__(self) -> None:
        self.sums: list[FloatArray] = []
        self.masses: list[float] = []
        self.counts: list[int] = []

    def add(self, draws: FloatArray, weights: FloatArray | None) -> None:
        """Take in a round of draws, with weights where their steps differ."""
        mass = np.ones(len(draws)) if weights is None else weights
        self.sums.append(mass @ draws)
        self.masses.append(float(mass.sum()))
        self.counts.append(len(draws))

    def mean(self) -> FloatArray:
        """Weighted mean over the rounds that hold the later half."""
        ends = np.cumsum(self.counts)
        first = int(np.searchsorted(ends, ends[-1] // 2, side="right"))
        first = min(first, len(ends) - 1)
        return np.sum(self.sums[first:], axis=0) / sum(self.masses[first:])


def next_draws(ensemble: Ensemble, n_draws: int, thin: int) -> FloatArray:
    """Advance the first chain; its new draws as weights, one a row."""
    chain = ensemble.chains[0]
    if isinstance(chain, WideChain):
        position, trace = np.empty((1, chain.size)), np.zeros((1, 3))
        draws = np.empty((n_draws, chain.size))
        for k in range(n_draws):
            if chain.advance(position, trace, thin) < 1:
                raise DivergenceError(f"a chain diverged with {chain.describe}")
            draws[k] = chain.to_weights(position[0])
        return draws
    chain.forget()
    chain.run(n_draws, thin)
    return ensemble.weights(chain.draws[0])


def follow(
    sampler: Sampler,
    problem: Problem,
    judge: Judge,
    seconds: float,
    seed: int,
    thin: int | None = None,
) -> Curve:
    """Run one chain for some seconds and judge the mean of its later draws on the way.

    A sampler with an anchor is judged by the search for it until there are :data:`ENOUGH` draws, as
    the others are by the draws of their burn-in. Preparation (layout of rows, anchor) is on the
    clock; judging and compilation are not, provided that :func:`compiled` was called.

    Parameters
    ----------
    sampler : Sampler
    problem : Problem
    judge : callable
        Figure of a weight vector, such as its accuracy on test rows.
    seconds : float
        Processor time from the moment the chain can begin; a round that has begun is finished.
    seed : int
    thin : int, optional
        Iterations between the draws that enter the mean; the sampler's own choice by default.
    """
    watch, curve, mean = Stopwatch(), Curve(), RunningMean()

    def on_the_way(position: FloatArray) -> None:
        if not curve.seconds or watch.seconds > GROWTH * curve.seconds[-1]:
            with watch.stopped():
                _look(curve, watch, position, 0, judge)

    with watch.running(), listening(on_the_way):
        ensemble = sampler.start(problem, spawn_generators(seed, 2))
    curve.prepared, anchored = watch.seconds, bool(curve.seconds)
    step, size, following = thin or ensemble.plan.thin, 1, watch.seconds + FIRST_LOOK
    end = curve.prepared + seconds
    while watch.seconds < end or not mean.counts:
        before = watch.seconds
        try:
            with watch.running():
                draws = next_draws(ensemble, size, step)
                mean.add(draws, ensemble.account.draw_weights(size, step))
        except DivergenceError:
            curve.diverged = True
            return curve
        noisy = anchored and sum(mean.counts) < ENOUGH and watch.seconds < end
        if not noisy and (watch.seconds >= following or watch.seconds >= end):
            _look(curve, watch, mean.mean(), sum(mean.counts), judge)
            following = curve.prepared + GROWTH * (watch.seconds - curve.prepared)
        pace = max((watch.seconds - before) / size, 1e-7)
        room = min(following, end) - watch.seconds
        size = int(np.clip(room / pace, 1, min(4 * size, MOST_DRAWS)))
    return curve


def _look(curve: Curve, watch: Stopwatch, weights: FloatArray, n_draws: int, judge: Judge) -> None:
    curve.seconds.append(watch.seconds)
    curve.values.append(judge(weights))
    curve.draws.append(n_draws)


def compiled(sampler: Sampler, problem: Problem) -> None:
    """Compile what a sampler needs on a small problem of the same kind, before any clock runs."""
    ensemble = sampler.start(problem, spawn_generators(0, 2))
    try:
        next_draws(ensemble, 2, 2)
    except DivergenceError:
        return


def curve_rows(curve: Curve, **labels: Any) -> list[dict[str, Any]]:
    """A curve as rows of a table."""
    return [
        {**labels, "seconds": time, "accuracy": value, "draws": count}
        for time, value, count in zip(curve.seconds, curve.values, curve.draws, strict=True)
    ]
