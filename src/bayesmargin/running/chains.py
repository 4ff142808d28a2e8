"""Runs chains: the compiled loop over draws, and the threads around it.

A *chain* is a state, a workspace and a generator. Chains advance in rounds of a few draws, each in
a thread that holds no lock; :mod:`bayesmargin.running.supervisor` shows progress between rounds.
The draws depend on the generators alone, never on the number of threads or on the length of a
round.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from bayesmargin.dynamics.base import advance
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.threads import ThreadPool, n_threads
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.rows.blocks import one_blas_thread
from bayesmargin.targets.rows import Target, Workspace

FARTHEST = 1e30  # square of a distance that no posterior reaches: the chain has diverged
TRACE_NAMES = ("temperature", "friction", "radius")


@jit
def record(dynamics, target, state, work, rng, thin, draws, trace):  # type: ignore[no-untyped-def]
    """Make ``len(draws)`` draws, ``thin`` iterations apart; return how many stayed finite.

    ``trace`` receives per draw the mean kinetic temperature and friction over its iterations and
    the largest distance of the position from the origin.
    """
    position, momentum, level = state.position, state.momentum, state.friction
    size = position.shape[0]
    for k in range(draws.shape[0]):
        temperature, friction, radius = 0.0, 0.0, 0.0
        for _ in range(thin):
            advance(dynamics, target, state, work, rng)
            square, kinetic = 0.0, 0.0
            for j in range(size):
                square += position[j] * position[j]
                kinetic += momentum[j] * momentum[j]
            if not square < FARTHEST:
                return k
            temperature += kinetic
            friction += level[0]
            radius = max(radius, square)
        for j in range(size):
            draws[k, j] = position[j]
        trace[k, 0] = temperature / (thin * size)
        trace[k, 1] = friction / thin
        trace[k, 2] = np.sqrt(radius)
    return draws.shape[0]


class Advancing(Protocol):
    """What can be advanced beside others of its kind."""

    def run(self, n_draws: int, thin: int) -> None:
        """Append ``n_draws`` draws, ``thin`` iterations apart, and what is recorded with them."""


class ChainLike(Advancing, Protocol):
    """A chain whose draws are positions, which an ensemble turns into weights."""

    draws: list[FloatArray]
    trace: list[FloatArray]

    def forget(self) -> None:
        """Drop the draws made so far (warm-up)."""

    def halve(self) -> None:
        """Keep every second of the draws made so far, from the first on."""


class Recorded:
    """What chains do with the draws they have made."""

    draws: list[FloatArray]
    trace: list[FloatArray]

    def forget(self) -> None:
        """Drop the draws made so far (warm-up)."""
        self.draws.clear()
        self.trace.clear()

    def halve(self) -> None:
        """Keep every second of the draws made so far."""
        every_second(self.draws, self.trace)


@dataclass
class Chain(Recorded):
    """One chain: what moves, where it is, and the draws it has made."""

    dynamics: Any
    target: Target
    state: Any  # a State, or what else the dynamics moves
    work: Workspace
    rng: np.random.Generator
    draws: list[FloatArray] = field(default_factory=list)
    trace: list[FloatArray] = field(default_factory=list)

    def run(self, n_draws: int, thin: int) -> None:
        """Append ``n_draws`` draws, ``thin`` iterations apart."""
        draws = np.empty((n_draws, self.state.position.shape[0]))
        trace = np.empty((n_draws, len(TRACE_NAMES)))
        done = record(
            self.dynamics, self.target, self.state, self.work, self.rng, thin, draws, trace
        )
        if done < n_draws:
            raise DivergenceError(
                f"a chain diverged after {int(self.state.clock[0])} iterations with "
                f"{self.dynamics}; choose a smaller step, or leave the step out"
            )
        self.draws.append(draws)
        self.trace.append(trace)


def every_second(*records: list[FloatArray]) -> None:
    """Halve lists of pieces, each as if its pieces were one array."""
    for pieces in records:
        if pieces:
            pieces[:] = [np.concatenate(pieces)[::2]]


def in_groups(chains: Sequence[Any], n_groups: int) -> list[Sequence[Any]]:
    """Chains that are moved by one call: each by itself, unless their class has ``together``.

    That is the number of chains which its ``run_together`` takes at most.
    """
    most = getattr(chains[0], "together", 1) if chains else 1
    size = min(most, -(-len(chains) // max(1, n_groups)))
    return [chains[k : k + size] for k in range(0, len(chains), max(1, size))]


def run_chains(chains: Sequence[Advancing], n_draws: int, thin: int, n_jobs: int | None) -> None:
    """Let every chain make ``n_draws`` draws, in threads."""
    threads = n_threads(n_jobs, len(chains))
    groups = in_groups(chains, threads)

    def advance(number: int, _: None) -> None:
        group = groups[number]
        if len(group) == 1:
            group[0].run(n_draws, thin)
        else:
            group[0].run_together(group, n_draws, thin)

    with one_blas_thread(), ThreadPool(min(threads, max(1, len(groups)))) as pool:
        pool.run(advance, range(len(groups)))


def collected(chains: Sequence[ChainLike]) -> tuple[FloatArray, FloatArray]:
    """Draws (chain, draw, coordinate) and traces (chain, draw, name) that all chains have."""
    length = min(sum(len(part) for part in chain.draws) for chain in chains)
    draws = np.stack([np.concatenate(chain.draws)[:length] for chain in chains])
    trace = np.stack([np.concatenate(chain.trace)[:length] for chain in chains])
    return draws, trace


def equally_weighted(weight: FloatArray) -> IntArray:
    """Indices that repeat or drop draws so that those left count the same (systematic sampling).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.running.chains import equally_weighted
    >>> equally_weighted(np.array([3.0, 1.0, 1.0, 1.0]))
    array([0, 0, 1, 3])
    """
    share = np.cumsum(weight) / np.sum(weight)
    return np.searchsorted(share, (np.arange(weight.size) + 0.5) / weight.size)
