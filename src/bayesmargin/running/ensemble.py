"""Chains on one problem, ready to run: how they advance, what they mean, how long, what mends them.

A sampler fills the parts of an :class:`Ensemble`; each part by itself is the simplest of its kind,
and a sampler that can do more derives from it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from bayesmargin.diagnostics.assessment import biased
from bayesmargin.diagnostics.stein import (
    FEW,
    SteinCheck,
    gradient_noise,
    spread_draws,
    stein_check,
)
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import ChainLike, run_chains
from bayesmargin.targets.problem import Problem, slacks
from bayesmargin.targets.rows import Target, working_type, workspace


class Chains(Sequence[Any]):
    """Chains that advance in threads of this process, one a generator."""

    def __init__(self, chains: Iterable[ChainLike]) -> None:
        self._chains = list(chains)

    def __getitem__(self, index: Any) -> Any:
        return self._chains[index]

    def __len__(self) -> int:
        return len(self._chains)

    def advance(self, n_draws: int, thin: int, n_jobs: int | None) -> None:
        """Let all of them make some draws, some iterations apart."""
        run_chains(self._chains, n_draws, thin, n_jobs)

    def round_draws(self, thin: int) -> int | None:
        """Draws a round, given their spacing; None: as many as take a fraction of a second."""
        return None


class Carrier(Protocol):
    """What moves chains together: a device, or the workers of a cluster."""

    def advance(self, n_draws: int, thin: int) -> None:
        """Let every chain make some draws."""

    def round_draws(self, thin: int) -> int:
        """Draws that go in one round."""


class Carried(Chains):
    """Chains that something else carries."""

    def __init__(self, chains: Iterable[ChainLike], carrier: Carrier) -> None:
        super().__init__(chains)
        self.carrier = carrier

    def advance(self, n_draws: int, thin: int, n_jobs: int | None) -> None:
        """Let all of them make some draws, some iterations apart."""
        self.carrier.advance(n_draws, thin)

    def round_draws(self, thin: int) -> int | None:
        """Draws a round, given their spacing."""
        return self.carrier.round_draws(thin)


class Weighing(Protocol):
    """What knows which weights a position stands for."""

    def weights(self, positions: FloatArray) -> FloatArray:
        """Weights of positions (last axis)."""


class Redrawing(Protocol):
    """What a generator can draw exactly, and chains leave out."""

    def redrawn(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Weights (chain, draw, weight) with that part."""


class KeptDraws(Protocol):
    """Draws kept outside the chains, which show only some coordinates."""

    def reserve(self, n_draws: int) -> None:
        """Make room for ``n_draws`` draws a chain and begin to keep them."""

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of the weights over all draws."""

    def checked(self) -> tuple[FloatArray, FloatArray]:
        """Some draws as positions (1, draw, coordinate), and the mean position of all."""

    def weigh(self, weight: FloatArray) -> None:
        """Give the draws of a finished run weights that do not grow; those left count the same."""


@dataclass(frozen=True, kw_only=True)
class View:
    """What positions stand for.

    Attributes
    ----------
    of : Weighing or None
        Turns positions into weights; None: they are weights.
    shared : Redrawing or None
        What all classes share, where chains leave it out.
    kept : KeptDraws or None
        Where the chains of a wide problem put their draws; None when they hold them.
    n_directions : int or None
        Directions in which positions vary; None: as many as they have coordinates.
    raw : bool
        Whether positions are weights as they are, whose agreement says nothing of narrow
        directions across them.
    """

    of: Weighing | None = None
    shared: Redrawing | None = None
    kept: KeptDraws | None = None
    n_directions: int | None = None
    raw: bool = False

    def weights(self, positions: FloatArray) -> FloatArray:
        """Weights of positions (last axis), without what chains leave out."""
        return positions if self.of is None else self.of.weights(positions)

    def complete(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Weights with what chains leave out."""
        return weights if self.shared is None else self.shared.redrawn(weights, rng)


@dataclass(frozen=True)
class Plan:
    """How long chains run.

    Attributes
    ----------
    thin : int
        Iterations between draws that the sampler proposes.
    warmup : int
        Iterations to discard that it proposes.
    adaptive : bool
        Whether both may be changed by what the diagnostics say.
    step_is_given : bool
        Whether the user chose the step: it is then never changed, and a divergence is an error.
    slow : bool
        Whether the fallback, if there is one, needs no longer: short steps over nearly all rows.
    closer : int
        Doublings by which draws begin closer than they are expected to suffice at.
    tolerance : tuple of float
        Mean of a coordinate, in deviations, and ratio of variances beyond which an anchor is poor.
    """

    thin: int
    warmup: int
    adaptive: bool
    step_is_given: bool = False
    slow: bool = False
    closer: int = 0
    tolerance: tuple[float, float] = (0.75, 3.0)


class Starting(Protocol):
    """A sampler, as far as it is needed here."""

    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> "Ensemble":
        """Chains on a problem."""


@dataclass(frozen=True, kw_only=True)
class Remedies:
    """What can be done about chains that turn out poor; by itself, hand over to another sampler.

    Attributes
    ----------
    fallback : Starting or None
        A slower, safer sampler.
    can_restart : bool
        Whether chains can begin again, with a smaller step for instance.
    can_move : bool
        Whether it is of any use to begin again around draws.
    """

    fallback: Starting | None = None

    @property
    def can_restart(self) -> bool:
        """Whether chains can begin again, with a smaller step for instance."""
        return False

    @property
    def can_move(self) -> bool:
        """Whether it is of any use to begin again around draws."""
        return False

    def around(self, positions: FloatArray) -> "Ensemble":
        """Begin again around draws of the warm-up."""
        raise TypeError("these chains cannot begin again")

    def smaller(self) -> "Ensemble":
        """Begin again with a smaller step."""
        raise TypeError("these chains cannot begin again")

    def steadier(self) -> "Ensemble | None":
        """Begin again with exact gradients, if that is possible, for steps too long for batches."""
        return None

    def repaired(self) -> "Ensemble | None":
        """After a warm-up: chains that leave less out, where these left out what matters."""
        return None


@dataclass(frozen=True, kw_only=True)
class Account:
    """What a sampler knows of the law of its draws; by itself, that they have the right one.

    Attributes
    ----------
    target : Target or None
        Compiled target of the positions, when the checks of bias and noise apply to it.
    exact : bool
        Whether the posterior itself is invariant, so that a bias can only be one of the check.
    """

    target: Target | None = None
    exact: bool = False

    @property
    def diffusion(self) -> float | None:
        """Where a thermostat is set; None: there is none."""
        return None

    def temperature(self, noise: float, trace: FloatArray) -> float:
        """Effective temperature from the gradient noise and the trace."""
        return 1.0

    def step_error(self) -> float:
        """Relative error of variances that the step alone is known to make."""
        return 0.0

    def facts(self, trace: FloatArray) -> dict[str, Any]:
        """What the trace of a finished run adds to what is known, such as the acceptance rate."""
        return {}

    def draw_weights(self, n_draws: int, thin: int) -> FloatArray | None:
        """Weights of the draws, when they are not equal."""
        return None

    def check(
        self, problem: Problem, view: View, positions: FloatArray, rng: np.random.Generator
    ) -> tuple[float, SteinCheck]:
        """Gradient noise and bias of draws, as far as there is a target to measure them with."""
        if self.target is None:
            return 0.0, SteinCheck(0.0, np.inf)
        work = workspace(self.target, working_type(self.target))
        draws, centre = view.kept.checked() if view.kept else (positions, None)
        noise = gradient_noise(self.target, draws, work, rng)
        stein = stein_check(self.target, draws, work, rng, centre, view.n_directions)
        if self.exact and biased(stein):
            seen = spread_draws(draws, min(FEW, stein.n_draws))
            slack = slacks(problem, view.weights(seen))
            stein = stein.beside_walls(slack, problem.cost, problem.n_weights)
        return noise, stein


@dataclass
class Ensemble:
    """Chains on one problem, ready to run.

    Attributes
    ----------
    chains : Chains
        How they advance.
    view : View
        What their positions stand for, and where draws are kept.
    plan : Plan
        How long they run.
    remedies : Remedies
        What can be done where they turn out poor.
    account : Account
        What is known of the law of their draws.
    info : dict
        Settings and facts for the posterior's attributes.
    """

    chains: Chains
    plan: Plan
    view: View = field(default_factory=View)
    remedies: Remedies = field(default_factory=Remedies)
    account: Account = field(default_factory=Account)
    info: dict[str, Any] = field(default_factory=dict)

    def weights(self, positions: FloatArray) -> FloatArray:
        """Weights of positions (last axis), without what chains leave out."""
        return self.view.weights(positions)
