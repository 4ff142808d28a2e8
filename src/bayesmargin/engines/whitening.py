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

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines import families, priors
from bayesmargin.engines.descent import Metric, Stride, eigen, rotated, second_moment, stride
from bayesmargin.engines.loading import Loaded
from bayesmargin.engines.programs import program
from bayesmargin.engines.smoothing import SMALL, kinks_at, stiffness
from bayesmargin.engines.target import (
    Layout,
    Target,
    with_reference,
)

ROUNDS = 12  # of curvature, at most
DESCENTS = 15  # steps between two looks at the curvature
SETTLED = 0.05  # root mean square of the whitened gradient at which the centre is good enough
CALM = 1.5  # growth of the gradient from which a stride counts as too long
DENSITY = 0.4  # of a standard normal law at its middle


class Search:
    """The way to the mode of the smoothed energy."""

    def __init__(self, loaded: Loaded) -> None:
        self.loaded, self.layout = loaded, searching(loaded)
        shape = (loaded.n_scores, loaded.n_columns)
        unit = np.float32(loaded.unit)
        self.facts = (loaded.rows, loaded.family, loaded.cost, unit, loaded.prior)
        self.mean = jnp.asarray(np.zeros(shape, np.float32))
        self.length, self.passes = 1.0 if loaded.n_scores == 1 else 0.7, 0
        self.metric = self._first_metric()

    def _first_metric(self) -> Metric:
        """Kinks as dense as where nothing is known: a row has one a score that takes part."""
        loaded = self.loaded
        values, basis = eigen(second_moment(loaded.rows, loaded.cost, layout=self.layout))
        taking_part = loaded.n_scores if isinstance(loaded.family, families.SeparateHinges) else 2
        taking_part = min(taking_part, loaded.n_scores)
        level = DENSITY * loaded.unit * taking_part / float(loaded.family.margin)
        share = np.full(loaded.n_scores, 1.0 / loaded.n_scores, np.float32)
        return Metric(share, np.float32(level) * values, basis, _first_precision(loaded.prior))

    def stride(self, place: Any, before: Any, inertia: float) -> Stride:
        """One step from a place."""
        self.passes += 1
        how = np.float32(self.length), np.float32(inertia)
        found: Stride = stride(self.facts, place, before, self.metric, *how, layout=self.layout)
        return found

    def descend(self) -> float:
        """Some steps towards the mode for the curvature known; how steep it was at first."""
        place, before, first, last, age = self.mean, self.mean, np.inf, np.inf, 0
        for k in range(DESCENTS):
            found = self.stride(place, before, age / (age + 3.0))
            steep, age = float(found.steep), age + 1
            first = steep if k == 0 else first
            if steep > CALM * last:  # the way back, in shorter strides
                self.length, age = 0.5 * self.length, 0
                place, last = before, steep
                continue
            place, before, last = found.ahead, found.moved, min(last, steep)
            if steep < SETTLED:
                break
        self.mean = before
        return first

    def look(self) -> None:
        """Learn the curvature where the search has arrived."""
        found = self.stride(self.mean, self.mean, 0.0)
        values, basis = eigen(found.moment)
        curvature = np.asarray(found.curvature)
        share = curvature / max(float(curvature.sum()), SMALL)
        self.metric = Metric(share, values, basis, found.precision)

    def run(self) -> None:
        """Descend and look, until a new curvature finds the search where it was."""
        for k in range(ROUNDS):
            steep = self.descend()
            self.look()
            if k >= 3 and steep < 2.0 * SETTLED:
                break


def _first_precision(prior: Any) -> Any:
    """One over the variance of a weight under the prior."""
    if isinstance(prior, priors.Gaussian):
        return prior.precision
    return np.float32(0.5 * prior.inverse_scale**2)


def searching(loaded: Loaded) -> Layout:
    """The layout of the search, which moves weights themselves."""
    return replace(loaded.layout, contrasts=False)


@dataclass(frozen=True)
class Whitened:
    """A target in good coordinates, the rotation back, and what is known about kinks."""

    target: Target
    layout: Layout
    basis: Any
    roughness: float
    stiffness: float
    passes: int


@program(static_argnames="layout", donate_argnums=0)
def _placed(
    rows: Any,
    family: Any,
    cost: Any,
    unit: Any,
    prior: Any,
    mean: Any,
    metric: Metric,
    layout: Layout,
) -> tuple[Target, Any]:
    """The target in its coordinates, in the place of the rows, and how rough its kinks are.

    Of options and losses at the centre, which :func:`with_reference` finds, nothing is known yet.
    """
    several = isinstance(family, families.SeparateHinges)
    options = (rows.shape[0], mean.shape[0]) if several else (rows.shape[0],)
    one = isinstance(family, families.LargestHinges)
    curvature = metric.curvature()
    belief = priors.smoothed(prior, mean, metric.variance())
    if isinstance(prior, priors.Laplace):
        prior = prior._replace(basis=metric.basis)
    target = Target(
        rows=rotated(rows, metric.basis, layout),
        family=family,
        cost=cost,
        unit=unit,
        prior=prior,
        precision=metric.precision,
        centre=jnp.dot(mean, metric.basis, precision=jax.lax.Precision.HIGHEST),
        scale=jnp.sqrt(1.0 / curvature),
        reference=jnp.zeros(options, jnp.int32 if one else jnp.bool_),
        base=jnp.zeros(rows.shape[0], jnp.float32),
        drift=jnp.zeros_like(mean),
    )
    if layout.contrasts:
        target = target._replace(centre=target.centre - target.centre.mean(axis=0))
    kinks = kinks_at(target, (1.0 / curvature).mean(axis=0), layout)
    scale = jnp.sqrt(1.0 / (metric.precision + unit * kinks.curvature))
    weight = kinks.weight + belief.weight
    rough = jnp.sqrt((kinks.rough + belief.rough) / jnp.maximum(weight, SMALL))
    return target._replace(scale=scale), rough


def whiten(loaded: Loaded, rng: np.random.Generator) -> Whitened:
    """Find centre, rotation and scales, and turn the rows, whose place is used again."""
    search = Search(loaded)
    search.run()
    target, rough = _placed(*search.facts, search.mean, search.metric, layout=loaded.layout)
    target = with_reference(target, layout=loaded.layout)
    start = rng.standard_normal(target.scale.shape).astype(np.float32)
    stiff = float(stiffness(target, layout=loaded.layout, start=start))
    basis = search.metric.basis
    return Whitened(target, loaded.layout, basis, float(rough), stiff, search.passes)


class Shapes(NamedTuple):
    """What is known of a target before its rows are there: arrays without numbers."""

    loaded: Loaded
    mean: Any
    metric: Metric
    target: Target


def shapes_of(loaded: Loaded) -> Shapes:
    """Shapes of the arrays that :func:`whiten` works with, from those of the rows."""

    def single(*shape: int) -> Any:
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    width, mean = loaded.n_columns, single(loaded.n_scores, loaded.n_columns)
    metric = Metric(single(loaded.n_scores), single(width), single(width, width), single())
    prior = jax.tree.map(lambda _: single(), loaded.prior)
    placed = loaded.rows, loaded.family, loaded.cost, single(), prior, mean, metric
    target = _placed.eval_shape(*placed, layout=loaded.layout)[0]
    return Shapes(loaded, mean, metric, target)


def programs(shapes: Shapes) -> list[Callable[[], Any]]:
    """What compiles the programs of :func:`whiten`."""
    loaded, mean, metric, target = shapes
    unit, layout = target.unit, loaded.layout
    prior = jax.tree.map(lambda _: unit, loaded.prior)
    facts = (loaded.rows, loaded.family, loaded.cost, unit, prior)
    strides = (facts, mean, mean, metric, unit, unit)
    return [
        lambda: stiffness.lower(target, layout=layout, start=mean).compile(),
        lambda: with_reference.lower(target, layout=layout).compile(),
        lambda: stride.lower(*strides, layout=searching(loaded)).compile(),
        lambda: _placed.lower(*facts, mean, metric, layout=layout).compile(),
        lambda: second_moment.lower(facts[0], facts[2], layout=searching(loaded)).compile(),
    ]
