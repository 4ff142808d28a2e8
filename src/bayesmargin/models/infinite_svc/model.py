"""The infinite SVM as a model of blocks: how a chain begins, what is kept of it, and its end."""

import dataclasses
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from threading import Event
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.threads import run_chains
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.chain import BLOCKS, Chain, start_chain
from bayesmargin.models.infinite_svc.fitting import Problem
from bayesmargin.models.infinite_svc.held_out import predict_held_out
from bayesmargin.models.infinite_svc.prediction import Draw, take_draw
from bayesmargin.models.infinite_svc.state import empty_components
from bayesmargin.models.infinite_svc.trace import traces_of
from bayesmargin.models.mixtures.classifier import kept_sweeps
from bayesmargin.models.mixtures.start import first_partition
from bayesmargin.running.gibbs import Block, Gibbs

# What a chain changes; the rest of it is made from the data.
_MOVING = (
    *("rng", "stream", "settings", "components", "assignment", "concentration", "sweeps", "moved"),
    "elsewhere",
)
_MOST_LABELS = 200_000_000


class FirstSweeps:
    """The first sweeps may move weights by a method of their own."""

    name = "weights"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def update(self, chain: Chain, learning: bool) -> None:
        """Change the method when they are over."""
        if self.problem.early is not None and chain.sweeps == self.problem.first_sweeps:
            chain.settings = self.problem.settings


class Joining:
    """In the first sweeps components are joined where one is more probable than two."""

    name = "split_merge"

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def update(self, chain: Chain, learning: bool) -> None:
        """Join them; no part of the law of a chain, which begins later."""
        if self.problem.caution is not None and chain.sweeps <= self.problem.first_sweeps:
            chain.join(self.problem.caution)


class Steps:
    """Steps of Metropolis methods are found in burn-in."""

    name = "weights"

    def update(self, chain: Chain, learning: bool) -> None:
        """Steer them."""
        if learning:
            chain.adapt()


class MixtureOfExperts:
    """What the chains of one fit have in common; ``pool`` sweeps groups of components."""

    def __init__(self, problem: Problem, pool: Executor | None = None) -> None:
        self.problem, self.pool = problem, pool
        self.blocks: tuple[Block, ...] = (
            FirstSweeps(problem), *BLOCKS, Joining(problem), Steps(),
        )  # fmt: skip
        self.keep = kept_sweeps(problem.n_sweeps, problem.burn_in, problem.n_draws)

    def begin(self, rng: np.random.Generator) -> Chain:
        """A chain at the partition of k-means."""
        problem = self.problem
        assert problem.rows is not None
        assert problem.standardised is not None
        seed = int(rng.integers(2**31))
        partition = first_partition(problem.standardised, problem.clusters, seed)
        settings = problem.settings
        if problem.early is not None:
            settings = dataclasses.replace(settings, method=problem.early)
        chain = start_chain(
            rng,
            problem.rows,
            problem.base,
            settings,
            partition,
            problem.classes,
            problem.concentration,
        )
        chain.warm_weights()
        chain.pool = self.pool
        return chain

    def traces(self, chain: Chain) -> dict[str, float]:
        """Figures that say nothing of the numbers of components."""
        return traces_of(chain)

    def draw(self, chain: Chain) -> tuple[Draw, IntArray | None]:
        """The components, and those of the rows unless that would be too much to keep."""
        draw, labels = take_draw(chain.components, chain.empty, chain.concentration), None
        if len(self.keep) * len(chain.rows.labels) <= _MOST_LABELS:
            used = np.sort(chain.components.order[: chain.components.size[0]])
            labels = np.searchsorted(used, chain.assignment.slot).astype(np.int32)
        return draw, labels

    def moving(self, chain: Chain) -> dict[str, Any]:
        """What a sweep changes."""
        return {name: getattr(chain, name) for name in _MOVING}

    def resume(self, moving: dict[str, Any]) -> Chain:
        """The chain that had this state."""
        rows, base = self.problem.rows, self.problem.base
        assert rows is not None
        shape = moving["components"].weights.shape
        sides = empty_components(3, rows.covariates.shape[1], shape[1], shape[2], base.diagonal)
        visits = np.arange(len(rows.labels))
        return Chain(rows=rows, base=base, sides=sides, visits=visits, pool=self.pool, **moving)


def make_chains(
    problem: Problem, generators: Sequence[np.random.Generator], pool: Executor | None
) -> list[Gibbs]:
    """A chain for every generator."""
    model = MixtureOfExperts(problem, pool)
    return [Gibbs(model, rng, problem.burn_in, model.keep) for rng in generators]


class End(NamedTuple):
    """What is found out at the end of a chain."""

    joining: float  #: nats that two components would gain as one
    held_out: FloatArray | None  #: what rows in folds get from chains without them


def end_chains(
    problem: Problem, chains: Sequence[Gibbs], workers: int, interrupted: bool
) -> tuple[list[End], bool]:
    """The ends of chains, and whether Ctrl-C has cut them short, or had the sweeps before."""

    def end(chain: Gibbs, stop: Event) -> FloatArray | None:
        begin = time.thread_time()
        assert problem.folds is not None
        found = predict_held_out(
            chain.state, problem.folds, problem.n_draws, problem.classes, stop
        )  # fmt: skip
        chain.seconds["calibration"] = time.thread_time() - begin
        return found

    held_out: list[FloatArray | None] = []
    for chain in chains:
        chain.seconds["calibration"] = 0.0
    if problem.folds is not None and not interrupted:
        held_out, interrupted = run_chains(end, [(chain,) for chain in chains], workers)
    held_out += [None] * (len(chains) - len(held_out))
    gains = [float(chain.state.joining_gain()) for chain in chains]
    return [End(*pair) for pair in zip(gains, held_out, strict=True)], interrupted
