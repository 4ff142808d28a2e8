"""What a sampler is to the rest of the library: settings that can start chains on a problem."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from bayesmargin.diagnostics.stein import SteinCheck
from bayesmargin.foundation.settings import Settings
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import ChainLike
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import Target


@dataclass
class Ensemble:
    """Chains on one problem, ready to run.

    Attributes
    ----------
    chains : sequence of ChainLike
        One a generator.
    weights : callable
        Turns positions (last axis) into weights.
    thin : int
        Iterations between draws that the sampler proposes.
    warmup : int
        Iterations to discard that it proposes.
    adaptive : bool
        Whether length and warm-up may be changed by what the diagnostics say.
    info : dict
        Settings and facts for the posterior's attributes.
    """

    chains: Sequence[ChainLike]
    weights: Callable[[FloatArray], FloatArray]
    thin: int
    warmup: int
    adaptive: bool
    info: dict[str, Any] = field(default_factory=dict)
    target: Target | None = None
    """Compiled target of the positions, when the checks of bias and noise apply to it."""
    temperature: Callable[[float, FloatArray], float] = lambda noise, trace: 1.0
    """Effective temperature from the gradient noise and the trace (1 for exact samplers)."""
    step_error: Callable[[], float] = lambda: 0.0
    """Relative error of variances that the step alone is known to make."""
    facts: Callable[[FloatArray], dict[str, Any]] = lambda trace: {}
    """What the trace of a finished run adds to ``info``, such as the acceptance rate."""
    draw_weights: Callable[[int, int], FloatArray] | None = None
    """Weights of the draws, from their number and spacing, when they are not equal."""
    step_is_given: bool = False
    """Whether the user chose the step: it is then never changed, and a divergence is an error."""
    fallback: Callable[[], "Ensemble"] | None = None
    """Chains of a slower, safer sampler, for the case that this one's draws turn out poor."""
    closer: int = 0
    """Doublings by which draws begin closer than they are expected to suffice at."""
    slow: bool = False
    """Whether the fallback, if there is one, needs no longer: short steps over nearly all rows."""
    restart: Callable[[FloatArray | None, bool], "Ensemble"] | None = None
    """Start again, around draws (first argument) or with a smaller step (second argument)."""
    repair: Callable[[], "Ensemble | None"] | None = None
    """After a warm-up: chains that leave less out, where these left out what matters."""
    movable: bool = True
    """Whether starting again around draws is of any use."""
    advance: Callable[[int, int], None] | None = None
    """How all chains make some draws, some iterations apart; None: in threads of this process."""
    round_draws: Callable[[int], int] | None = None
    """Draws a round, given their spacing; None: as many as take a fraction of a second."""
    checks: Callable[[FloatArray, np.random.Generator], tuple[float, SteinCheck]] | None = None
    """Gradient noise and bias check of some draws, where no single target holds all rows."""
    complete: Callable[[FloatArray, np.random.Generator], FloatArray] | None = None
    """Adds to weights what the chains leave out and a generator can draw exactly."""
    n_directions: int | None = None
    """Directions in which positions vary; None: as many as they have coordinates."""
    exact: bool = False
    """Whether the posterior itself is invariant, so that a bias can only be one of the check."""
    raw: bool = False
    """Whether positions are weights as they are, whose agreement says nothing of narrow directions
    across them."""
    kept: "KeptDraws | None" = None
    """Where the chains of a wide problem put their draws; None when ``draws`` holds them."""


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


class Sampler(Settings, ABC):
    """Settings of a sampler; immutable, and independent of any data."""

    takes_all_classes: ClassVar[bool] = False
    """Whether the classes of one-vs-rest are sampled in one go however few columns there are."""

    @abstractmethod
    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Chains on ``problem``: one a generator but the last, which serves the preparation."""
