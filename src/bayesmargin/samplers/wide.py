"""Chains on a wide problem: full draws go to a store, a few coordinates are watched.

A wide chain shows the supervisor what :mod:`bayesmargin.samplers.wide_watch` takes from its
position, and writes its draws, as weights in single precision, to where
:mod:`bayesmargin.foundation.storage` puts them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bayesmargin.approximation.targets import PreparedTarget
from bayesmargin.approximation.wide import WideAnchor
from bayesmargin.approximation.wide_order import by_class, interleaved
from bayesmargin.dynamics.base import State
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.storage import DrawStore, Moments
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import TRACE_NAMES, Recorded, equally_weighted, record
from bayesmargin.running.ensemble import Chains, Ensemble, Plan, Remedies, View
from bayesmargin.samplers.account import StochasticAccount
from bayesmargin.samplers.settings import StochasticSettings
from bayesmargin.samplers.sharing import CommonPart
from bayesmargin.samplers.wide_watch import Watch
from bayesmargin.targets.coordinates import fill_weights, positions_from
from bayesmargin.targets.rows import Workspace

TOGETHER = 1 << 17  # numbers in the positions that a call of the compiled loop brings
CHECKED = 24  # draws on which Stein's identity is tested,
CHECKED_NUMBERS = 1 << 23  # if they have no more weights than these together

Advance = Callable[[FloatArray, FloatArray, int], int]


@dataclass
class WideChain(Recorded):
    """One chain of a wide problem; ``advance`` makes draws and says how many stayed finite."""

    number: int
    advance: Advance
    watch: Watch
    to_weights: Callable[[FloatArray], FloatArray]
    size: int
    describe: str
    moving: tuple[Any, np.random.Generator]
    """State (arrays that ``advance`` changes) and generator, for checkpoints."""
    at_once: int = 1
    """Draws that one call of ``advance`` makes."""
    store: DrawStore | None = None
    draws: list[FloatArray] = field(default_factory=list)
    trace: list[FloatArray] = field(default_factory=list)
    moments: Moments | None = None
    made: int = 0

    @property
    def state(self) -> Any:
        """What ``advance`` changes; its clock counts the iterations."""
        return self.moving[0]

    def run(self, n_draws: int, thin: int) -> None:
        """Append ``n_draws`` draws, ``thin`` iterations apart."""
        positions = np.empty((min(self.at_once, n_draws), self.size))
        trace = np.zeros((n_draws, len(TRACE_NAMES)))
        seen = []
        for first in range(0, n_draws, self.at_once):
            part = positions[: n_draws - first]
            last = first + len(part)
            if self.advance(part, trace[first:last], thin) < len(part):
                raise DivergenceError(
                    f"a chain diverged with {self.describe}; choose a smaller step, or leave the "
                    "step out"
                )
            seen.append(self.watch(part))
            for position in part:
                self._keep(position)
        self.draws.append(np.concatenate(seen))
        self.trace.append(trace)

    def _keep(self, position: FloatArray) -> None:
        if self.store is not None:
            weights = self.to_weights(position)
            self.store.put(self.number, self.made, weights)
            assert self.moments is not None
            self.moments.add(weights)
        self.made += 1

    def reserve(self, store: DrawStore, n_weights: int) -> None:
        """Keep the draws from now on."""
        self.store, self.moments, self.made = store, Moments(n_weights), 0

    def forget(self) -> None:
        """Drop the draws made so far, and their moments."""
        super().forget()
        self.made = 0
        if self.moments is not None:
            self.moments = Moments(len(self.moments.mean))

    def halve(self) -> None:
        """Keep every second of the draws made so far; the moments go on with all of them."""
        super().halve()
        if self.store is not None:
            self.store.halve(self.number, self.made)
        self.made = -(-self.made // 2)


def recorder(
    dynamics: Any,
    prepared: PreparedTarget,
    state: State,
    work: Workspace,
    rng: np.random.Generator,
    common: CommonPart | None = None,
) -> Advance:
    """The loop of :func:`~bayesmargin.running.chains.record`; a draw at a time if ``common``."""

    def advance(positions: FloatArray, trace: FloatArray, thin: int) -> int:
        done = record(dynamics, prepared.target, state, work, rng, thin, positions, trace)
        if common is not None:
            common.redraw(dynamics, state, rng)
            positions[0] = state.position
        return int(done)

    return advance


class WideDraws:
    """What an ensemble of wide chains has kept: weights, moments, and positions for checks."""

    def __init__(self, chains: Sequence[WideChain], coordinates: Any, n_blocks: int) -> None:
        self.chains = chains
        self.coordinates = coordinates
        self.n_blocks = n_blocks
        self.size = chains[0].size
        self.weighed: tuple[FloatArray, FloatArray] | None = None

    def reserve(self, n_draws: int) -> None:
        """Make room for the draws and begin to keep them."""
        store = DrawStore(len(self.chains), n_draws, self.size)
        for chain in self.chains:
            chain.reserve(store, self.size)

    def weights(self, positions: FloatArray) -> FloatArray:
        """Kept draws (chain, draw, weight), classes one after another."""
        store = self.chains[0].store
        assert store is not None
        made = min(chain.made for chain in self.chains)
        return store.array[:, : -(-made // store.interval)]

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the weights over all draws, kept or not, or over weighted draws."""
        if self.weighed is not None:
            return self.weighed
        total = Moments(self.size)
        for chain in self.chains:
            assert chain.moments is not None
            total.merge(chain.moments)
        return total.mean, total.variance()

    def weigh(self, weight: FloatArray) -> None:
        """Give the draws of a finished run weights that do not grow; those left count the same.

        Mean and variance are those of the weighted draws themselves. Draws are repeated where they
        lie: none that still has to be copied stands to the right of its copies, as early ones weigh
        most.
        """
        store, kept = self.chains[0].store, self.weights(np.empty(0))
        assert store is not None
        share = weight[:: store.interval][: kept.shape[1]]
        share = share / (share.sum() * len(kept))
        mean, square = np.zeros(self.size), np.zeros(self.size)
        for draws in kept:
            for part, draw in zip(share, draws, strict=True):
                mean += part * draw
        for draws in kept:
            for part, draw in zip(share, draws, strict=True):
                square += part * np.square(draw - mean)
        count = kept.shape[0] * kept.shape[1]
        self.weighed = mean, square * (count / max(1, count - 1))
        origin = equally_weighted(share)
        for draws in kept:
            for place in reversed(range(len(draws))):
                draws[place] = draws[origin[place]]

    def checked(self) -> tuple[FloatArray, FloatArray]:
        """Some draws as positions, (1, draw, coordinate), and the mean of all of them."""
        kept = self.weights(np.empty(0))
        flat = kept.reshape(-1, kept.shape[-1])
        count = min(CHECKED, len(flat), max(8, CHECKED_NUMBERS // flat.shape[1]))
        chosen = flat[np.linspace(0, len(flat) - 1, count).astype(int)]
        return self._positions(chosen)[None], self._positions(self.moments()[0][None])[0]

    def _positions(self, weights: FloatArray) -> FloatArray:
        return positions_from(self.coordinates, interleaved(weights.astype(float), self.n_blocks))


def weights_by_class(prepared: PreparedTarget, n_blocks: int) -> Callable[[FloatArray], FloatArray]:
    """Map from a position to weights with the classes one after another, in a buffer of its own."""
    weights = np.empty(prepared.target.drift.shape[0])

    def mapped(position: FloatArray) -> FloatArray:
        fill_weights(prepared.coordinates, position, weights)
        return by_class(weights, n_blocks)

    return mapped


def unscaled(anchor: WideAnchor) -> WideAnchor:
    """The same centre and row states, in the scale of the weights themselves."""
    none = np.zeros((0, anchor.mean.size))
    ones = np.ones_like(anchor.scale)
    return replace(anchor, scale=ones, directions=none, eigenvalues=np.zeros(0), typical=None)


def description(
    sampler: StochasticSettings,
    prepared: PreparedTarget,
    anchor: WideAnchor | None,
    step: float,
) -> dict[str, object]:
    """Facts of a run for the posterior's attributes."""
    return {
        "sampler": type(sampler).__name__,
        "step": step,
        "diffusion": getattr(sampler, "diffusion", None),
        "batch_size": int(prepared.target.strata.take.sum()),
        "rows_in_reach": prepared.n_rows_used,
        "predicted_gradient_noise": prepared.noise,
        "anchor_passes": anchor.passes if anchor else 0,
        "undone_directions": len(anchor.eigenvalues) if anchor else 0,
    }


@dataclass(frozen=True)
class SmallerSteps(Remedies):
    """Chains that can begin again with half the step, where they are."""

    place: Callable[[float], Ensemble]
    step: float

    can_restart = True

    def smaller(self) -> Ensemble:
        """Begin again with a smaller step."""
        return self.place(0.5 * self.step)


def wide_ensemble(
    sampler: StochasticSettings,
    prepared: PreparedTarget,
    chains: list[WideChain],
    n_blocks: int,
    step: float,
    spacing: float,
    info: dict[str, object],
    place: Callable[[float], Ensemble],
) -> Ensemble:
    """Chains that share a wide target, as the supervisor wants them.

    Parameters
    ----------
    spacing : float
        Steps between two draws, in units of the relaxation time.
    info : dict
        Facts of the run.
    place : callable
        Makes the ensemble anew with a given step.
    """
    whitened = sampler.preconditioner == "hessian"
    pace = sampler.relaxation(step) if whitened else 10.0
    draws = WideDraws(chains, prepared.coordinates, n_blocks)
    return Ensemble(
        Chains(chains),
        Plan(
            thin=sampler.thin or max(1, round(spacing * pace)),
            warmup=sampler.burn_in if sampler.burn_in is not None else round(15 * pace),
            adaptive=sampler.thin is None and sampler.burn_in is None,
            step_is_given=sampler.step is not None,
        ),
        View(of=draws, kept=draws),
        SmallerSteps(place, step) if whitened else Remedies(),
        StochasticAccount(sampler, step, chains, whitened=False, target=prepared.target),
        info=info,
    )
