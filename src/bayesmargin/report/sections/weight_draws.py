"""Draws of the weights of a linear model, as a report shows them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray

VALUES = 1 << 24  # draws read at a time to find the strongest weights


@dataclass(frozen=True)
class WeightDraws:
    """Draws (chain, draw, block, feature), which may lie on disk and are read piece by piece.

    Of Crammer and Singer's model the data know differences between classes only. What the classes
    share has the law of its prior, moves no prediction, and would hide how sure the differences
    are: ``relative`` weights are those less their mean over the classes.
    """

    draws: FloatArray
    relative: bool

    @property
    def shape(self) -> tuple[int, ...]:
        """Chains, draws, blocks and features."""
        return self.draws.shape

    def of(self, features: Any) -> FloatArray:
        """Draws (chain, draw, block, feature) of some features."""
        return self._shown(self.draws[..., np.asarray(features, dtype=int)])

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and sd (block, feature); of very many draws an even selection is looked at."""
        flat = self.draws.reshape(-1, *self.draws.shape[2:])
        size = flat[0].size
        flat = flat[:: max(1, -(-len(flat) * size // (16 * VALUES)))]
        total, square = np.zeros(flat.shape[1:]), np.zeros(flat.shape[1:])
        shift = self._shown(flat[:1])
        step = max(1, VALUES // size)
        for start in range(0, len(flat), step):
            part = self._shown(flat[start : start + step]) - shift
            total += part.sum(axis=0)
            square += (part**2).sum(axis=0)
        mean = total / len(flat)
        variance = np.maximum(square / len(flat) - mean**2, 0.0)
        return mean + shift[0], np.sqrt(variance)

    def _shown(self, draws: Any) -> FloatArray:
        values = np.asarray(draws, dtype=float)
        return values - values.mean(axis=-2, keepdims=True) if self.relative else values


def weight_draws(estimator: Any) -> WeightDraws:
    """The weights of a linear model; of two classes there is one block."""
    draws = estimator.posterior_["coef"]
    several = draws.ndim == 4
    relative = several and getattr(estimator, "multi_class", "") == "crammer_singer"
    relative = relative and not getattr(estimator, "label_sets_", False)
    return WeightDraws(draws if several else draws[:, :, None], relative)


def strength_of(mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Distance from zero in standard deviations."""
    return np.abs(mean) / np.maximum(sd, 1e-300)
