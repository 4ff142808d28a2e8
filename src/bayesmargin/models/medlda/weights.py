r"""Where classifier weights start, and how they move: subgradient Langevin or the thermostat.

Both take the stochastic subgradient of the energy
:math:`g = \eta/s^2 - (D/B) \sum_d \bar g_d`, :math:`\bar g_d` the average over kept assignments of
the subgradient of :math:`\log\psi_d`. A mover has two halves, because the symmetric splitting of
the thermostat evaluates the subgradient half way: :meth:`before` moves the weights to where
the documents are sampled, :meth:`after` uses what came back.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.errors import DivergenceError
from bayesmargin.models.medlda.hinges import LabelSetHinge
from bayesmargin.models.medlda.settings import Settings
from bayesmargin.types import FloatArray

_BEYOND = 100.0  # times the reach of documents: weights there have left every bounded region
_LARGEST_KICK = 5.0  # of a thermostat, in units of the spread of its momentum


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


def thermostat_step(
    hinge: Any, prior_variance: float, n_documents: float, n_classes: int, n_topics: int
) -> float:
    r"""Step h of the thermostat for a corpus of ``n_documents``, :math:`2 \ell / (C D)` at most.

    Weights that are far from where they belong are pulled by all documents, and the thermostat
    takes the momentum of that for heat: one large kick sends its friction up, and since friction
    falls by h a step at most, the weights then stand still for the rest of the chain. The pull has
    a root mean square of :math:`C D / K` where documents spread over topics, and :math:`(C D / L)
    \sqrt{2 / K}` where those of a class have two for themselves; a kick, h times that, is
    :data:`_LARGEST_KICK` at most. Beyond one the thermostat itself is unstable, and beyond twice
    the scale of the prior the motion under it; h stays at a half and a quarter of these.

    Examples
    --------
    >>> from bayesmargin.models.medlda.hinges import MultiTaskHinge
    >>> from bayesmargin.models.medlda.weights import thermostat_step
    >>> hinge = MultiTaskHinge(1.0, 164.0)
    >>> [round(thermostat_step(hinge, 1.0, n, 20, 50), 3) for n in (100, 10_000)]
    [0.5, 0.025]
    """
    pull = hinge.cost * n_documents * max(1.0 / n_topics, math.sqrt(2.0 / n_topics) / n_classes)
    longest = 0.5 * min(1.0, math.sqrt(prior_variance))
    return min(2.0 * hinge.margin / (hinge.cost * n_documents), _LARGEST_KICK / pull, longest)


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
    r"""Nose-Hoover thermostat in the symmetric splitting (one subgradient a step).

    ``step`` is :math:`h`, ``diffusion`` is :math:`A`; the friction :math:`\xi` absorbs the noise of
    the minibatches: it settles near :math:`A + hV/2` with :math:`V` their variance. ``warmth`` adds
    up the mean square of the momentum over ``beats`` steps.
    """

    step: float
    diffusion: float = 1.0
    momentum: FloatArray | None = None
    friction: float | None = None
    warmth: float = 0.0
    beats: int = 0

    def follow(self, settings: Settings, n_documents: float) -> None:
        """Take the step for a corpus of so many documents."""
        model = settings.hinge, settings.prior_variance, n_documents
        self.step = thermostat_step(*model, max(2, settings.n_classes), settings.n_topics)

    def before(self, coef: FloatArray) -> FloatArray:
        """Half a drift, half a turn of the thermostat, half of the friction."""
        if self.momentum is None or self.friction is None:
            raise RuntimeError("the thermostat was not started")
        half = 0.5 * self.step
        moved = coef + half * self.momentum
        self.friction += half * (float(np.mean(self.momentum**2)) - 1.0)
        self.momentum = self.momentum * _damping(half * self.friction)
        return moved

    def heat(self) -> float:
        """Mean square of the momentum since this was last asked: 1, unless the weights freeze."""
        found = self.warmth / max(self.beats, 1)
        self.warmth, self.beats = 0.0, 0
        return found

    def start(self, shape: tuple[int, ...], rng: np.random.Generator) -> None:
        """Momentum from its invariant law, friction at its mean."""
        self.momentum = rng.standard_normal(shape)
        self.friction = self.diffusion

    def after(self, coef: FloatArray, gradient: FloatArray, rng: np.random.Generator) -> FloatArray:
        """The kick with noise, then the mirror image of :meth:`before`."""
        if self.momentum is None or self.friction is None:
            raise RuntimeError("the thermostat was not started")
        half = 0.5 * self.step
        noise = math.sqrt(2.0 * self.diffusion * self.step) * rng.standard_normal(coef.shape)
        self.momentum = self.momentum - self.step * gradient + noise
        self.momentum = self.momentum * _damping(half * self.friction)
        moved = coef + half * self.momentum
        heat = float(np.mean(self.momentum**2))
        self.friction += half * (heat - 1.0)
        self.warmth, self.beats = self.warmth + heat, self.beats + 1
        return moved


def _damping(power: float) -> float:
    """``exp(-power)``; of a friction that has run away a large number instead of an error."""
    return math.exp(min(-power, 700.0))
