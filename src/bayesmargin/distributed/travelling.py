"""Chains that travel between stations, one task a trajectory.

A task receives the target of a station, the chain's state and its generator, and returns both moved
on, with the draws. The same generator chooses the next station. A chain keeps to one worker if it
can, so that workers are equally busy; a station that the worker does not hold yet is copied to it,
once. Draws therefore depend on the seed
and on the stations alone, not on workers, their number, their speed or their death.
"""

import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.chains import TRACE_NAMES, record
from bayesmargin.checks import (
    SteinCheck,
    full_gradients,
    gradient_noise,
    spread_draws,
    stein_identity,
)
from bayesmargin.distributed.cluster import Cluster, share, total
from bayesmargin.errors import DivergenceError
from bayesmargin.state import State
from bayesmargin.target import Target, working_type, workspace
from bayesmargin.types import FloatArray, IntArray

TRAJECTORY = 16_384  # iterations at a station: a tenth of a second, far above a message's latency
CHECKED = 400  # draws at which the bias check wants gradients


class Leg(NamedTuple):
    """What comes back from a trajectory."""

    state: State
    rng: np.random.Generator
    draws: FloatArray
    trace: FloatArray
    done: int
    seconds: float
    rows_read: int


def travel(
    target: Target,
    dynamics: Any,
    state: State,
    rng: np.random.Generator,
    n_draws: int,
    thin: int,
) -> Leg:
    """Some draws at one station; the arguments stay as they are, so that a task can run again."""
    began = time.perf_counter()
    state, rng = copy.deepcopy((state, rng))
    draws = np.empty((n_draws, state.position.shape[0]))
    trace = np.empty((n_draws, len(TRACE_NAMES)))
    work = workspace(target, working_type(target))
    done = record(dynamics, target, state, work, rng, thin, draws, trace)
    rows_read = int(target.strata.take.sum()) * n_draws * thin
    return Leg(state, rng, draws, trace, done, time.perf_counter() - began, rows_read)


@dataclass
class Traveller:
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

    def receive(self, leg: Leg) -> None:
        """Take over where the trajectory ended."""
        for array, value in zip(self.state, leg.state, strict=True):
            array[...] = value
        self.rng.bit_generator.state = leg.rng.bit_generator.state
        self.place[1] -= len(leg.draws)
        self.draws.append(leg.draws)
        self.trace.append(leg.trace)

    def run(self, n_draws: int, thin: int) -> None:
        """Travellers move together; see :class:`Fleet`."""
        raise TypeError("a traveller is advanced by its fleet")

    def forget(self) -> None:
        """Drop the draws made so far (warm-up)."""
        self.draws.clear()
        self.trace.clear()


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

    def legs(self, thin: int) -> int:
        """Draws of a trajectory."""
        return max(1, self.trajectory // thin)

    def advance(self, n_draws: int, thin: int) -> None:
        """Let every chain make some draws, changing stations where its trajectory ends."""
        left = dict.fromkeys(range(len(self.chains)), n_draws)
        while left:
            sent = []
            for c, wanted in left.items():
                chain = self.chains[c]
                if chain.place[1] == 0:
                    station = int(chain.rng.choice(len(self.share), p=self.share))
                    chain.place[:] = station, self.legs(thin)
                size = min(wanted, int(chain.place[1]))
                args = (self.dynamics, chain.state, chain.rng, size, thin)
                target = self.targets[int(chain.place[0])]
                sent.append(self.cluster.submit_to(c, "trajectory", travel, target, *args))
            for c, leg in zip(list(left), self.cluster.gather(sent), strict=True):
                self._receive(self.chains[c], leg)
                left[c] -= len(leg.draws)
                if left[c] == 0:
                    del left[c]

    def _receive(self, chain: Traveller, leg: Leg) -> None:
        if leg.done < len(leg.draws):
            raise DivergenceError(
                f"a chain diverged after {int(leg.state.clock[0])} iterations with "
                f"{self.dynamics}; choose a smaller step, or leave the step out"
            )
        chain.receive(leg)
        self.seconds_computing += leg.seconds
        self.rows_read += leg.rows_read

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
