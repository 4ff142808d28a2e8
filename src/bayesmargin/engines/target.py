r"""The posterior on a device: energy and gradients of all chains, a tile of rows at a time.

Positions :math:`u` have the axes (chain, class, feature), and weights are

.. math:: w = (m + s \circ u)\, V^T

with a rotation :math:`V` of the features that :mod:`~bayesmargin.engines.whitening` finds. Rows are
kept rotated, :math:`z = V^T x`, so that a score is :math:`z \cdot (m + s \circ u)` and the rotation
is needed for draws alone. An independent Gaussian prior of one scale does not see it either; the
Laplace prior does (:mod:`~bayesmargin.engines.priors`).

A pass over rows is two matrix products: of the rows with the weights of all chains, and of the rows
with the slopes of the hinges, a difference of two one-hot matrices (a scatter is several times
slower). Where the classes share a hinge, a vector added to all of them changes nothing: positions
stay in the space in which the weights of the classes add up to zero, and that vector is drawn from
a Gaussian prior. Under the Laplace prior it is not independent of the rest, and is moved with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from bayesmargin.engines import families, priors
from bayesmargin.engines.programs import program
from bayesmargin.engines.streaming import sliced

EXACT = jax.lax.Precision.HIGHEST  # without it a GPU rounds single precision to ten bits


@dataclass(frozen=True)
class Layout:
    """What compiled functions know beforehand: sizes, and how products are rounded.

    Attributes
    ----------
    tile, n_tiles : int
        Rows whose scores are held at a time; rows beyond the last one cost nothing.
    batch : int
        Rows of a gradient estimate, a whole number of which make all rows; 0 stands for all rows.
    pieces : int
        Parts of a batch that follow one another, a whole number of rows each, so that fewer scores
        are held at a time.
    in_turn : bool
        Whether the chains read their batches one after another and not all at once.
    contrasts : bool
        Whether the classes share a hinge, so that only differences between them are sampled.
    vendor : bool
        Whether products of matrices come from the library of a GPU's vendor.
    split : bool
        Whether weights meet rows of bfloat16 in two parts, so that their rounding is as that of
        single precision.
    """

    tile: int
    n_tiles: int
    batch: int = 0
    pieces: int = 1
    in_turn: bool = False
    contrasts: bool = False
    vendor: bool = True
    split: bool = False

    @property
    def n_batches(self) -> int:
        """Batches that make all rows."""
        return self.tile * self.n_tiles // self.batch if self.batch else 1


class Target(NamedTuple):
    """Arrays of a posterior; those of rows are a whole number of tiles long.

    ``cost`` is relative to ``unit``, and zero for rows that fill up the last tile. ``reference``
    and ``base`` are options and losses at ``centre``, ``drift`` is the gradient of the hinges
    there, along weights. ``precision`` is the mean curvature of the prior.
    """

    rows: Any
    family: Any
    cost: Any
    unit: Any
    prior: Any
    precision: Any
    centre: Any
    scale: Any
    reference: Any
    base: Any
    drift: Any


class Sums(NamedTuple):
    """Sums over rows for each chain: gradient along the weights, and loss less that at the centre.

    Losses are added with the rounding error carried along: of ten million rows the sum matters to
    a millionth of a millionth.
    """

    gradient: Any
    loss: Any
    rest: Any


def weights_at(target: Target, position: Any) -> Any:
    """Weights (chain, class, feature) of the rotated features."""
    return target.centre + target.scale * position


def without_common(target: Target, layout: Layout, vector: Any) -> Any:
    """A vector of positions without the part that all classes share."""
    if not layout.contrasts:
        return vector
    share = (target.scale * vector).sum(axis=-2, keepdims=True)
    return vector - target.scale * share / jnp.square(target.scale).sum(axis=-2, keepdims=True)


def scores_of(rows: Any, weights: Any, layout: Layout) -> Any:
    """Scores (row, chain, class) in single precision."""
    product = partial(
        jnp.einsum, "tn,cln->tcl", precision=EXACT, preferred_element_type=jnp.float32
    )
    if rows.dtype == jnp.float32:
        return product(rows, weights)
    upper = weights.astype(rows.dtype)
    if not layout.split:
        return product(rows, upper)
    return product(rows, upper) + product(rows, (weights - upper).astype(rows.dtype))


def pulled(rows: Any, slopes: Any) -> Any:
    """Gradient (chain, class, feature) along the weights from slopes (row, chain, class)."""
    return jnp.einsum(
        "tcl,tn->cln",
        slopes.astype(rows.dtype),
        rows,
        precision=EXACT,
        preferred_element_type=jnp.float32,
    )


def over_tiles(layout: Layout, body: Callable[[Any, Any], Any], start: Any) -> Any:
    """Fold ``body(take, carried)`` over all tiles; ``take`` picks a tile from an array of rows."""

    def step(k: Any, carried: Any) -> Any:
        first = k * layout.tile
        return body(lambda array: sliced(array, first, layout.tile), carried)

    if layout.n_tiles == 1:
        return body(lambda array: sliced(array, 0, layout.tile), start)
    return jax.lax.fori_loop(0, layout.n_tiles, step, start)


def row_sums(target: Target, layout: Layout, weights: Any) -> Sums:
    """Sums over all rows at some weights (chain, class, feature)."""
    n_chains, n_scores = weights.shape[:2]

    def body(take: Any, sums: Sums) -> Sums:
        rows, cost = take(target.rows), take(target.cost)[:, None]
        family = families.per_row(target.family, lambda facts: take(facts)[:, None])
        scores = scores_of(rows, weights, layout)
        slope = families.slopes(family, families.choose(family, scores), n_scores)
        gradient = pulled(rows, cost[..., None] * slope)
        change = cost * (families.losses(family, scores) - take(target.base)[:, None])
        term = change.sum(axis=0) - sums.rest
        loss = sums.loss + term
        return Sums(sums.gradient + gradient, loss, (loss - sums.loss) - term)

    nothing = jnp.zeros(n_chains, jnp.float32)
    total = over_tiles(layout, body, Sums(jnp.zeros_like(weights), nothing, nothing))
    return Sums(target.unit * total.gradient, target.unit * (total.loss - total.rest), nothing)


def energy_and_gradient(target: Target, layout: Layout, position: Any) -> tuple[Any, Any]:
    """Energy less that at the centre (chain), and its gradient (chain, class, feature)."""
    weights = weights_at(target, position)
    sums = row_sums(target, layout, weights)
    away = target.scale * position
    prior = priors.change(target.prior, target.centre, away)
    slope = target.scale * (priors.slope(target.prior, weights) + sums.gradient)
    return prior + sums.loss, without_common(target, layout, slope)


def full_gradient(target: Target, layout: Layout, position: Any) -> Any:
    """Gradient without noise (chain, class, feature)."""
    return energy_and_gradient(target, layout, position)[1]


def estimated_gradient(target: Target, layout: Layout, position: Any, key: Any) -> Any:
    """Unbiased gradient from a batch of rows for each chain; of all rows if ``layout.batch`` is 0.

    A batch adds what changed since the reference. All of its rows are looked at, changed or not.
    """
    if layout.batch == 0:
        return full_gradient(target, layout, position)
    weights = weights_at(target, position)
    first = layout.batch * jax.vmap(lambda k: jax.random.randint(k, (), 0, layout.n_batches))(key)
    each = jax.lax.map if layout.in_turn else _at_once
    changed = each(lambda chain: batch_change(target, layout, *chain), (weights, first))
    slope = target.scale * (priors.slope(target.prior, weights) + target.drift + changed)
    return without_common(target, layout, slope)


def _at_once(function: Callable[[Any], Any], chains: Any) -> Any:
    """What a function makes of each chain."""
    return jax.vmap(function)(chains)


def batch_change(target: Target, layout: Layout, weights: Any, first: Any) -> Any:
    """Estimated change of the gradient since the reference, at weights (class, feature)."""
    size, n_scores = layout.batch // layout.pieces, weights.shape[0]

    def piece(k: Any) -> Any:
        def take(array: Any) -> Any:
            return sliced(array, first + k * size, size)

        rows = take(target.rows)
        family = families.per_row(target.family, lambda facts: take(facts)[:, None])
        option = families.choose(family, scores_of(rows, weights[None], layout))
        moved = families.slopes(family, option, n_scores)
        moved = moved - families.slopes(family, take(target.reference)[:, None], n_scores)
        return pulled(rows, take(target.cost)[:, None, None] * moved)[0]

    if layout.pieces == 1:
        total = piece(0)
    else:
        start = jnp.zeros_like(weights)
        total = jax.lax.fori_loop(0, layout.pieces, lambda k, sum_: sum_ + piece(k), start)
    return layout.n_batches * target.unit * total


@program(static_argnames="layout")
def with_reference(target: Target, layout: Layout) -> Target:
    """The target with options, losses and gradient of the hinges at its centre."""
    clean = target._replace(base=jnp.zeros_like(target.base))

    def body(take: Any, found: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        first, options, losses = found
        family = families.per_row(target.family, lambda facts: take(facts)[:, None])
        scores = scores_of(take(target.rows), target.centre[None], layout)
        option, loss = families.choose(family, scores)[:, 0], families.losses(family, scores)[:, 0]
        options = jax.lax.dynamic_update_slice_in_dim(
            options, option.astype(options.dtype), first, axis=0
        )
        losses = jax.lax.dynamic_update_slice_in_dim(losses, loss, first, axis=0)
        return first + layout.tile, options, losses

    start = (0, jnp.zeros_like(target.reference), jnp.zeros_like(target.base))
    _, options, losses = over_tiles(layout, body, start)
    drift = row_sums(clean, layout, target.centre[None]).gradient[0]
    return target._replace(reference=options, base=losses, drift=drift)
