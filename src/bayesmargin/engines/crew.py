"""The chains of a device as the supervisor sees them, and the crew that moves them together.

States stay on the device from round to round. Whoever asks a chain for its state (a checkpoint, a
run that is taken up again) gets arrays in memory, which the next round takes back with what has
been changed in them.
"""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines.chains import Interval, Spread, Watch, record
from bayesmargin.engines.dynamics import Chains
from bayesmargin.engines.programs import program
from bayesmargin.engines.target import without_common
from bayesmargin.engines.whitening import Whitened
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.storage import MEMORY_LIMIT, DrawStore, Moments, draw_array
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import FARTHEST
from bayesmargin.samplers.wide import WideChain

ROOM = 1 << 24  # weights that come back from the device together
MOST_DRAWS = 64  # of a round
NONE = 1 << 30  # an interval at which no draw is kept


def draws_at_home(n_weights: int) -> int:
    """Draws of so many weights, those of all chains, that a call of the device brings back."""
    return int(np.clip(ROOM // n_weights, 1, MOST_DRAWS))


class ThinnedStore(DrawStore):
    """Draws in memory, every k-th where all would take more than its share."""

    def __init__(self, n_chains: int, n_draws: int, n_weights: int) -> None:
        size = 4 * n_chains * n_draws * n_weights
        self.interval = max(1, -(-size // MEMORY_LIMIT))
        self.array = draw_array((n_chains, -(-n_draws // self.interval), n_weights))


class ArrayChain(WideChain):
    """One row of the array of chains, as the supervisor sees it."""

    crew: "Crew | None" = None
    """Where the state is while it is not here."""
    home: tuple[Any, np.random.Generator]

    @property
    def moving(self) -> tuple[Any, np.random.Generator]:
        """State, brought from the device, and generator."""
        if self.crew is not None:
            self.crew.come_home()
        return self.home

    @moving.setter
    def moving(self, value: tuple[Any, np.random.Generator]) -> None:
        self.home = value

    def receive(
        self, watched: FloatArray, trace: FloatArray, weights: FloatArray, spread: Spread | None
    ) -> None:
        """Take over a round: what was watched, the draws that are kept, moments of all."""
        self.draws.append(watched.astype(float))
        self.trace.append(trace.astype(float))
        if spread is not None:
            assert self.store is not None
            assert self.moments is not None
            first = -(-self.made // self.store.interval)
            self.store.array[self.number, first : first + len(weights)] = weights
            part = Moments(0)
            part.count, part.mean, part.squares = len(watched), spread.mean, spread.squares
            self.moments.merge(part)
        self.made += len(watched)

    def run(self, n_draws: int, thin: int) -> None:
        """Chains of an array move together; see :class:`Crew`."""
        raise TypeError("a chain of an array is advanced by its crew")


_allowed = program(without_common, static_argnames="layout")


def place_chains(
    whitened: Whitened, generators: Sequence[np.random.Generator], friction: float
) -> list[ArrayChain]:
    """One chain a generator, at a place of the Gaussian that the coordinates describe."""
    chains, shape = [], whitened.target.centre.shape
    size = shape[0] * shape[1]

    def refuse(positions: FloatArray, trace: FloatArray, thin: int) -> int:
        raise TypeError("a chain of an array is advanced by its crew")

    unchanged: Any = np.asarray  # what comes from the device is what is watched, and weights
    for number, rng in enumerate(generators):
        key = jax.random.key_data(jax.random.key(int(rng.integers(2**31))))
        position, momentum = (
            np.array(_allowed(whitened.target, whitened.layout, part.astype(np.float32)))
            for part in (rng.standard_normal(shape), rng.standard_normal(shape))
        )
        state = Chains(
            position,
            momentum,
            np.full(1, friction, np.float32),
            np.zeros(1, np.int32),
            np.array(key),
        )
        chains.append(ArrayChain(number, refuse, unchanged, unchanged, size, "", (state, rng)))
    return chains


class Crew:
    """All chains of a run with the target they move on."""

    def __init__(
        self, whitened: Whitened, dynamics: Any, chains: Sequence[ArrayChain], watch: Watch
    ) -> None:
        self.whitened, self.dynamics, self.chains, self.watch = whitened, dynamics, chains, watch
        self.places = draws_at_home(whitened.target.centre.size * len(chains))
        self.away: Chains | None = None
        for chain in chains:
            chain.crew = self

    def round_draws(self, thin: int) -> int:
        """Draws that one call makes."""
        return min(MOST_DRAWS, self.places * self._interval())

    def _interval(self) -> int:
        store = self.chains[0].store
        return NONE if store is None else store.interval

    def states(self) -> Chains:
        """States of all chains as arrays on the device."""
        if self.away is None:
            parts = zip(*(chain.home[0] for chain in self.chains), strict=True)
            position, momentum, friction, clock, key = (np.stack(part) for part in parts)
            states = Chains(position, momentum, friction[:, 0], clock[:, 0], key)
            self.away = Chains(*map(jnp.asarray, states))
        return self.away

    def come_home(self) -> None:
        """Bring the states to where the chains have theirs; the next round starts from there."""
        if self.away is None:
            return
        for chain, *parts in zip(self.chains, *map(np.asarray, self.away), strict=True):
            for array, value in zip(chain.home[0], parts, strict=True):
                array[...] = value
        self.away = None

    def advance(self, n_draws: int, thin: int) -> None:
        """Let every chain make some draws."""
        most = self.round_draws(thin)
        for first in range(0, n_draws, most):
            self._round(min(most, n_draws - first), thin)

    def _round(self, n_draws: int, thin: int) -> None:
        interval, before = self._interval(), self.chains[0].made
        keeps = interval < NONE
        states, *found, kept, spread = record(
            self.dynamics,
            self.whitened.target,
            self.whitened.layout,
            self.states(),
            self.watch,
            self.whitened.basis,
            n_draws,
            thin,
            Interval(interval, before if keeps else 1),
            MOST_DRAWS,
            self.places,
        )
        watched, trace = (np.asarray(part)[:n_draws] for part in found)
        if not np.square(trace[..., 2].astype(float)).max() < FARTHEST:
            raise DivergenceError(
                f"a chain diverged with a step of {float(self.dynamics.step):.3g}; choose a "
                "smaller step, or leave the step out"
            )
        self.away = states
        count = -(-(before + n_draws) // interval) - -(-before // interval) if keeps else 0
        weights = np.asarray(kept)[:count] if count else np.empty(0, np.float32)
        weights = weights.reshape(count, len(self.chains), self.chains[0].size)
        moments = tuple(map(np.asarray, spread)) if keeps else ()
        for k, chain in enumerate(self.chains):
            part = Spread(*(array[k].ravel() for array in moments)) if keeps else None
            chain.receive(watched[:, k], trace[:, k], weights[:, k], part)
