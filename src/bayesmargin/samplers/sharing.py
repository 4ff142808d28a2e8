"""Chains that draw what the classes share at every draw: over blocks of weights, and wide ones."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.approximation.targets import PreparedTarget
from bayesmargin.dynamics.base import State, reconcile_state
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.largest import InterleavedHinge
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.priors.shared import SharedPart
from bayesmargin.running.chains import Chain
from bayesmargin.targets.coordinates import Rotated, Scaled, Sheared, weights_from
from bayesmargin.targets.problem import Problem


class WhitenedBlocks:
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
    would take very long to move in that scale. Exact draws of it leave the posterior as it is,
    once the momentum is told of them.
    """

    blocks: WhitenedBlocks

    def run(self, n_draws: int, thin: int) -> None:
        """Append ``n_draws`` draws, ``thin`` iterations apart."""
        made, position, shared = len(self.draws), self.state.position, self.blocks.shared
        for _ in range(n_draws):
            super().run(1, thin)
            weights = self.blocks.weights(position)
            self.draws[-1][0] = self.blocks.position(shared.removed(weights))
            fresh = shared.redrawn(weights, self.rng)
            position[:] = self.blocks.position(fresh)
            change = self.blocks.gradient(shared.slope(fresh - weights))
            reconcile_state(self.dynamics, self.state, change)
        self.draws[made:] = [np.concatenate(self.draws[made:])]
        self.trace[made:] = [np.concatenate(self.trace[made:])]


def blocks_of(coordinates: Any, shared: SharedPart | None) -> WhitenedBlocks | None:
    """Blocks that share something, if the coordinates are such."""
    if shared is None or not isinstance(coordinates, Rotated) or len(coordinates.basis) == 1:
        return None
    return WhitenedBlocks(coordinates, shared)


class CommonPart:
    r"""The mean over classes of each feature's weights, which the hinge does not see.

    With a Gaussian prior of one precision :math:`\lambda_j` for all :math:`L` classes of a feature
    it is :math:`N(\bar\mu_j, 1/(L\lambda_j))` under the posterior, independent of the differences
    between classes. Data make the differences narrow and leave the mean wide, which no scale of a
    single weight suits; drawing it afresh at every draw is exact.
    """

    def __init__(
        self, coordinates: Scaled | Sheared, prior: GaussianBelief, n_classes: int
    ) -> None:
        shape = (-1, n_classes)
        self.mean_row = np.zeros(coordinates.centre.size // n_classes)
        if isinstance(coordinates, Sheared):
            self.mean_row[coordinates.columns] = coordinates.share
        self.centre = coordinates.centre.reshape(shape)
        self.scale = coordinates.scale.reshape(shape)
        self.law = SharedPart(prior, n_classes)

    def redraw(self, dynamics: Any, state: State, rng: np.random.Generator) -> None:
        """Replace the common part of a position (classes interleaved), in place."""
        table = state.position.reshape(self.scale.shape)
        moves = (self.scale * table).mean(axis=1)
        now = self.centre.mean(axis=1) + moves
        now[-1] -= self.mean_row @ moves
        shift = self.law.mean.mean(axis=0) + self.law.noise(rng) - now
        pull = self.law.pull[0] * shift
        pull -= self.mean_row * pull[-1]
        reconcile_state(dynamics, state, (pull[:, None] * self.scale).ravel())
        shift[-1] += self.mean_row @ shift
        table += shift[:, None] / self.scale


def common_part(problem: Problem, prepared: PreparedTarget) -> CommonPart | None:
    """The common part of a multi-class problem, where it can be drawn exactly."""
    prior, coordinates = problem.prior, prepared.coordinates
    if not isinstance(prepared.target.hinge, InterleavedHinge):
        return None
    if not isinstance(prior, GaussianBelief) or prior.precision.ndim != 1:
        return None
    precision = prior.precision.reshape(problem.n_classes, -1)
    if np.any(precision != precision[0]) or not isinstance(coordinates, Scaled | Sheared):
        return None
    return CommonPart(coordinates, prior, problem.n_classes)
