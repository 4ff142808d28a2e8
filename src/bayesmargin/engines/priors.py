r"""Priors as a device sees them: energies and slopes along rotated weights, smooth pictures.

A Gaussian prior of one scale does not see the rotation :math:`V`. The Laplace prior does:

.. math:: \frac{1}{b} \sum_{kj} |(V w_k)_j|, \qquad \text{slope } \tfrac1b\,V^T \mathrm{sign}(V w_k)

Smoothed by a normal law of standard deviation :math:`\sigma`, its slope is
:math:`(2 \Phi(w/\sigma) - 1)/b` and its curvature :math:`2 \varphi(w/\sigma)/(\sigma b)`.
"""

from functools import partial, singledispatch
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.scipy.special import erf

_product = partial(jnp.dot, precision=jax.lax.Precision.HIGHEST)


class Gaussian(NamedTuple):
    """Independent weights of one standard deviation, around zero."""

    precision: Any


class Laplace(NamedTuple):
    """Independent weights of one scale; ``basis`` turns rotated weights back."""

    inverse_scale: Any
    basis: Any


class Smoothed(NamedTuple):
    """Slopes (class, feature) along weights as they came, and the mean curvature.

    With it the sums over weights that tell how rough the kinks of the prior are, as those of rows.
    """

    slope: Any
    curvature: Any
    weight: Any
    rough: Any


@singledispatch
def slope(prior: Any, weights: Any) -> Any:
    """Slope of the energy along rotated weights (..., class, feature)."""
    raise TypeError(f"{type(prior).__name__} is no prior of the array engine")


@slope.register
def _(prior: Gaussian, weights: Any) -> Any:
    return prior.precision * weights


@slope.register
def _(prior: Laplace, weights: Any) -> Any:
    turned = _product(weights, prior.basis.T)
    return prior.inverse_scale * _product(jnp.sign(turned), prior.basis)


@singledispatch
def change(prior: Any, centre: Any, away: Any) -> Any:
    """Energy at ``centre + away`` less that at the centre, for each chain."""
    raise TypeError(f"{type(prior).__name__} is no prior of the array engine")


@change.register
def _(prior: Gaussian, centre: Any, away: Any) -> Any:
    return prior.precision * (away * (centre + 0.5 * away)).sum(axis=(1, 2))


@change.register
def _(prior: Laplace, centre: Any, away: Any) -> Any:
    before = _product(centre, prior.basis.T)
    after = _product(centre + away, prior.basis.T)
    return prior.inverse_scale * (jnp.abs(after) - jnp.abs(before)).sum(axis=(1, 2))


@singledispatch
def smoothed(prior: Any, weights: Any, variance: Any) -> Smoothed:
    """The prior as normal weights (class, feature) of this variance see it."""
    raise TypeError(f"{type(prior).__name__} is no prior of the array engine")


@smoothed.register
def _(prior: Gaussian, weights: Any, variance: Any) -> Smoothed:
    nothing = jnp.float32(0.0)
    return Smoothed(prior.precision * weights, prior.precision, nothing, nothing)


@smoothed.register
def _(prior: Laplace, weights: Any, variance: Any) -> Smoothed:
    deviation = jnp.sqrt(variance)
    ratio = weights / deviation
    density = jnp.exp(-0.5 * ratio**2) / jnp.sqrt(2.0 * jnp.pi)
    curvature = 2.0 * prior.inverse_scale * density / deviation
    share, jump = curvature * variance, 2.0 * prior.inverse_scale * deviation
    slopes = prior.inverse_scale * erf(ratio / jnp.sqrt(2.0))
    return Smoothed(slopes, curvature.mean(), share.sum(), (share * jump**2).sum())
