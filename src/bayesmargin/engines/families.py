r"""The hinges for an array of scores: which linear piece is active, its slopes, its value.

Scores have the axes (row, chain, score). An *option* names the active piece of a row: whether its
hinge is active (two classes, or one class of one-vs-rest), or the class that attains

.. math:: \max_{k} \left(s_k + \ell\,[k \ne y]\right) - s_y

which is the label itself where the hinge of Crammer and Singer is zero. Options tell two states of
a row apart, and the difference of their slopes is what a control variate needs. Costs are not in
here: whoever sums over rows multiplies by them.
"""

from functools import singledispatch
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import log_ndtr

#: A softmax of this many standard deviations is closest to the largest of some normal variates.
SOFTMAX = 0.627


class BinaryHinges(NamedTuple):
    """Two classes: the side on which the score of a row should be, -1 or +1."""

    side: Any
    margin: Any


class LargestHinges(NamedTuple):
    """Several classes with the hinge of Crammer and Singer: the class of every row."""

    label: Any
    margin: Any


class SeparateHinges(NamedTuple):
    """One-vs-rest, all classes at once: the class of every row."""

    label: Any
    margin: Any


class Smoothed(NamedTuple):
    """The hinges under normal scores: expected slopes, and the curvature along each score."""

    slopes: Any
    curvature: Any


def _own(label: Any, n_scores: int) -> Any:
    return label[..., None] == jnp.arange(n_scores, dtype=label.dtype)


def _sides(label: Any, n_scores: int) -> Any:
    return jnp.where(_own(label, n_scores), 1.0, -1.0)


@singledispatch
def choose(family: Any, scores: Any) -> Any:
    """Active option of every row."""
    raise TypeError(f"no options are known of {type(family).__name__}")


@choose.register
def _(family: BinaryHinges, scores: Any) -> Any:
    return family.side * scores[..., 0] < family.margin


@choose.register
def _(family: LargestHinges, scores: Any) -> Any:
    own = _own(family.label, scores.shape[-1])
    others = jnp.where(own, -jnp.inf, scores)
    slack = family.margin + others.max(axis=-1) - jnp.where(own, scores, 0.0).sum(axis=-1)
    rival = others.argmax(axis=-1).astype(family.label.dtype)
    return jnp.where(slack > 0.0, rival, family.label)


@choose.register
def _(family: SeparateHinges, scores: Any) -> Any:
    return _sides(family.label, scores.shape[-1]) * scores < family.margin


@singledispatch
def slopes(family: Any, option: Any, n_scores: int) -> Any:
    """Slopes of the energy along the scores, where an option is active."""
    raise TypeError(f"no slopes are known of {type(family).__name__}")


@slopes.register
def _(family: BinaryHinges, option: Any, n_scores: int) -> Any:
    return -(family.side * option)[..., None]


@slopes.register
def _(family: LargestHinges, option: Any, n_scores: int) -> Any:
    chosen = _own(option, n_scores).astype(jnp.float32)
    return chosen - _own(family.label, n_scores)


@slopes.register
def _(family: SeparateHinges, option: Any, n_scores: int) -> Any:
    return -_sides(family.label, n_scores) * option


@singledispatch
def losses(family: Any, scores: Any) -> Any:
    """The hinge of every row, summed over classes where each has its own."""
    raise TypeError(f"no losses are known of {type(family).__name__}")


@losses.register
def _(family: BinaryHinges, scores: Any) -> Any:
    return jnp.maximum(family.margin - family.side * scores[..., 0], 0.0)


@losses.register
def _(family: LargestHinges, scores: Any) -> Any:
    own = _own(family.label, scores.shape[-1])
    options = jnp.where(own, scores, scores + family.margin)
    return options.max(axis=-1) - jnp.where(own, scores, 0.0).sum(axis=-1)


@losses.register
def _(family: SeparateHinges, scores: Any) -> Any:
    slack = family.margin - _sides(family.label, scores.shape[-1]) * scores
    return jnp.maximum(slack, 0.0).sum(axis=-1)


@singledispatch
def smoothed(family: Any, scores: Any, deviation: Any) -> Smoothed:
    """Expected slopes and curvatures where scores are normal with these standard deviations.

    ``deviation`` has the axes (row, chain). Two classes have closed forms; the largest of several
    scores is a softmax (:data:`SOFTMAX`).
    """
    raise TypeError(f"nothing smooth is known of {type(family).__name__}")


def _smoothed_sides(side: Any, slack: Any, deviation: Any) -> Smoothed:
    ratio = slack / deviation
    share = jnp.exp(log_ndtr(ratio))
    density = jnp.exp(-0.5 * ratio**2) / jnp.sqrt(2.0 * jnp.pi)
    return Smoothed(-side * share, density / deviation)


@smoothed.register
def _(family: BinaryHinges, scores: Any, deviation: Any) -> Smoothed:
    side = family.side[..., None]
    return _smoothed_sides(side, family.margin - side * scores, deviation[..., None])


@smoothed.register
def _(family: LargestHinges, scores: Any, deviation: Any) -> Smoothed:
    own = _own(family.label, scores.shape[-1])
    warmth = SOFTMAX * deviation[..., None]
    share = jax.nn.softmax(jnp.where(own, scores, scores + family.margin) / warmth, axis=-1)
    return Smoothed(share - own, share * (1.0 - share) / warmth)


@smoothed.register
def _(family: SeparateHinges, scores: Any, deviation: Any) -> Smoothed:
    side = _sides(family.label, scores.shape[-1])
    return _smoothed_sides(side, family.margin - side * scores, deviation[..., None])


def per_row(family: Any, take: Any) -> Any:
    """The family of some rows: ``take`` picks them from each array of facts."""
    return type(family)(take(family[0]), family.margin)
