"""Draws that were kept of all chains of a device: weights, their moments, and checks of them."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from bayesmargin.diagnostics.stein import SteinCheck, stein_identity
from bayesmargin.engines import families
from bayesmargin.engines.crew import Crew, ThinnedStore
from bayesmargin.engines.programs import program
from bayesmargin.engines.target import full_gradient
from bayesmargin.foundation.types import FloatArray
from bayesmargin.samplers.wide import WideDraws

CHECKS = 4e9  # products that Stein's identity may cost where that is not a pass for each of
FEWEST_CHECKED = 24  # draws
CHECKED_NUMBERS = 1 << 25  # weights of the draws that it looks at


class ArrayDraws(WideDraws):
    """Weights that were kept of all chains, and checks of them on the device."""

    def __init__(self, crew: Crew, noise: float, n_rows: int) -> None:
        super().__init__(crew.chains, None, crew.whitened.target.centre.shape[0])
        self.whitened, self.noise, self.n_rows = crew.whitened, noise, n_rows

    def reserve(self, n_draws: int) -> None:
        """Make room for the draws and begin to keep them."""
        store = ThinnedStore(len(self.chains), n_draws, self.size)
        for chain in self.chains:
            chain.reserve(store, self.size)

    def _common_variance(self) -> float:
        """Variance of the part that all classes share, which chains leave out."""
        target, layout = self.whitened.target, self.whitened.layout
        return 1.0 / (float(target.precision) * self.n_blocks) if layout.contrasts else 0.0

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the weights over all draws, kept or not."""
        mean, variance = super().moments()
        return mean, variance + self._common_variance()

    def redrawn(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Weights (chain, draw, weight) with the part that all classes share, drawn exactly.

        They lie without gaps: chains are joined time and again for predictions.
        """
        weights = np.ascontiguousarray(weights)
        if self.whitened.layout.contrasts:
            table = weights.reshape(*weights.shape[:2], self.n_blocks, -1)
            shape = (*table.shape[:2], 1, table.shape[3])
            deviation = np.float32(np.sqrt(self._common_variance()))
            table += deviation * rng.standard_normal(shape, dtype=np.float32)
        return weights

    def checks(self, positions: FloatArray, rng: np.random.Generator) -> tuple[float, SteinCheck]:
        """Gradient noise, and Stein's identity with gradients of all rows."""
        kept = self.weights(np.empty(0))
        flat = kept.reshape(-1, kept.shape[-1])
        cost = float(self.n_rows) * flat.shape[1]
        count = min(int(CHECKS / cost), CHECKED_NUMBERS // flat.shape[1])
        index = np.linspace(0, len(flat) - 1, min(len(flat), max(FEWEST_CHECKED, count)))
        chosen = self._located(flat[index.astype(int)])
        centre = self._located(super().moments()[0][None].astype(np.float32))[0]
        gradients = self._gradients(chosen)
        target, layout = self.whitened.target, self.whitened.layout
        n_scores, n_columns = target.centre.shape
        several = isinstance(target.family, families.SeparateHinges)
        found = stein_identity(
            _by_feature(chosen),
            _by_feature(gradients),
            _by_feature(centre[None])[0],
            (n_scores - 1) * n_columns if layout.contrasts else None,
            n_scores if several else 1,
        )
        return self.noise, found

    def _located(self, weights: FloatArray) -> FloatArray:
        """Positions (draw, class, feature) of weights."""
        target = self.whitened.target
        table = weights.reshape(-1, *target.centre.shape)
        return np.asarray(_located(target, self.whitened.basis, table))

    def _gradients(self, positions: FloatArray) -> FloatArray:
        n_chains, count = len(self.chains), len(positions)
        padded = np.resize(positions, (-(-count // n_chains) * n_chains, *positions.shape[1:]))
        groups = padded.reshape(-1, n_chains, *positions.shape[1:])
        found = _gradients_at(self.whitened.target, self.whitened.layout, groups)
        return np.asarray(found).reshape(padded.shape)[:count]


def _by_feature(table: FloatArray) -> FloatArray:
    """Vectors (draw, class, feature) as (draw, coordinate), classes interleaved."""
    return np.swapaxes(table, 1, 2).reshape(len(table), -1).astype(float)


@program
def _located(target: Any, basis: Any, table: Any) -> Any:
    rotated = jnp.dot(table, basis, precision=jax.lax.Precision.HIGHEST)
    return (rotated - target.centre) / target.scale


@program(static_argnames="layout")
def _gradients_at(target: Any, layout: Any, groups: Any) -> Any:
    return jax.lax.map(lambda position: full_gradient(target, layout, position), groups)
