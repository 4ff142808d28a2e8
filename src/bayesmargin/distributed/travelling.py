"""Chains that travel between stations, a few trajectories a task.

A task receives the targets of the next stations, the chain's state and its generator, and returns
both moved on, with the draws. A chain keeps to one worker if it can, so that workers are equally
busy; a station that the worker does not hold yet is copied to it, once. Draws depend on the seed
and on the stations alone, not on workers, their number, their speed or their death.
"""

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.diagnostics.stein import (
    SteinCheck,
    full_gradients,
    gradient_noise,
    spread_draws,
    stein_identity,
)
from bayesmargin.distributed.cluster import Cluster, share, total
from bayesmargin.dynamics.base import State
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.running.chains import TRACE_NAMES, Recorded, record
from bayesmargin.targets.rows import Target, working_type, workspace

TRAJECTORY = 16_384  # iterations at a station: a tenth of a second, far above a message's latency
ROUND = 4  # trajectories of a task, between two messages to the driver
CHECKED = 400  # draws at which the bias check wants gradients


class Journey(NamedTuple):
    """What comes back from a task."""

    state: State
    rng: np.random.Generator
    draws: FloatArray
    trace: FloatArray
    done: int
    seconds: float
    rows_read: int


def travel(
    targets: list[Target],
    sizes: list[int],
    dynamics: Any,
    state: State,
    rng: np.random.Generator,
    thin: int,
) -> Journey:
    """Some draws at each station; the arguments stay as they are, so that a task can run again."""
    began = time.perf_counter()
    state, rng = copy.deepcopy((state, rng))
    draws = np.empty((sum(sizes), state.position.shape[0]))
    trace = np.empty((len(draws), len(TRACE_NAMES)))
    first = rows_read = 0
    for target, size in zip(targets, sizes, strict=True):
        work = workspace(target, working_type(target))
        part = slice(first, first + size)
        done = record(dynamics, target, state, work, rng, thin, draws[part], trace[part])
        first += done
        if done < size:
            break
        rows_read += int(target.strata.take.sum()) * size * thin
    return Journey(state, rng, draws, trace, first, time.perf_counter() - began, rows_read)


@dataclass
class Traveller(Recorded):
    """A chain on the cluster: its state and generator, here; the rows, there.

    ``place`` holds the station and the draws left there.
    """

    state: State
    rng: np.random.Generator
    place: IntArray = field(default_factory=lambda: np.zeros(2, dtype=np.int64))
    draws: list[FloatArray] = field(default_factory=list)
    trace: list[FloatArray] = field(default_factory=list)

    @property
    def moving(self) -> tuple[tuple[Any, ...], np.random.Generator]:
        """The arrays that make its state and its generator, for checkpoints."""
        return (*self.state, self.place), self.rng

    def receive(self, journey: Journey) -> None:
        """Take over where the journey ended."""
        for array, value in zip(self.state, journey.state, strict=True):
            array[...] = value
        self.rng.bit_generator.state = journey.rng.bit_generator.state
        self.draws.append(journey.draws)
        self.trace.append(journey.trace)

    def run(self, n_draws: int, thin: int) -> None:
        """Travellers move together; see :class:`Fleet`."""
        raise TypeError("a traveller is advanced by its fleet")


@dataclass
class Fleet:
    """All chains of a run and the targets of the stations between which they travel."""

    cluster: Cluster
    targets: Sequence[Any]
    share: FloatArray
    dynamics: Any
    chains: list[Traveller]
    trajectory: int = TRAJECTORY
    seconds_computing: float = 0.0
    rows_read: int = 0

    def trajectory_draws(self, thin: int) -> int:
        """Draws of a trajectory."""
        return max(1, self.trajectory // thin)

    def round_draws(self, thin: int) -> int:
        """Draws between two messages to the driver."""
        return ROUND * self.trajectory_draws(thin)

    def advance(self, n_draws: int, thin: int) -> None:
        """Let every chain make some draws, changing stations where its trajectory ends."""
        sent = []
        for c, chain in enumerate(self.chains):
            stations, sizes = self._route(chain, n_draws, thin)
            targets = [self.targets[k] for k in stations]
            args = (targets, sizes, self.dynamics, chain.state, chain.rng, thin)
            sent.append(self.cluster.submit_to(c, "trajectories", travel, *args))
        for chain, journey in zip(self.chains, self.cluster.gather(sent), strict=True):
            self._receive(chain, journey)

    def _route(self, chain: Traveller, n_draws: int, thin: int) -> tuple[list[int], list[int]]:
        """Stations of the next draws, and the draws at each."""
        stations, sizes = [], []
        while n_draws > 0:
            if chain.place[1] == 0:
                station = chain.rng.choice(len(self.share), p=self.share)
                chain.place[:] = station, self.trajectory_draws(thin)
            size = min(n_draws, int(chain.place[1]))
            stations.append(int(chain.place[0]))
            sizes.append(size)
            chain.place[1] -= size
            n_draws -= size
        return stations, sizes

    def _receive(self, chain: Traveller, journey: Journey) -> None:
        if journey.done < len(journey.draws):
            raise DivergenceError(
                f"a chain diverged after {int(journey.state.clock[0])} iterations with "
                f"{self.dynamics}; choose a smaller step, or leave the step out"
            )
        chain.receive(journey)
        self.seconds_computing += journey.seconds
        self.rows_read += journey.rows_read

    def checks(self, draws: FloatArray, rng: np.random.Generator) -> tuple[float, SteinCheck]:
        """Gradient noise, and Stein's identity with the gradient over all rows.

        Averaged with the stations' shares, the corrections cancel and the gradient is exact.
        """
        flat = draws.reshape(-1, draws.shape[-1])
        chosen = share(self.cluster, spread_draws(draws, min(CHECKED, len(flat))))
        few = share(self.cluster, spread_draws(draws, 8))
        seed = int(rng.integers(2**62))
        pairs = list(zip(self.targets, self.share, strict=True))
        exact = [self.cluster.submit("check", _gradients, t, chosen, q) for t, q in pairs]
        noise = [self.cluster.submit("check", _noise, t, few, q, seed) for t, q in pairs]
        gradients = total(self.cluster, "check", exact)
        found = stein_identity(self.cluster.gather([chosen])[0], gradients, flat.mean(axis=0))
        return float(total(self.cluster, "check", noise)), found


def _gradients(target: Target, positions: FloatArray, weight: float) -> FloatArray:
    work, rng = workspace(target, working_type(target)), np.random.default_rng(0)
    return weight * full_gradients(target, positions, work, rng)


def _noise(target: Target, positions: FloatArray, weight: float, seed: int) -> float:
    work, rng = workspace(target, working_type(target)), np.random.default_rng(seed)
    return float(weight * gradient_noise(target, positions[None], work, rng))
