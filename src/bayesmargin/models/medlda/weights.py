r"""Where classifier weights start, and how they move: subgradient Langevin or the thermostat.

Both take the stochastic subgradient of the energy
:math:`g = \eta/s^2 - (D/B) \sum_d \bar g_d`, :math:`\bar g_d` the average over kept assignments of
the subgradient of :math:`\log\psi_d`. Documents are sampled by threads or by a cluster, so a mover
is handed the gradient, and gives it to the library's dynamics.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.dynamics.base import State, end_step
from bayesmargin.dynamics.injection import Alike
from bayesmargin.dynamics.langevin import Langevin
from bayesmargin.dynamics.steps import Averaged, Constant, Unscaled, learn
from bayesmargin.dynamics.thermostat import Bounded, CentredThermostat, Unbounded
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.medlda.hinges import LabelSetHinge
from bayesmargin.models.medlda.settings import Settings
from bayesmargin.targets.base import Full, Scratch

_BEYOND = 100.0  # times the reach of documents: weights there have left every bounded region
# The thermostat: its step and diffusion where weights have scales of their own; the largest kick,
# in units of the spread of the momentum, and the largest heat that its friction takes notice of.
_STRIDE, _DIFFUSION, _BOUNDS = 0.7, 0.2, Bounded(kick=5.0, heat=4.0)
# Minibatches before it takes over: so many, or this share of those to come.
GUIDED, _GUIDED_SHARE = 60.0, 0.4


def starting_weights(
    hinge: Any, n_classes: int, n_topics: int, rng: np.random.Generator
) -> FloatArray:
    """Weights that give every class topics of its own, in turn, the classes in random order.

    From zero weights all topics look alike to the hinge, and the chain spends its first passes on
    breaking that symmetry. A chain may start anywhere; this start breaks it in the first minibatch.
    Chains differ in the classes that have one topic more than others.
    """
    turns = rng.permutation(max(2, n_classes))[:, None]
    own = np.arange(n_topics)[None, :] % turns.shape[0] == turns
    other = 0.0 if isinstance(hinge, LabelSetHinge) else -hinge.margin
    return np.where(own, hinge.margin, other)[-n_classes:]


def default_step(hinge: Any, prior_variance: float, n_documents: float) -> float:
    r"""Step of the weights for a corpus of ``n_documents``, :math:`2 \ell / (C D)`.

    All documents of a class together pull with :math:`C D / L`: such a step moves their weights by
    the margin over L, whatever the size of the corpus. A narrow prior needs shorter steps to be
    stable, half its variance at most.
    """
    return min(2.0 * hinge.margin / (hinge.cost * n_documents), 0.5 * prior_variance)


def require_bounded(coef: FloatArray, settings: Settings, n_documents: float, step: float) -> None:
    r"""Refuse weights that ``n_documents`` documents cannot have pulled to where they are.

    Together these pull with :math:`C D` at most, and the prior pulls back with :math:`\eta / s^2`:
    far beyond :math:`s^2 C D`, and the margin, where weights start, only steps get that are
    unstable.

    Raises
    ------
    DivergenceError
        It names the step.
    """
    cost, margin, variance = settings.hinge.cost, settings.hinge.margin, settings.prior_variance
    reach = max(margin, variance * cost * n_documents) + math.sqrt(variance)
    largest = float(np.abs(coef).max())
    if not largest <= _BEYOND * reach:
        raise DivergenceError(
            f"the weights of the classes have run away, to {largest:.3g} where {reach:.3g} is as "
            f"far as documents can pull: step={step:g} of the weights is too long for them; leave "
            "it out, which follows the number of documents, or pass less"
        )


def _scratch(gradient: FloatArray) -> Scratch:
    """Work space of a step that is handed this gradient."""
    flat = np.ascontiguousarray(gradient, dtype=float).ravel()
    return Scratch(gradient=flat, data=flat, noise=np.empty(flat.size))


@dataclass
class LangevinMover:
    r""":math:`\eta \leftarrow \eta - \tfrac{h^2}{2} g + h \nu`; ``step`` is :math:`h^2`."""

    step: float

    @property
    def told(self) -> float:
        """The step as users write it, h."""
        return math.sqrt(self.step)

    def follow(self, settings: Settings, n_documents: float) -> None:
        """Take the step for a corpus of so many documents."""
        self.step = default_step(settings.hinge, settings.prior_variance, n_documents)

    def start(self, shape: tuple[int, ...], rng: np.random.Generator) -> None:
        """There is nothing but the weights."""

    def expect(self, length: int | None) -> None:
        """Langevin steps are the same whatever the length of the chain."""

    def heat(self) -> None:
        """Langevin steps have no momentum, and so no heat."""

    def after(self, coef: FloatArray, gradient: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Weights after the step, from the subgradient of the energy."""
        return langevin_step(coef, gradient, self.step, rng)


def langevin_step(
    coef: FloatArray, gradient: FloatArray, step: float, rng: np.random.Generator
) -> FloatArray:
    """Weights after a Langevin step of square ``step``."""
    dynamics, unused = Langevin(Constant(math.sqrt(step)), Unscaled(), 1.0), np.zeros(coef.size)
    state = State(coef.flatten(), unused, unused, unused, np.zeros(2, np.int64))
    end_step(dynamics, state, Full(), _scratch(gradient), rng)
    return state.position.reshape(coef.shape)


@dataclass
class ThermostatMover:
    r"""The library's centred thermostat, for weights whose gradients come from documents.

    ``step`` is its :math:`h`, ``diffusion`` its :math:`A`; ``warmth`` adds up the mean square of
    the momentum over ``beats`` steps.

    A step that was given takes all weights alike. With :meth:`follow` every weight has a scale of
    its own, :class:`~bayesmargin.dynamics.steps.Averaged` over all steps of the thermostat. Such
    steps are made for a chain at rest and would take long to get there; so the first ``guided``
    minibatches move by Langevin steps instead, and the thermostat takes over at the mean of
    the second half of these, whose draws are too wide.
    """

    step: float
    diffusion: float = 1.0
    momentum: FloatArray | None = None
    friction: float | None = None
    warmth: float = 0.0
    beats: int = 0
    guide: LangevinMover | None = None
    guided: float = GUIDED
    spent: float = 0.0
    squares: FloatArray | None = None
    centre: FloatArray | None = None
    met: int = 0

    @property
    def told(self) -> float:
        """The step as users write it."""
        return self.step

    def expect(self, length: int | None) -> None:
        """Prepare for a chain of so many minibatches: those kept, at last, are the thermostat's."""
        self.guided = max(GUIDED, 0.0 if length is None else _GUIDED_SHARE * length)

    def follow(self, settings: Settings, n_documents: float) -> None:
        """Take scales from the gradients, for a corpus of so many documents."""
        if self.guide is None:
            self.guide, self.step, self.diffusion = LangevinMover(0.0), _STRIDE, _DIFFUSION
            self.friction = self.diffusion
        self.guide.follow(settings, n_documents)

    def heat(self) -> float | None:
        """Mean square of the momentum since this was last asked: 1, unless the weights freeze."""
        if self.beats == 0:
            return None
        found = self.warmth / self.beats
        self.warmth, self.beats = 0.0, 0
        return found

    def start(self, shape: tuple[int, ...], rng: np.random.Generator) -> None:
        """Momentum from its invariant law, friction at its mean."""
        self.momentum = rng.standard_normal(shape)
        self.friction = self.diffusion

    def after(self, coef: FloatArray, gradient: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Weights after the step, from the subgradient of the energy."""
        if self.guide is None:
            return self._move(coef, gradient, Unscaled(), Unbounded(), rng)
        self.spent += self.step / _STRIDE
        guided = self.spent <= self.guided
        if self.spent > 0.5 * self.guided:
            self._remember(coef)
        if guided:
            if self.squares is not None:
                learn(Averaged(), _scratch(gradient), 1.0, self.met - 1, self.squares.reshape(-1))
            return langevin_step(coef, gradient, self.guide.step * self.step / _STRIDE, rng)
        if self.centre is not None:
            coef, self.centre = self.centre, None
        return self._move(coef, gradient, Averaged(), _BOUNDS, rng)

    def _remember(self, coef: FloatArray) -> None:
        """Count a gradient that scales are learned of; average the weights that were guided."""
        self.met += 1
        if self.squares is None:
            self.squares, self.centre = np.zeros(coef.shape), coef
        if self.centre is not None:
            self.centre = self.centre + (coef - self.centre) / self.met

    def _move(
        self,
        coef: FloatArray,
        gradient: FloatArray,
        scaling: Any,
        bounds: Any,
        rng: np.random.Generator,
    ) -> FloatArray:
        if self.momentum is None or self.friction is None:
            raise RuntimeError("the thermostat was not started")
        noise = Alike(math.sqrt(2.0 * self.diffusion * self.step))
        dynamics = CentredThermostat(self.step, noise, scaling, bounds, 1.0)
        squares = np.zeros(coef.shape) if self.squares is None else self.squares
        momentum, moment = self.momentum.flatten(), squares.flatten()
        clock = np.array([self.met - 1, 0])
        state = State(coef.flatten(), momentum, np.array([self.friction]), moment, clock)
        end_step(dynamics, state, Full(), _scratch(gradient), rng)
        if self.squares is not None:
            self.squares = moment.reshape(coef.shape)
        self.momentum, self.friction = momentum.reshape(coef.shape), float(state.friction[0])
        self.warmth, self.beats = self.warmth + float(np.mean(momentum**2)), self.beats + 1
        return state.position.reshape(coef.shape)
