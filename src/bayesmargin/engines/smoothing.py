r"""Passes over rows with smoothed hinges: the energy as a posterior of some width sees it.

A kink in a score that is known up to a standard deviation is a curvature there. Sums of those over
rows are the metric of a posterior, and tell how far it is from smooth.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from bayesmargin.engines import families
from bayesmargin.engines.programs import program
from bayesmargin.engines.target import (
    Layout,
    Target,
    over_tiles,
    pulled,
    scores_of,
    weights_at,
    without_common,
)

POWER = 16  # iterations that find the largest curvature
SMALL = 1e-20


class Smooth(NamedTuple):
    """Sums over rows of the smoothed hinges: gradient, curvature of each class, moment of rows."""

    gradient: Any
    curvature: Any
    moment: Any


class Kinks(NamedTuple):
    """What is known about kinks at the centre: curvature (class, feature) and roughness."""

    curvature: Any
    weight: Any
    rough: Any


def smooth_rows(
    rows: Any, family: Any, cost: Any, weights: Any, variance: Any, layout: Layout
) -> tuple[families.Smoothed, Any]:
    """Slopes and curvatures (row, class) of some rows, costs included, and score deviations."""
    facts = families.per_row(family, lambda array: array[:, None])
    deviation = jnp.sqrt(variance)
    scores = scores_of(rows, weights[None], layout)
    found = families.smoothed(facts, scores, jnp.maximum(deviation, SMALL)[:, None])
    seen = jnp.where(deviation > 0.0, cost, 0.0)[:, None]
    return families.Smoothed(cost[:, None] * found.slopes[:, 0], seen * found.curvature[:, 0]), (
        deviation
    )


def smooth_sums(
    rows: Any, family: Any, cost: Any, weights: Any, root: Any, layout: Layout
) -> Smooth:
    """Sums at weights (class, feature); ``root`` times its transpose is their covariance."""
    n_columns = weights.shape[1]

    def body(take: Any, sums: Smooth) -> Smooth:
        some = take(rows)
        family_ = families.per_row(family, take)
        variance = jnp.square(jnp.dot(some.astype(jnp.float32), root)).sum(axis=1)
        found, _ = smooth_rows(some, family_, take(cost), weights, variance, layout)
        gradient = pulled(some, found.slopes[:, None])[0]
        weighted = found.curvature.sum(axis=1)[:, None] * some
        return Smooth(
            sums.gradient + gradient,
            sums.curvature + found.curvature.sum(axis=0),
            sums.moment + jnp.dot(weighted.T, some.astype(jnp.float32)),
        )

    start = Smooth(
        jnp.zeros_like(weights),
        jnp.zeros(weights.shape[0], jnp.float32),
        jnp.zeros((n_columns, n_columns), jnp.float32),
    )
    return over_tiles(layout, body, start)


def kinks_at(target: Target, variance: Any, layout: Layout) -> Kinks:
    """Curvature of every class along the rotated features, and how rough kinks make it."""

    def body(take: Any, sums: Kinks) -> Kinks:
        rows, cost = take(target.rows), take(target.cost)
        squares = jnp.square(rows.astype(jnp.float32))
        family = families.per_row(target.family, take)
        found, deviation = smooth_rows(
            rows, family, cost, target.centre, jnp.dot(squares, variance), layout
        )
        several = 1.0 if isinstance(family, families.BinaryHinges) else 2.0
        reach = several * jnp.square(target.unit * cost * deviation)
        share = found.curvature.sum(axis=1) * jnp.square(deviation)
        return Kinks(
            sums.curvature + jnp.dot(found.curvature.T, squares),
            sums.weight + share.sum(),
            sums.rough + (share * reach).sum(),
        )

    nothing = jnp.float32(0.0)
    start = Kinks(jnp.zeros_like(target.centre), nothing, nothing)
    return over_tiles(layout, body, start)


@program(static_argnames="layout")
def stiffness(target: Target, layout: Layout, start: Any) -> Any:
    """Largest curvature of the smoothed energy in the coordinates of positions."""
    variance = jnp.square(target.scale).mean(axis=0)

    def gradient(position: Any) -> Any:
        weights = weights_at(target, position)

        def body(take: Any, total: Any) -> Any:
            rows = take(target.rows)
            spread = jnp.dot(jnp.square(rows.astype(jnp.float32)), variance)
            family = families.per_row(target.family, take)
            found, _ = smooth_rows(rows, family, take(target.cost), weights, spread, layout)
            return total + pulled(rows, found.slopes[:, None])[0]

        slopes = target.unit * over_tiles(layout, body, jnp.zeros_like(weights))
        return without_common(target, layout, target.scale * (slopes + target.precision * weights))

    def improve(_: Any, carried: tuple[Any, Any]) -> tuple[Any, Any]:
        direction, _size = carried
        image = jax.jvp(gradient, (jnp.zeros_like(direction),), (direction,))[1]
        size = jnp.sqrt(jnp.square(image).sum())
        return image / jnp.maximum(size, SMALL), size

    direction = without_common(target, layout, start)
    direction = direction / jnp.sqrt(jnp.square(direction).sum())
    return jax.lax.fori_loop(0, POWER, improve, (direction, jnp.float32(1.0)))[1]
