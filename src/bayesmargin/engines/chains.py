"""All chains of an ensemble on the device: rounds of draws, what is watched, and what is kept."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.diagnostics.stein import SteinCheck, stein_identity
from bayesmargin.engines import families
from bayesmargin.engines.dynamics import Chains, Thermostat, leapfrog_step, thermostat_step
from bayesmargin.engines.target import full_gradient, weights_at, without_common
from bayesmargin.engines.whitening import Whitened
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.storage import MEMORY_LIMIT, DrawStore, draw_array
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import FARTHEST
from bayesmargin.samplers.wide import WideChain, WideDraws

ROOM = 1 << 24  # weights that come back from the device together
MOST_DRAWS = 64  # of a round
WATCHED = 128  # positions and leads each, whose convergence is watched
CHECKS = 4e9  # products that Stein's identity may cost where that is not a pass for each of
FEWEST_CHECKED = 24  # draws
CHECKED_NUMBERS = 1 << 25  # weights of the draws that it looks at


class Watch(NamedTuple):
    """Rows (rotated) whose leads are watched, what a lead is, and places of some positions."""

    rows: Any
    lead: Any
    place: Any


def watch_of(whitened: Whitened, n_rows: int, rng: np.random.Generator) -> Watch:
    """What to watch: every position of a small model, else some, and leads of some rows."""
    target = whitened.target
    n_scores, n_columns = target.centre.shape
    if n_scores * n_columns <= 2 * WATCHED:
        place = np.arange(n_scores * n_columns)
        nothing = jnp.zeros((0, n_columns), jnp.float32)
        return Watch(nothing, jnp.zeros((0, n_scores), jnp.float32), jnp.asarray(place))
    place = np.sort(rng.choice(n_scores * n_columns, WATCHED, replace=False))
    chosen = jnp.asarray(np.sort(rng.choice(n_rows, min(WATCHED, n_rows), replace=False)))
    rows = target.rows[chosen].astype(jnp.float32)
    return Watch(rows, _leads(target, rows, chosen), jnp.asarray(place))


def _leads(target: Any, rows: Any, chosen: Any) -> Any:
    """Slopes (row, class) of the score of a row's class less that of its rival at the centre."""
    n_scores = target.centre.shape[0]
    family = families.per_row(target.family, lambda facts: facts[chosen])
    if isinstance(family, families.BinaryHinges):
        return family.side[:, None]
    own = jax.nn.one_hot(family.label, n_scores)
    scores = jnp.where(own > 0.0, -jnp.inf, rows @ target.centre.T)
    return own - jax.nn.one_hot(scores.argmax(axis=1), n_scores)


@partial(jax.jit, static_argnames=("layout", "room"))
def record(
    dynamics: Any,
    target: Any,
    layout: Any,
    chains: Chains,
    watch: Watch,
    basis: Any,
    n_draws: Any,
    thin: Any,
    room: int,
) -> tuple[Chains, Any, Any, Any]:
    """Make ``n_draws`` draws, no more than ``room``, ``thin`` transitions apart.

    Returned are the states, what is watched (draw, chain, ...), the trace (draw, chain, name) and
    the weights (draw, chain, class, feature) of the features as they came.
    """
    transition = thermostat_step if isinstance(dynamics, Thermostat) else leapfrog_step
    shape = chains.position.shape
    n_chains = shape[0]

    def iterate(_: Any, carried: Any) -> Any:
        chains, total = carried
        chains, warmth = transition(dynamics, target, layout, chains)
        square = jnp.square(chains.position).sum(axis=(1, 2))
        added = total[:, :2] + jnp.stack([warmth, chains.friction], axis=1)
        return chains, jnp.concatenate([added, jnp.maximum(total[:, 2:], square[:, None])], axis=1)

    def draw(k: Any, carried: Any) -> Any:
        chains, watched, trace, kept = carried
        start = jnp.zeros((n_chains, 3), jnp.float32)
        chains, total = jax.lax.fori_loop(0, thin, iterate, (chains, start))
        weights = weights_at(target, chains.position)
        leads = jnp.einsum("mn,cln,ml->cm", watch.rows, weights, watch.lead)
        seen = jnp.concatenate([chains.position.reshape(n_chains, -1)[:, watch.place], leads], 1)
        facts = jnp.concatenate([total[:, :2] / thin, jnp.sqrt(total[:, 2:])], axis=1)
        return (
            chains,
            watched.at[k].set(seen),
            trace.at[k].set(facts),
            kept.at[k].set(
                jnp.einsum("cln,mn->clm", weights, basis, precision=jax.lax.Precision.HIGHEST)
            ),
        )

    n_watched = watch.place.shape[0] + watch.rows.shape[0]
    empty = (
        jnp.zeros((room, n_chains, n_watched), jnp.float32),
        jnp.zeros((room, n_chains, 3), jnp.float32),
        jnp.zeros((room, *shape), jnp.float32),
    )
    return jax.lax.fori_loop(0, n_draws, draw, (chains, *empty))


class ThinnedStore(DrawStore):
    """Draws in memory, every k-th where all would take more than its share."""

    def __init__(self, n_chains: int, n_draws: int, n_weights: int) -> None:
        size = 4 * n_chains * n_draws * n_weights
        self.interval = max(1, -(-size // MEMORY_LIMIT))
        self.array = draw_array((n_chains, -(-n_draws // self.interval), n_weights))


class ArrayChain(WideChain):
    """One row of the array of chains, as the supervisor sees it; its state lies here."""

    def receive(self, watched: FloatArray, trace: FloatArray, weights: FloatArray) -> None:
        """Take over the draws of a round; weights are kept once there is a place for them."""
        self.draws.append(watched.astype(float))
        self.trace.append(trace.astype(float))
        for draw in weights:
            self._keep(draw)

    def run(self, n_draws: int, thin: int) -> None:
        """Chains of an array move together; see :class:`Crew`."""
        raise TypeError("a chain of an array is advanced by its crew")


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
        moving = [rng.standard_normal(shape).astype(np.float32) for _ in range(2)]
        position, momentum = (
            np.array(without_common(whitened.target, whitened.layout, part)) for part in moving
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
        n_weights = whitened.target.centre.size * len(chains)
        self.room = int(np.clip(ROOM // n_weights, 1, MOST_DRAWS))

    def round_draws(self, thin: int) -> int:
        """Draws that one call brings back."""
        return self.room

    def states(self) -> Chains:
        """States of all chains as arrays on the device."""
        parts = zip(*(chain.state for chain in self.chains), strict=True)
        position, momentum, friction, clock, key = (np.stack(part) for part in parts)
        states = Chains(position, momentum, friction[:, 0], clock[:, 0], key)
        return Chains(*map(jnp.asarray, states))

    def advance(self, n_draws: int, thin: int) -> None:
        """Let every chain make some draws."""
        for first in range(0, n_draws, self.room):
            self._round(min(self.room, n_draws - first), thin)

    def _round(self, n_draws: int, thin: int) -> None:
        found = record(
            self.dynamics,
            self.whitened.target,
            self.whitened.layout,
            self.states(),
            self.watch,
            self.whitened.basis,
            n_draws,
            thin,
            self.room,
        )
        states = Chains(*map(np.asarray, found[0]))
        watched, trace, weights = (np.asarray(part)[:n_draws] for part in found[1:])
        farthest = np.square(trace[..., 2].astype(float)).max()
        if not (farthest < FARTHEST and np.isfinite(states.position).all()):
            raise DivergenceError(
                f"a chain diverged with a step of {float(self.dynamics.step):.3g}; choose a "
                "smaller step, or leave the step out"
            )
        for k, chain in enumerate(self.chains):
            for array, value in zip(chain.state, states, strict=True):
                array[...] = value[k]
            chain.receive(watched[:, k], trace[:, k], weights[:, k].reshape(n_draws, -1))


class ArrayDraws(WideDraws):
    """Weights that were kept of all chains, and checks of them on the device."""

    def __init__(self, crew: Crew, noise: float, n_rows: int) -> None:
        super().__init__(crew.chains, None, crew.whitened.target.centre.shape[0])
        self.whitened, self.noise, self.n_rows = crew.whitened, noise, n_rows

    def reserve(self, n_draws: int) -> None:
        """Make room for the draws and begin to keep them."""
        store = ThinnedStore(len(self.chains), n_draws, self.size)
        for chain in self.chains:
            chain.reserve(store, self.size)

    def _common_variance(self) -> float:
        """Variance of the part that all classes share, which chains leave out."""
        target, layout = self.whitened.target, self.whitened.layout
        return 1.0 / (float(target.precision) * self.n_blocks) if layout.contrasts else 0.0

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the weights over all draws, kept or not."""
        mean, variance = super().moments()
        return mean, variance + self._common_variance()

    def complete(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Weights (chain, draw, weight) with the part that all classes share, drawn exactly."""
        if self.whitened.layout.contrasts:
            table = weights.reshape(*weights.shape[:2], self.n_blocks, -1)
            shape = (*table.shape[:2], 1, table.shape[3])
            deviation = np.float32(np.sqrt(self._common_variance()))
            table += deviation * rng.standard_normal(shape, dtype=np.float32)
        return weights

    def checks(self, positions: FloatArray, rng: np.random.Generator) -> tuple[float, SteinCheck]:
        """Gradient noise, and Stein's identity with gradients of all rows."""
        kept = self.weights(np.empty(0))
        flat = kept.reshape(-1, kept.shape[-1])
        cost = float(self.n_rows) * flat.shape[1]
        count = min(int(CHECKS / cost), CHECKED_NUMBERS // flat.shape[1])
        index = np.linspace(0, len(flat) - 1, min(len(flat), max(FEWEST_CHECKED, count)))
        chosen = self._located(flat[index.astype(int)])
        centre = self._located(super().moments()[0][None].astype(np.float32))[0]
        gradients = self._gradients(chosen)
        target, layout = self.whitened.target, self.whitened.layout
        n_scores, n_columns = target.centre.shape
        several = isinstance(target.family, families.SeparateHinges)
        found = stein_identity(
            _by_feature(chosen),
            _by_feature(gradients),
            _by_feature(centre[None])[0],
            (n_scores - 1) * n_columns if layout.contrasts else None,
            n_scores if several else 1,
        )
        return self.noise, found

    def _located(self, weights: FloatArray) -> FloatArray:
        """Positions (draw, class, feature) of weights."""
        target = self.whitened.target
        table = jnp.asarray(weights).reshape(-1, *target.centre.shape)
        rotated = jnp.dot(table, self.whitened.basis, precision=jax.lax.Precision.HIGHEST)
        return np.asarray((rotated - target.centre) / target.scale)

    def _gradients(self, positions: FloatArray) -> FloatArray:
        n_chains, count = len(self.chains), len(positions)
        padded = np.resize(positions, (-(-count // n_chains) * n_chains, *positions.shape[1:]))
        groups = jnp.asarray(padded.reshape(-1, n_chains, *positions.shape[1:]))
        found = _gradients_at(self.whitened.target, self.whitened.layout, groups)
        return np.asarray(found).reshape(padded.shape)[:count]


def _by_feature(table: FloatArray) -> FloatArray:
    """Vectors (draw, class, feature) as (draw, coordinate), classes interleaved."""
    return np.swapaxes(table, 1, 2).reshape(len(table), -1).astype(float)


@partial(jax.jit, static_argnames="layout")
def _gradients_at(target: Any, layout: Any, groups: Any) -> Any:
    return jax.lax.map(lambda position: full_gradient(target, layout, position), groups)
