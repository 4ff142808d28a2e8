"""Rounds of draws of all chains in one call of the device, and what is watched of them."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines import families
from bayesmargin.engines.dynamics import STEPS, Chains
from bayesmargin.engines.programs import program
from bayesmargin.engines.streaming import gathered
from bayesmargin.engines.target import weights_at
from bayesmargin.engines.whitening import Whitened

WATCHED = 128  # positions and leads each, whose convergence is watched


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
        place = np.arange(n_scores * n_columns, dtype=np.int32)
        nothing = (np.zeros((0, size), np.float32) for size in (n_columns, n_scores))
        return Watch(*map(jnp.asarray, (*nothing, place)))
    place = np.sort(rng.choice(n_scores * n_columns, WATCHED, replace=False))
    chosen = np.sort(rng.choice(n_rows, min(WATCHED, n_rows), replace=False))
    rows, leads = _leads(target, chosen.astype(np.int32))
    return Watch(rows, leads, jnp.asarray(place.astype(np.int32)))


@program
def _leads(target: Any, chosen: Any) -> tuple[Any, Any]:
    """Some rows, and slopes (row, class) of their class's score less its rival's at the centre."""
    rows = gathered(target.rows, chosen).astype(jnp.float32)
    n_scores = target.centre.shape[0]
    family = families.per_row(target.family, lambda facts: facts[chosen])
    if isinstance(family, families.BinaryHinges):
        return rows, family.side[:, None]
    own = jax.nn.one_hot(family.label, n_scores)
    scores = jnp.where(own > 0.0, -jnp.inf, rows @ target.centre.T)
    return rows, own - jax.nn.one_hot(scores.argmax(axis=1), n_scores)


class Spread(NamedTuple):
    """Mean of some draws, and the sum of squares about it, as (chain, class, feature)."""

    mean: Any
    squares: Any


class Interval(NamedTuple):
    """Every how many draws one is kept, and how many there were before."""

    size: Any
    before: Any


@program(static_argnames=("layout", "room", "places"))
def record(
    dynamics: Any,
    target: Any,
    layout: Any,
    chains: Chains,
    watch: Watch,
    basis: Any,
    n_draws: Any,
    thin: Any,
    interval: Interval,
    room: int,
    places: int,
) -> tuple[Chains, Any, Any, Any, Spread]:
    """Make ``n_draws`` draws, no more than ``room``, ``thin`` transitions apart.

    Returned are the states, what is watched (draw, chain, ...), the trace (draw, chain, name), the
    weights (draw, chain, class, feature) of the features as they came, of those draws that are
    kept, at most ``places``, and mean and squares of the weights of all draws.
    """
    transition: Any = STEPS[type(dynamics)]
    shape = chains.position.shape
    n_chains = shape[0]
    first = (interval.before + interval.size - 1) // interval.size

    def iterate(_: Any, carried: Any) -> Any:
        chains, total = carried
        chains, warmth = transition(dynamics, target, layout, chains)
        square = jnp.square(chains.position).sum(axis=(1, 2))
        added = total[:, :2] + jnp.stack([warmth, chains.friction], axis=1)
        return chains, jnp.concatenate([added, jnp.maximum(total[:, 2:], square[:, None])], axis=1)

    def draw(k: Any, carried: Any) -> Any:
        chains, watched, trace, kept, spread = carried
        start = jnp.zeros((n_chains, 3), jnp.float32)
        chains, total = jax.lax.fori_loop(0, thin, iterate, (chains, start))
        weights = weights_at(target, chains.position)
        leads = jnp.einsum("mn,cln,ml->cm", watch.rows, weights, watch.lead)
        seen = jnp.concatenate([chains.position.reshape(n_chains, -1)[:, watch.place], leads], 1)
        facts = jnp.concatenate([total[:, :2] / thin, jnp.sqrt(total[:, 2:])], axis=1)
        watched, trace = watched.at[k].set(seen), trace.at[k].set(facts)
        turned = jnp.einsum("cln,mn->clm", weights, basis, precision=jax.lax.Precision.HIGHEST)
        change = turned - spread.mean
        mean = spread.mean + change / (k + 1.0)
        spread = Spread(mean, spread.squares + change * (turned - mean))
        # A draw that is not kept is overwritten by the next one that is, or lies beyond the last.
        place = (interval.before + k + interval.size - 1) // interval.size - first
        return chains, watched, trace, kept.at[place].set(turned), spread

    n_watched = watch.place.shape[0] + watch.rows.shape[0]
    empty = (
        jnp.zeros((room, n_chains, n_watched), jnp.float32),
        jnp.zeros((room, n_chains, 3), jnp.float32),
        jnp.zeros((places + 1, *shape), jnp.float32),
        Spread(jnp.zeros(shape, jnp.float32), jnp.zeros(shape, jnp.float32)),
    )
    return jax.lax.fori_loop(0, n_draws, draw, (chains, *empty))
