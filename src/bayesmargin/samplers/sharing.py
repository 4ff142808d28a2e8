"""Chains that draw what the classes share at every draw: over blocks of weights, and wide ones."""

from collections.abc import Sequence
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
from bayesmargin.running.classes_side_by_side import ClassesInCompany
from bayesmargin.targets.common_axes import (
    CommonAxes,
    positions_of_shift,
    weights_along,
)
from bayesmargin.targets.coordinates import (
    Rotated,
    Scaled,
    Sheared,
    fill_gradient,
    fill_weights,
)
from bayesmargin.targets.problem import Problem

LARGE = 1 << 22  # numbers in the blocks from which on their inverses are in working precision
AT_ONCE = 16  # draws whose shared part is taken away together
PERIOD = 8  # iterations after which chains side by side draw what their classes share


class WhitenedBlocks:
    """Positions in blocks of whitened weights, what these share, and the way there and back."""

    def __init__(self, coordinates: Rotated, shared: SharedPart) -> None:
        self.coordinates, self.shared = coordinates, shared
        self.inverse = np.linalg.inv(coordinates.basis.astype(float))
        if self.inverse.size > LARGE:  # what is read at every draw
            self.inverse = self.inverse.astype(coordinates.basis.dtype)
        self.forward = coordinates.transposed.astype(self.inverse.dtype, copy=False)
        self.n_directions = coordinates.centre.size - shared.mean.shape[1]

    def weights(self, position: FloatArray) -> FloatArray:
        """Weights of a position."""
        weights = np.empty(self.coordinates.centre.size)
        fill_weights(self.coordinates, position, weights)
        return weights

    def moved(self, position: FloatArray, shift: FloatArray) -> FloatArray:
        """Position whose weights are shifted by as much for every class; ``shift`` has them all."""
        vector = shift[: self.inverse.shape[1]].astype(self.inverse.dtype)
        return position + (self.inverse @ vector).ravel()

    def contrasts(self, positions: FloatArray) -> FloatArray:
        """Positions (draw, coordinate) whose shared part is at its mean.

        So many are moved at once, always, that the blocks are read seldom and a product of matrices
        rounds in the same way however many draws there are.
        """
        found, kind = np.empty_like(positions), self.inverse.dtype
        part = np.zeros((AT_ONCE, len(self.inverse), self.inverse.shape[1]), kind)
        for first in range(0, len(positions), AT_ONCE):
            some = positions[first : first + AT_ONCE]
            part[: len(some)] = some.reshape(len(some), *part.shape[1:])
            table = np.matmul(part.transpose(1, 0, 2), self.forward).transpose(1, 0, 2)
            weights = table.reshape(AT_ONCE, -1) + self.coordinates.centre
            shift = (self.shared.removed(weights) - weights)[:, : self.inverse.shape[2]]
            moves = np.matmul(shift.astype(kind), self.inverse.transpose(0, 2, 1))
            found[first : first + AT_ONCE] = (
                some + moves.transpose(1, 0, 2).reshape(AT_ONCE, -1)[: len(some)]
            )
        return found


class BlocksAlongAxes:
    """:class:`WhitenedBlocks` whose classes share their axes."""

    def __init__(self, coordinates: CommonAxes, shared: SharedPart) -> None:
        self.coordinates, self.shared = coordinates, shared
        self.n_directions = coordinates.centre.size - shared.mean.shape[1]

    def weights(self, position: FloatArray) -> FloatArray:
        """Weights of a position."""
        return weights_along(self.coordinates, position)

    def moved(self, position: FloatArray, shift: FloatArray) -> FloatArray:
        """Position whose weights are shifted by as much for every class; ``shift`` has them all."""
        size = self.shared.mean.shape[1]
        return position + positions_of_shift(self.coordinates, shift[:size])

    def contrasts(self, positions: FloatArray) -> FloatArray:
        """Positions (draw, coordinate) whose shared part is at its mean."""
        found = np.empty_like(positions)
        for k, position in enumerate(positions):
            weights = self.weights(position)
            found[k] = self.moved(position, self.shared.removed(weights) - weights)
        return found


Blocks = WhitenedBlocks | BlocksAlongAxes


@dataclass(kw_only=True)
class SharedChain(Chain):
    """Records contrasts; the shared part of the position is drawn afresh after every draw.

    Blocks are scaled to the contrasts, and the shared part, which data leave as wide as the prior,
    would take very long to move in that scale. Exact draws of it leave the posterior as it is,
    once the momentum is told of them.
    """

    blocks: Blocks

    def run(self, n_draws: int, thin: int) -> None:
        """Append ``n_draws`` draws, ``thin`` iterations apart."""
        made = len(self.draws)
        for _ in range(n_draws):
            super().run(1, thin)
            redraw_shared(self)
        positions = np.concatenate(self.draws[made:])
        self.draws[made:] = [self.blocks.contrasts(positions)]
        self.trace[made:] = [np.concatenate(self.trace[made:])]


@dataclass(kw_only=True)
class SharedInCompany(ClassesInCompany):
    """:class:`SharedChain` for chains that read every row together.

    Their draws are close, and drawing the shared part takes passes over all blocks, so that it is
    drawn again after every :data:`PERIOD` iterations, whenever draws are taken.
    """

    blocks: Blocks

    @classmethod
    def run_together(cls, chains: Sequence[Any], n_draws: int, thin: int) -> None:
        """Append as many draws to every one of the chains, at most ``together`` of them."""
        made, left = [len(chain.draws) for chain in chains], n_draws
        while left > 0:
            period = max(PERIOD, chains[0].period)
            until = period - int(chains[0].state.clock[0]) % period
            part = min(left, -(-until // thin))
            super().run_together(chains, part, thin)
            left -= part
            if part * thin >= until:
                for chain in chains:
                    redraw_shared(chain)
        for chain, first in zip(chains, made, strict=True):
            positions = np.concatenate(chain.draws[first:])
            chain.draws[first:] = [chain.blocks.contrasts(positions)]
            chain.trace[first:] = [np.concatenate(chain.trace[first:])]


def redraw_shared(chain: SharedChain | SharedInCompany) -> None:
    """Draw the shared part of a chain's position afresh, and tell its momentum."""
    blocks, position = chain.blocks, chain.state.position
    weights, change = blocks.weights(position), np.empty(position.size)
    shift = blocks.shared.redrawn(weights, chain.rng) - weights
    position[:] = blocks.moved(position, shift)
    fill_gradient(blocks.coordinates, blocks.shared.slope(shift), change)
    reconcile_state(chain.dynamics, chain.state, change)


def shared_blocks(coordinates: Any, shared: SharedPart | None) -> Blocks | None:
    """Blocks that share something, if the coordinates are such."""
    if shared is not None and isinstance(coordinates, CommonAxes):
        return BlocksAlongAxes(coordinates, shared)
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
