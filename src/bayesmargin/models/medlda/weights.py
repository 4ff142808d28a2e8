r"""Where classifier weights start, and how they move: subgradient Langevin or the thermostat.

Both take the stochastic subgradient of the energy
:math:`g = \eta/s^2 - (D/B) \sum_d \bar g_d`, :math:`\bar g_d` the average over kept assignments of
the subgradient of :math:`\log\psi_d`. A mover has two halves: :meth:`before` says at which weights
the documents are sampled, :meth:`after` uses what came back.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.medlda.hinges import LabelSetHinge
from bayesmargin.models.medlda.settings import Settings

_BEYOND = 100.0  # times the reach of documents: weights there have left every bounded region
# The thermostat: its step and diffusion where weights have scales of their own; the largest kick,
# in units of the spread of the momentum, and the largest heat that its friction takes notice of.
_STRIDE, _DIFFUSION, _LARGEST_KICK, _MOST_HEAT = 0.7, 0.2, 5.0, 4.0
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
            f"far as documents can pull: weight_step={step:g} is too long for them; leave it at "
            "None, which follows the number of documents, or pass less"
        )


@dataclass
class LangevinMover:
    r""":math:`\eta \leftarrow \eta - \tfrac{h^2}{2} g + h \nu`; ``step`` is :math:`h^2`."""

    step: float

    def follow(self, settings: Settings, n_documents: float) -> None:
        """Take the step for a corpus of so many documents."""
        self.step = default_step(settings.hinge, settings.prior_variance, n_documents)

    def start(self, shape: tuple[int, ...], rng: np.random.Generator) -> None:
        """There is nothing but the weights."""

    def expect(self, length: int | None) -> None:
        """Langevin steps are the same whatever the length of the chain."""

    def heat(self) -> None:
        """Langevin steps have no momentum, and so no heat."""

    def before(self, coef: FloatArray) -> FloatArray:
        """Weights at which the documents are sampled: the present ones."""
        return coef

    def after(self, coef: FloatArray, gradient: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Weights after the step, from the subgradient of the energy."""
        noise = math.sqrt(self.step) * rng.standard_normal(coef.shape)
        return coef - 0.5 * self.step * gradient + noise


@dataclass
class ThermostatMover:
    r"""Nose-Hoover thermostat: kick, drift, friction and noise, drift (one subgradient a step).

    .. math:: r \leftarrow r - h \sigma g, \qquad \eta \leftarrow \eta + \tfrac h2 \sigma r, \qquad
              r \leftarrow e^{-h\xi/2} (e^{-h\xi/2} r + \sqrt{2 A h}\,\nu), \qquad
              \eta \leftarrow \eta + \tfrac h2 \sigma r

    ``step`` is :math:`h`, ``diffusion`` is :math:`A`; the friction :math:`\xi` follows
    :math:`\overline{r^2} - 1` and absorbs the noise of the minibatches: it settles near
    :math:`A + h \sigma^2 V/2` with :math:`V` their variance. ``warmth`` adds up the mean square of
    the momentum over ``beats`` steps.

    A step that was given has :math:`\sigma = 1`. With :meth:`follow` every weight has a scale,

    .. math:: \sigma_j = \overline{g_j^2}^{-1/2}, \qquad
              \mathrm{E}\,g_j^2 = \mathrm{E}\,\partial_j^2 U + V_j,

    so that no step is long for the curvature of the energy (its mean, by parts) nor for the noise.
    The mean goes over all steps of the thermostat, later ones counting more, and settles. Such
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

    def expect(self, length: int | None) -> None:
        """Prepare for a chain of so many minibatches: those kept, at last, are the thermostat's."""
        self.guided = max(GUIDED, 0.0 if length is None else _GUIDED_SHARE * length)

    def follow(self, settings: Settings, n_documents: float) -> None:
        """Take scales from the gradients, for a corpus of so many documents."""
        if self.guide is None:
            self.guide, self.step, self.diffusion = LangevinMover(0.0), _STRIDE, _DIFFUSION
            self.friction = self.diffusion
        self.guide.follow(settings, n_documents)

    def before(self, coef: FloatArray) -> FloatArray:
        """Weights at which the documents are sampled: the present ones."""
        return coef

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
            return self._move(coef, gradient, 1.0, rng)
        self.spent += self.step / _STRIDE
        if self.spent > 0.5 * self.guided:
            self._learn(coef, gradient)
        if self.spent <= self.guided:
            guide = replace(self.guide, step=self.guide.step * self.step / _STRIDE)
            return guide.after(coef, gradient, rng)
        if self.centre is not None:
            coef, self.centre = self.centre, None
        assert self.squares is not None
        return self._move(coef, gradient, 1.0 / np.sqrt(np.maximum(self.squares, 1e-300)), rng)

    def _learn(self, coef: FloatArray, gradient: FloatArray) -> None:
        """Average the squares of the gradients and, as long as they are guided, the weights."""
        self.met += 1
        if self.squares is None:
            self.squares, self.centre = gradient**2, coef
        self.squares = self.squares + 2.0 / (self.met + 1.0) * (gradient**2 - self.squares)
        if self.centre is not None:
            self.centre = self.centre + (coef - self.centre) / self.met

    def _move(
        self, coef: FloatArray, gradient: FloatArray, scale: Any, rng: np.random.Generator
    ) -> FloatArray:
        if self.momentum is None or self.friction is None:
            raise RuntimeError("the thermostat was not started")
        half, kick = 0.5 * self.step, self.step * scale * gradient
        if self.guide is not None:  # nothing of the kind happens at rest, where kicks are about h
            kick = np.clip(kick, -_LARGEST_KICK, _LARGEST_KICK)
        self.momentum = self.momentum - kick
        moved = coef + half * scale * self.momentum
        self._feel()
        damping = _damping(half * self.friction)
        noise = math.sqrt(2.0 * self.diffusion * self.step) * rng.standard_normal(coef.shape)
        self.momentum = damping * (damping * self.momentum + noise)
        self.warmth, self.beats = self.warmth + self._feel(), self.beats + 1
        return moved + half * scale * self.momentum

    def _feel(self) -> float:
        """Half a turn of the thermostat; returns the mean square of the momentum."""
        assert self.momentum is not None
        assert self.friction is not None
        heat = float(np.mean(self.momentum**2))
        most = math.inf if self.guide is None else _MOST_HEAT
        self.friction += 0.5 * self.step * (min(heat, most) - 1.0)
        return heat


def _damping(power: float) -> float:
    """``exp(-power)``; of a friction that has run away a large number instead of an error."""
    return math.exp(min(-power, 700.0))
