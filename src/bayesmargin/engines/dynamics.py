r"""Transitions of all chains at once, as functions that return a new state.

*Thermostat.* The splitting of :mod:`bayesmargin.dynamics.thermostat` whose positions are exact for
quadratic energies: kick, half a drift, friction and noise, half a drift. Friction comes after the
half drift that turns it, and its part is solved exactly,

.. math:: r \leftarrow e^{-\xi h} r + \sqrt{A\,(1 - e^{-2 \xi h}) / \xi}\;\nu

which holds for a negative :math:`\xi` too. The gradient of a batch has noise of its own. It comes
from the rows whose state changed, as the curvature :math:`H` does, and has nearly the shape of it,
:math:`\sigma^2 H`, off the diagonal as well. So it is answered by friction of that shape: the
gradient is taken ahead of the position,

.. math:: \nabla U(u + a r) \approx \nabla U(u) + a H r , \qquad a = \tfrac{h}{2} \sigma^2 ,

which takes as much from a kick as the noise brings, if :math:`r` is the momentum halfway through
the kick. What a direction has beyond the mean,
:math:`\delta`, warms it as :math:`\tfrac{h}{2} \delta \, h\xi \coth(h\xi)` of :math:`A` does, and
:math:`A` is less by that. One friction for all directions would leave stiff ones too warm, soft
ones too cold.

*Langevin dynamics.* The step of :mod:`bayesmargin.dynamics.langevin` in coordinates of unit scale.

*Hamiltonian Monte Carlo.* Leapfrog with the subgradient and the Metropolis test on the energy
itself: every part of a step is a shear, kinks or not, so the posterior is invariant.

Noise depends on the key of a chain and on its count of transitions alone, so draws do not depend on
how many are made between two looks at them.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.engines.target import (
    Layout,
    Target,
    energy_and_gradient,
    estimated_gradient,
    without_common,
)


class Chains(NamedTuple):
    """States of all chains: arrays whose first axis is the chain."""

    position: Any
    momentum: Any
    friction: Any
    clock: Any
    key: Any


class Thermostat(NamedTuple):
    """Stochastic gradient Nose-Hoover thermostat: step, diffusion, and the answer to noise.

    Gradients are taken ``ahead`` of the position, in times; ``brought`` is diffusion that some
    directions have of the noise beyond that, an array (class, feature).
    """

    step: Any
    diffusion: Any
    ahead: Any = 0.0
    brought: Any = 0.0

    def told(self, variance: Any) -> "Thermostat":
        """The same of gradients with known variances, an array (class, feature)."""
        turned, mean = self.step * self.diffusion, np.mean(variance)
        share = 0.5 * self.step * turned / np.tanh(turned)
        return self._replace(
            ahead=np.float32(0.5 * self.step * mean), brought=jnp.asarray(share * (variance - mean))
        )


class Langevin(NamedTuple):
    """Stochastic gradient Langevin dynamics: its step.

    The noise of its gradients is kept so small that it need not be told.
    """

    step: Any

    def told(self, variance: Any) -> "Langevin":
        """The same."""
        return self


class Leapfrog(NamedTuple):
    """Hamiltonian Monte Carlo: step, the share by which it varies, time of a trajectory."""

    step: Any
    jitter: Any
    length: Any


def keys_of(chains: Chains) -> Any:
    """A fresh key a chain: that of the chain and of its count of transitions."""
    return jax.vmap(lambda data, count: jax.random.fold_in(jax.random.wrap_key_data(data), count))(
        chains.key, chains.clock
    )


def normal_like(keys: Any, position: Any) -> Any:
    """Standard normal variates of the shape of all positions."""
    shape = position.shape[1:]
    return jax.vmap(lambda key: jax.random.normal(key, shape, jnp.float32))(keys)


def freedom(target: Target, layout: Layout) -> int:
    """Directions in which a position can move."""
    n_scores, n_columns = target.centre.shape
    return (n_scores - int(layout.contrasts)) * n_columns


def heat(target: Target, layout: Layout, momentum: Any) -> Any:
    """Kinetic temperature (chain), one at equilibrium."""
    return jnp.square(momentum).sum(axis=(1, 2)) / freedom(target, layout)


def _wide(values: Any) -> Any:
    return values[:, None, None]


def thermostat_step(
    dynamics: Thermostat, target: Target, layout: Layout, chains: Chains
) -> tuple[Chains, Any]:
    """One step; with it the kinetic temperature, the mean of those of the two half drifts.

    Noise of the gradient warms the first half, and friction cools the second by as much.
    """
    half, diffusion = 0.5 * dynamics.step, dynamics.diffusion
    keys = keys_of(chains)
    batch_keys, noise_keys = jnp.moveaxis(jax.vmap(jax.random.split)(keys), 1, 0)
    halfway = chains.momentum - half * chains.position  # of the kick, where the scale is one
    seen = chains.position + dynamics.ahead * halfway
    gradient = estimated_gradient(target, layout, seen, batch_keys)
    momentum = chains.momentum - dynamics.step * gradient
    position = chains.position + half * momentum
    kicked = heat(target, layout, momentum)
    friction = chains.friction + half * (kicked - 1.0)
    turned = friction * dynamics.step
    steady = jnp.where(jnp.abs(turned) > 1e-4, turned, 1.0)
    variance = jnp.where(
        jnp.abs(turned) > 1e-4, -jnp.expm1(-2.0 * steady) / steady, 2.0 * (1.0 - turned)
    )
    injected = jnp.sqrt(jnp.maximum(diffusion - dynamics.brought, 0.0))
    noise = without_common(target, layout, injected * normal_like(noise_keys, momentum))
    spread = jnp.sqrt(dynamics.step * variance)
    momentum = _wide(jnp.exp(-turned)) * momentum + _wide(spread) * noise
    warmth = heat(target, layout, momentum)
    position = without_common(target, layout, position + half * momentum)
    friction = friction + half * (warmth - 1.0)
    moved = Chains(position, momentum, friction, chains.clock + 1, chains.key)
    return moved, 0.5 * (kicked + warmth)


def langevin_step(
    dynamics: Langevin, target: Target, layout: Layout, chains: Chains
) -> tuple[Chains, Any]:
    """One step; there is no momentum whose temperature could be told, so one is."""
    step = dynamics.step
    batch_keys, noise_keys = jnp.moveaxis(jax.vmap(jax.random.split)(keys_of(chains)), 1, 0)
    gradient = estimated_gradient(target, layout, chains.position, batch_keys)
    noise = normal_like(noise_keys, chains.position)
    position = chains.position - 0.5 * step**2 * gradient + step * noise
    position = without_common(target, layout, position)
    return chains._replace(position=position, clock=chains.clock + 1), jnp.ones_like(
        chains.friction
    )


def leapfrog_step(
    dynamics: Leapfrog, target: Target, layout: Layout, chains: Chains
) -> tuple[Chains, Any]:
    """One trajectory and its test; with it the probability of acceptance, kept as the friction."""
    keys = jnp.moveaxis(jax.vmap(lambda key: jax.random.split(key, 3))(keys_of(chains)), 1, 0)
    draws = jax.vmap(lambda key: jax.random.uniform(key, (2,), jnp.float32))(keys[1])
    step = dynamics.step * (1.0 + dynamics.jitter * (2.0 * draws[:, 0] - 1.0))
    n_steps = jnp.maximum(1, jnp.round(dynamics.length / dynamics.step)).astype(jnp.int32)
    momentum = without_common(target, layout, normal_like(keys[0], chains.position))
    energy, gradient = energy_and_gradient(target, layout, chains.position)
    start = energy + 0.5 * jnp.square(momentum).sum(axis=(1, 2))

    def leap(_: Any, moving: tuple[Any, ...]) -> tuple[Any, ...]:
        position, momentum, gradient, _energy = moving
        momentum = momentum - 0.5 * _wide(step) * gradient
        position = without_common(target, layout, position + _wide(step) * momentum)
        energy, gradient = energy_and_gradient(target, layout, position)
        return position, momentum - 0.5 * _wide(step) * gradient, gradient, energy

    moving = (chains.position, momentum, gradient, energy)
    position, end, _, energy = jax.lax.fori_loop(0, n_steps, leap, moving)
    change = energy + 0.5 * jnp.square(end).sum(axis=(1, 2)) - start
    chance = jnp.exp(-jnp.maximum(jnp.nan_to_num(change, nan=jnp.inf), 0.0))
    taken = _wide(draws[:, 1] < chance)
    position = jnp.where(taken, position, chains.position)
    moved = Chains(position, momentum, chance, chains.clock + 1, chains.key)
    return moved, heat(target, layout, momentum)


STEPS = {Thermostat: thermostat_step, Langevin: langevin_step, Leapfrog: leapfrog_step}
