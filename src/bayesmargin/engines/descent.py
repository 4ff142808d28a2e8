"""Descent to the mode of a smoothed energy: one pass over the rows a step, and the metric of it."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines import priors
from bayesmargin.engines.programs import program
from bayesmargin.engines.smoothing import smooth_sums
from bayesmargin.engines.streaming import HostRows
from bayesmargin.engines.target import Layout, over_tiles

FEW_COLUMNS = 1500  # up to which eigenvectors are found on the host, in double precision


@program(static_argnames="layout")
def second_moment(rows: Any, cost: Any, layout: Layout) -> Any:
    """Moment of the rows, by their costs."""

    def body(take: Any, total: Any) -> Any:
        some = take(rows).astype(jnp.float32)
        return total + jnp.dot((take(cost)[:, None] * some).T, some)

    size = rows.shape[1]
    return over_tiles(layout, body, jnp.zeros((size, size), jnp.float32))


def rotated(rows: Any, basis: Any, layout: Layout) -> Any:
    """Rows times the basis, in the place of the rows."""
    if isinstance(rows, HostRows):
        return HostRows(rows.reader, basis)

    def body(take: Any, carried: tuple[Any, Any]) -> tuple[Any, Any]:
        first, result = carried
        some = jax.lax.dynamic_slice_in_dim(result, first, layout.tile)
        turned = jnp.dot(some.astype(jnp.float32), basis, precision=jax.lax.Precision.HIGHEST)
        updated = jax.lax.dynamic_update_slice_in_dim(
            result, turned.astype(rows.dtype), first, axis=0
        )
        return first + layout.tile, updated

    return over_tiles(layout, body, (0, rows))[1]


def eigen(moment: Any) -> tuple[Any, Any]:
    """Eigenvalues and vectors of the features' moment."""
    if moment.shape[0] > FEW_COLUMNS:
        values, vectors = jnp.linalg.eigh(moment)
        return jnp.maximum(values, 0.0), vectors
    values, vectors = np.linalg.eigh(np.asarray(moment, dtype=float))
    return np.maximum(values, 0.0).astype(np.float32), jnp.asarray(vectors.astype(np.float32))


class Metric(NamedTuple):
    """Curvature ``precision + share[k] * values[j]`` along column ``j`` of ``basis``."""

    share: Any
    values: Any
    basis: Any
    precision: Any

    def curvature(self) -> Any:
        """Of every class and rotated feature."""
        return self.precision + self.share[:, None] * self.values

    def root(self) -> Any:
        """Root of the covariance of weights, as an average class has it."""
        return self.basis * jnp.sqrt((1.0 / self.curvature()).mean(axis=0))

    def variance(self) -> Any:
        """Of every weight as it came."""
        return jnp.dot(1.0 / self.curvature(), jnp.square(self.basis).T)


class Stride(NamedTuple):
    """Where a step of accelerated descent leads, where it ends without inertia, the steepness.

    With it, where it began, the curvature of every class, the moment of the rows and the curvature
    of the prior.
    """

    ahead: Any
    moved: Any
    steep: Any
    curvature: Any
    moment: Any
    precision: Any


@program(static_argnames="layout")
def stride(
    facts: tuple[Any, Any, Any, Any, Any],
    place: Any,
    before: Any,
    metric: Metric,
    length: Any,
    inertia: Any,
    layout: Layout,
) -> Stride:
    """One pass over the rows (rows, family, cost, unit of costs, prior), and a step of descent."""
    rows, family, cost, unit, prior = facts
    belief = priors.smoothed(prior, place, metric.variance())
    sums = smooth_sums(rows, family, cost, place, metric.root(), layout)
    turned = jnp.dot(unit * sums.gradient + belief.slope, metric.basis)
    steep = jnp.sqrt(jnp.mean(turned**2 / metric.curvature()))
    moved = place - length * jnp.dot(turned / metric.curvature(), metric.basis.T)
    ahead = moved + inertia * (moved - before)
    seen = unit * sums.curvature, unit * sums.moment
    return Stride(ahead, moved, steep, *seen, belief.curvature)
