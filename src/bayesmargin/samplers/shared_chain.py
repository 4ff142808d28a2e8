"""A chain over blocks of weights, one a class, that draws what the classes share at every draw."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.approximation.contrasts import SharedPart
from bayesmargin.dynamics.thermostat import CentredThermostat
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import Chain
from bayesmargin.targets.coordinates import Rotated, weights_from


class Blocks:
    """Positions in blocks of whitened weights, what these share, and the way there and back."""

    def __init__(self, coordinates: Rotated, shared: SharedPart) -> None:
        self.coordinates, self.shared = coordinates, shared
        self.inverse = np.linalg.inv(coordinates.basis.astype(float))
        self.n_directions = coordinates.centre.size - shared.mean.shape[1]

    def weights(self, position: FloatArray) -> FloatArray:
        """Weights of a position."""
        return weights_from(self.coordinates, position)

    def position(self, weights: FloatArray) -> FloatArray:
        """Position of weights."""
        moves = (weights - self.coordinates.centre).reshape(len(self.inverse), -1, 1)
        return (self.inverse @ moves).ravel()

    def gradient(self, gradient: FloatArray) -> FloatArray:
        """Gradient in positions of one in weights."""
        parts = gradient.reshape(len(self.inverse), -1, 1)
        return (self.coordinates.transposed @ parts).ravel()


@dataclass(kw_only=True)
class SharedChain(Chain):
    """Records contrasts; the shared part of the position is drawn afresh after every draw.

    Blocks are scaled to the contrasts, and the shared part, which data leave as wide as the prior,
    would take very long to move in that scale. Exact draws of it leave the posterior as it is.
    The momentum of an integrator that begins with a whole kick is ahead of the position by half of
    it, and that half belongs to the new position.
    """

    blocks: Blocks

    def run(self, n_draws: int, thin: int) -> None:
        """Append ``n_draws`` draws, ``thin`` iterations apart."""
        made, position, shared = len(self.draws), self.state.position, self.blocks.shared
        ahead = 0.5 * self.dynamics.step if isinstance(self.dynamics, CentredThermostat) else 0.0
        for _ in range(n_draws):
            super().run(1, thin)
            weights = self.blocks.weights(position)
            self.draws[-1][0] = self.blocks.position(shared.removed(weights))
            fresh = shared.redrawn(weights, self.rng)
            position[:] = self.blocks.position(fresh)
            slope = self.blocks.gradient(shared.slope(fresh - weights))
            self.state.momentum[:] += ahead * slope
        self.draws[made:] = [np.concatenate(self.draws[made:])]
        self.trace[made:] = [np.concatenate(self.trace[made:])]


def blocks_of(coordinates: Any, shared: SharedPart | None) -> Blocks | None:
    """Blocks that share something, if the coordinates are such."""
    if shared is None or not isinstance(coordinates, Rotated) or len(coordinates.basis) == 1:
        return None
    return Blocks(coordinates, shared)
