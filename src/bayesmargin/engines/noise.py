"""How many rows a gradient estimate needs: all of them, or a batch that is quiet enough.

With it the variance of the estimate in every direction, which the dynamics is told: the one
friction of a thermostat would leave directions with more noise than others too warm, and those that
the prior alone holds too cold.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines import families
from bayesmargin.engines.dynamics import freedom
from bayesmargin.engines.programs import program
from bayesmargin.engines.streaming import HostRows
from bayesmargin.engines.target import (
    Layout,
    Target,
    over_tiles,
    pulled,
    scores_of,
    weights_at,
    without_common,
)
from bayesmargin.engines.whitening import Shapes, Whitened

FEWEST_TILES = 8  # below which all rows are a batch
LARGEST_KICK = 1.0  # of the momentum by a row that changed its state and stands for many
WORTH = 2  # times fewer rows than all that a batch must read to be worth its noise
PLACES = 4  # positions at which noise is measured


@program(static_argnames="layout")
def tile_noise(target: Target, layout: Layout, positions: Any) -> Any:
    """Variances (class, feature) of the gradient estimated from one tile at random."""
    positions = without_common(target, layout, positions)
    weights = weights_at(target, positions)
    n_scores = weights.shape[1]

    def body(take: Any, sums: tuple[Any, Any]) -> tuple[Any, Any]:
        rows = take(target.rows)
        family = families.per_row(target.family, lambda facts: take(facts)[:, None])
        option = families.choose(family, scores_of(rows, weights, layout))
        moved = families.slopes(family, option, n_scores)
        moved = moved - families.slopes(family, take(target.reference)[:, None], n_scores)
        change = pulled(rows, take(target.cost)[:, None, None] * moved)
        change = without_common(target, layout, target.scale * target.unit * change)
        return sums[0] + change, sums[1] + jnp.square(change)

    total, squares = over_tiles(layout, body, (jnp.zeros_like(weights), jnp.zeros_like(weights)))
    return (layout.n_tiles * squares - jnp.square(total)).mean(axis=0)


def programs(shapes: Shapes) -> list[Callable[[], Any]]:
    """What compiles the program of :func:`batch_for`, if there is one."""
    layout, mean = shapes.loaded.layout, shapes.mean
    if layout.n_tiles < FEWEST_TILES:
        return []
    places = jax.ShapeDtypeStruct((PLACES, *mean.shape), jnp.float32)
    return [lambda: tile_noise.lower(shapes.target, layout=layout, positions=places).compile()]


def batch_for(
    whitened: Whitened,
    given: int | None,
    step: float,
    bearable: float,
    rng: np.random.Generator,
    n_chains: int = 1,
) -> tuple[Layout, float, Any]:
    """Layout with a batch; all rows where those are needed. With it the variance of its gradient.

    That is told as a mean over directions, and for each (class, feature), with the same mean.

    A batch is a whole number of tiles, which divide the rows evenly, and is read tile by tile: the
    scores that are held do not grow with it. Its gradient has no more than the ``bearable``
    variance. Of rows that stay with the host every chain's batch travels, all rows but once.
    """
    target, layout = whitened.target, whitened.layout
    silent = np.zeros((1, 1), np.float32)
    if layout.n_tiles < FEWEST_TILES:
        return layout, 0.0, silent
    places = rng.standard_normal((PLACES, *target.centre.shape)).astype(np.float32)
    each = tile_noise(target, layout=layout, positions=places)
    each = each * (each.size / freedom(target, layout))  # as if the classes shared nothing
    noise = float(each.mean())
    wanted = noise / bearable, step * layout.n_tiles * whitened.roughness / LARGEST_KICK
    tiles = max(1.0, *wanted) if given is None else given / layout.tile
    choices = [m for m in range(1, layout.n_tiles) if layout.n_tiles % m == 0 and m >= tiles]
    travels = n_chains if isinstance(target.rows, HostRows) else 1
    if not choices or (given is None and WORTH * travels * choices[0] > layout.n_tiles):
        return layout, 0.0, silent
    left = (1.0 - choices[0] / layout.n_tiles) / choices[0]
    chosen = replace(layout, batch=choices[0] * layout.tile, pieces=choices[0])
    return chosen, noise * left, each * left
