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

from bayesmargin.models.medlda.hinges import LabelSetHinge
from bayesmargin.types import FloatArray


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


@dataclass
class LangevinMover:
    r""":math:`\eta \leftarrow \eta - \tfrac{h^2}{2} g + h \nu`; ``step`` is :math:`h^2`."""

    step: float

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
    the minibatches: it settles near :math:`A + hV/2` with :math:`V` their variance.
    """

    step: float
    diffusion: float = 1.0
    momentum: FloatArray | None = None
    friction: float | None = None

    def before(self, coef: FloatArray) -> FloatArray:
        """Half a drift, half a turn of the thermostat, half of the friction."""
        if self.momentum is None or self.friction is None:
            raise RuntimeError("the thermostat was not started")
        half = 0.5 * self.step
        moved = coef + half * self.momentum
        self.friction += half * (float(np.mean(self.momentum**2)) - 1.0)
        self.momentum = self.momentum * math.exp(-half * self.friction)
        return moved

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
        self.momentum = self.momentum * math.exp(-half * self.friction)
        moved = coef + half * self.momentum
        self.friction += half * (float(np.mean(self.momentum**2)) - 1.0)
        return moved
