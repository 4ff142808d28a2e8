"""What mends chains of stochastic gradients around an anchor, and what their draws say of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.targets import PreparedTarget
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import Chain
from bayesmargin.running.ensemble import Ensemble, Remedies
from bayesmargin.samplers.account import StochasticAccount
from bayesmargin.targets.problem import Problem


class Placing(Protocol):
    """A sampler that places chains around an anchor."""

    def place(
        self,
        problem: Problem,
        generators: Sequence[np.random.Generator],
        anchor: GaussianAnchor | None,
        shrink: float,
        steady: bool = False,
    ) -> Ensemble:
        """Chains around an anchor, with ``shrink`` times the step that suits them."""


def beside_anchor(chains: Sequence[Chain]) -> dict[str, float]:
    """How far draws in whitened coordinates lie from the Gaussian that these stand for."""
    parts = [np.concatenate(chain.draws) for chain in chains]
    mean = np.mean([part.mean(axis=0) for part in parts], axis=0)
    square = np.mean([np.mean((part - mean) ** 2) for part in parts])
    return {
        "anchor_mean_off": float(np.sqrt(np.mean(mean**2))),
        "anchor_variance_ratio": float(square),
    }


@dataclass(frozen=True)
class Again(Remedies):
    """Chains around an anchor can begin anew: around draws, with a smaller step, or steadier."""

    sampler: Placing
    problem: Problem
    generators: Sequence[np.random.Generator]
    anchor: GaussianAnchor | None
    prepared: PreparedTarget
    shrink: float
    learns_spread: bool
    whole: bool

    can_restart = can_move = True

    def around(self, positions: FloatArray) -> Ensemble:
        """Begin again around draws of the warm-up."""
        moved = self.anchor
        if self.anchor is not None:
            moved = around(self.anchor, self.prepared, positions)
            if not self.learns_spread:  # of whose draws a short warm-up says too little
                moved = replace(moved, factor=self.anchor.factor, common=self.anchor.common)
        return self._placed(moved, self.shrink, self.whole)

    def smaller(self) -> Ensemble:
        """Begin again with half the step."""
        return self._placed(self.anchor, 0.5 * self.shrink, self.whole)

    def steadier(self) -> Ensemble | None:
        """Begin again with exact gradients, unless every row is read already, or are too many."""
        if self.whole:
            return None
        made = self._placed(self.anchor, self.shrink, True)
        again = made.remedies
        return made if isinstance(again, Again) and again.whole else None

    def _placed(self, anchor: GaussianAnchor | None, shrink: float, whole: bool) -> Ensemble:
        return self.sampler.place(self.problem, self.generators, anchor, shrink, whole)


class BesideAnchor(StochasticAccount):
    """Also says how far from the anchor the draws of whitened positions lie."""

    def facts(self, trace: FloatArray) -> dict[str, Any]:
        """Distance of the draws from the anchor."""
        return {} if self.known is None else beside_anchor(self.chains)


def around(
    anchor: GaussianAnchor, prepared: PreparedTarget, positions: FloatArray
) -> GaussianAnchor:
    """Anchor re-estimated from draws, whatever rotation the target used."""
    basis = getattr(prepared.coordinates, "basis", None)
    if anchor.factor.ndim == 2 and basis is not None:
        anchor = replace(anchor, factor=basis[0].astype(float))
    moved = anchor.moved_by(positions)
    return replace(moved, iterations=anchor.iterations)
