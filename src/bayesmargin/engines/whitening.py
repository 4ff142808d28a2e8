r"""Coordinates in which a posterior has about unit scale: centre, rotation and scales.

The energy is smoothed as the posterior itself smooths it: row :math:`d` sees a score with the
posterior's standard deviation along it, and a kink becomes a curvature :math:`\rho_{dk}` in the
score of class :math:`k`. The centre is the mode of the smoothed energy. On the way there the
curvature of class :math:`k` is taken to be

.. math:: H_k \approx \lambda I + r_k \sum_d \rho_d\, x_d x_d^T

a covariance of the features by the density of kinks, which all classes share, times the share
:math:`r_k` of the class. Its rotation is kept. In rotated features the diagonal of every class is
then counted exactly, :math:`\lambda + \sum_d \rho_{dk} z_{dj}^2`, and gives the scales. For two
classes nothing is lost, and the posterior is white.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines import families
from bayesmargin.engines.loading import Loaded
from bayesmargin.engines.smoothing import SMALL, Smooth, kinks_at, smooth_sums, stiffness
from bayesmargin.engines.target import (
    Layout,
    Target,
    over_tiles,
    with_reference,
)

ROUNDS = 12  # of curvature, at most
DESCENTS = 15  # steps between two looks at the curvature
SETTLED = 0.05  # root mean square of the whitened gradient at which the centre is good enough
CALM = 1.5  # growth of the gradient from which a stride counts as too long
DENSITY = 0.4  # of a standard normal law at its middle
FEW_COLUMNS = 1500  # up to which eigenvectors are found on the host, in double precision


@partial(jax.jit, static_argnames="layout")
def _second_moment(rows: Any, cost: Any, layout: Layout) -> Any:
    def body(take: Any, total: Any) -> Any:
        some = take(rows).astype(jnp.float32)
        return total + jnp.dot((take(cost)[:, None] * some).T, some)

    size = rows.shape[1]
    return over_tiles(layout, body, jnp.zeros((size, size), jnp.float32))


@partial(jax.jit, static_argnames="layout", donate_argnums=0)
def _rotated(rows: Any, basis: Any, layout: Layout) -> Any:
    """Rows times the basis, in the place of the rows."""

    def body(take: Any, carried: tuple[Any, Any]) -> tuple[Any, Any]:
        first, result = carried
        some = jax.lax.dynamic_slice_in_dim(result, first, layout.tile)
        turned = jnp.dot(some.astype(jnp.float32), basis, precision=jax.lax.Precision.HIGHEST)
        updated = jax.lax.dynamic_update_slice_in_dim(
            result, turned.astype(rows.dtype), first, axis=0
        )
        return first + layout.tile, updated

    return over_tiles(layout, body, (0, rows))[1]


def _eigen(moment: Any) -> tuple[Any, Any]:
    """Eigenvalues and vectors of the features' moment."""
    if moment.shape[0] > FEW_COLUMNS:
        values, vectors = jnp.linalg.eigh(moment)
        return jnp.maximum(values, 0.0), vectors
    values, vectors = np.linalg.eigh(np.asarray(moment, dtype=float))
    return jnp.asarray(np.maximum(values, 0.0), jnp.float32), jnp.asarray(vectors, jnp.float32)


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


@jax.jit
def _stride(
    mean: Any, before: Any, gradient: Any, metric: Metric, length: Any, inertia: Any
) -> Any:
    """One step of accelerated descent: where to go, where from, and how steep it is there."""
    turned = jnp.dot(gradient, metric.basis)
    steep = jnp.sqrt(jnp.mean(turned**2 / metric.curvature()))
    step = jnp.dot(turned / metric.curvature(), metric.basis.T)
    moved = mean - length * step
    return moved + inertia * (moved - before), moved, steep


class Search:
    """The way to the mode of the smoothed energy."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded, self.layout = loaded, loaded.layout
        self.layout = replace(loaded.layout, contrasts=False)
        shape = (loaded.n_scores, loaded.rows.shape[1])
        self.mean = self.before = jnp.zeros(shape, jnp.float32)
        self.length, self.passes = 1.0 if loaded.n_scores == 1 else 0.7, 0
        self.metric = self._first_metric()

    def _first_metric(self) -> Metric:
        """Kinks as dense as where nothing is known: a row has one a score that takes part."""
        loaded = self.loaded
        values, basis = _eigen(_second_moment(loaded.rows, loaded.cost, self.layout))
        taking_part = loaded.n_scores if isinstance(loaded.family, families.SeparateHinges) else 2
        taking_part = min(taking_part, loaded.n_scores)
        level = DENSITY * loaded.unit * taking_part / float(loaded.family.margin)
        share = jnp.full(loaded.n_scores, 1.0 / loaded.n_scores, jnp.float32)
        return Metric(share, level * values, basis, jnp.float32(loaded.precision))

    def sums(self, weights: Any, with_moment: bool) -> Smooth:
        """Sums of the smoothed hinges, with the unit of costs."""
        loaded = self.loaded
        self.passes += 1
        found = smooth_sums(
            loaded.rows,
            loaded.family,
            loaded.cost,
            weights,
            self.metric.root(),
            self.layout,
            with_moment,
        )
        return Smooth(*(loaded.unit * part for part in found))

    def descend(self) -> float:
        """Some steps towards the mode for the curvature known; how steep it was at first."""
        place, before, first, last, age = self.mean, self.mean, np.inf, np.inf, 0
        for k in range(DESCENTS):
            gradient = self.sums(place, False).gradient + self.loaded.precision * place
            there, moved, steep = _stride(
                place, before, gradient, self.metric, self.length, age / (age + 3.0)
            )
            steep, age = float(steep), age + 1
            first = steep if k == 0 else first
            if steep > CALM * last:  # the way back, in shorter strides
                self.length, age = 0.5 * self.length, 0
                place, last = before, steep
                continue
            place, before, last = there, moved, min(last, steep)
            if steep < SETTLED:
                break
        self.mean = before
        return first

    def look(self) -> None:
        """Learn the curvature where the search has arrived."""
        found = self.sums(self.mean, True)
        values, basis = _eigen(found.moment)
        share = found.curvature / jnp.maximum(found.curvature.sum(), SMALL)
        self.metric = self.metric._replace(share=share, values=values, basis=basis)

    def run(self) -> None:
        """Descend and look, until a new curvature finds the search where it was."""
        for k in range(ROUNDS):
            steep = self.descend()
            self.look()
            if k >= 3 and steep < 2.0 * SETTLED:
                break


@dataclass(frozen=True)
class Whitened:
    """A target in good coordinates, the rotation back, and what is known about kinks."""

    target: Target
    layout: Layout
    basis: Any
    roughness: float
    stiffness: float
    passes: int


def whiten(loaded: Loaded, rng: np.random.Generator) -> Whitened:
    """Find centre, rotation and scales, and turn the rows, whose place is used again."""
    search = Search(loaded)
    search.run()
    basis, curvature = search.metric.basis, search.metric.curvature()
    n_rows = loaded.rows.shape[0]
    several = isinstance(loaded.family, families.SeparateHinges)
    options = (n_rows, loaded.n_scores) if several else (n_rows,)
    one = isinstance(loaded.family, families.LargestHinges)
    target = Target(
        rows=_rotated(loaded.rows, basis, loaded.layout),
        family=loaded.family,
        cost=loaded.cost,
        unit=jnp.float32(loaded.unit),
        precision=jnp.float32(loaded.precision),
        centre=jnp.dot(search.mean, basis, precision=jax.lax.Precision.HIGHEST),
        scale=jnp.sqrt(1.0 / curvature),
        reference=jnp.zeros(options, jnp.int32 if one else jnp.bool_),
        base=jnp.zeros(n_rows, jnp.float32),
        drift=jnp.zeros_like(search.mean),
    )
    if loaded.layout.contrasts:
        target = target._replace(centre=target.centre - target.centre.mean(axis=0))
    kinks = kinks_at(target, (1.0 / curvature).mean(axis=0), loaded.layout)
    scale = jnp.sqrt(1.0 / (loaded.precision + loaded.unit * kinks.curvature))
    target = with_reference(target._replace(scale=scale), loaded.layout)
    start = jnp.asarray(rng.standard_normal(scale.shape), jnp.float32)
    return Whitened(
        target,
        loaded.layout,
        basis,
        float(jnp.sqrt(kinks.rough / jnp.maximum(kinks.weight, SMALL))),
        float(stiffness(target, loaded.layout, start)),
        search.passes,
    )
