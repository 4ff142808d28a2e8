r"""The logit model of a component, as a target: what the library's trajectories move.

A position is zero where a trajectory begins, and in units of each column's own width,

.. math:: \beta_{yj} = \beta^0_{yj} + \sigma_j u_{yj}, \qquad
          \sigma_j = \Big(\pi_j + \tfrac14 \max\big(\textstyle\sum_d x_{dj}^2, n_k\big)
          \Big)^{-1/2},

with :math:`\pi_j` the precision of the prior. The rows count as many, n_k, unless the squares of a
column sum to more, as in a component far from the centre: with longer steps no trajectory there
would be accepted.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.dynamics.hamiltonian import (
    Hamiltonian,
    compiled_state,
    draw_momentum,
    metropolis_trajectory,
)
from bayesmargin.foundation.compiling import implements, inner_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.dpmnl.state import Experts, fill_log_classes
from bayesmargin.targets.base import Scratch, energy


class Logit(NamedTuple):
    """Intercepts and slopes of one component given its rows."""

    coefficients: FloatArray  #: (L, p + 1) those of the last position that was asked for
    centre: FloatArray  #: (L, p + 1) those of position zero
    width: FloatArray  #: (p + 1,)
    precision: FloatArray  #: (p + 1,) of the prior
    members: IntArray
    X: FloatArray
    labels: IntArray
    log_classes: FloatArray  #: (L,) work space
    slopes: FloatArray  #: (L, p + 1) work space: gradient for the coefficients


@inner_jit
def logit_energy(
    coefficients: FloatArray,
    precision: FloatArray,
    members: IntArray,
    X: FloatArray,
    labels: IntArray,
    work: FloatArray,
    gradient: FloatArray,
) -> float:
    """Negative log posterior of one logit model; its gradient goes into ``gradient``."""
    features = X.shape[1]
    total = 0.0
    for y in range(coefficients.shape[0]):
        for j in range(features + 1):
            total += 0.5 * precision[j] * coefficients[y, j] * coefficients[y, j]
        for j in range(features + 1):
            gradient[y, j] = precision[j] * coefficients[y, j]
    for i in range(members.shape[0]):
        d = members[i]
        fill_log_classes(coefficients, X[d], work)
        total -= work[labels[d]]
        for y in range(coefficients.shape[0]):
            residual = math.exp(work[y]) - (1.0 if y == labels[d] else 0.0)
            for j in range(features):
                gradient[y, j] += residual * X[d, j]
            gradient[y, features] += residual
    return total


@inner_jit
def fill_precision(experts: Experts, slot: int, precision: FloatArray) -> None:
    """Prior precisions of the slopes and of the intercept of a component."""
    precision[:] = math.exp(-experts.log_scale[slot, 1])
    precision[precision.shape[0] - 1] = math.exp(-experts.log_scale[slot, 0])


@inner_jit
def place_logit(logit: Logit, position: FloatArray) -> None:
    """The coefficients of a position."""
    columns = logit.width.shape[0]
    for y in range(logit.centre.shape[0]):
        for j in range(columns):
            move = logit.width[j] * position[y * columns + j]
            logit.coefficients[y, j] = logit.centre[y, j] + move


@implements(energy, Logit)
def _energy_of_logit(target, position, work):  # type: ignore[no-untyped-def]
    place_logit(target, position)
    total = logit_energy(
        target.coefficients,
        target.precision,
        target.members,
        target.X,
        target.labels,
        target.log_classes,
        target.slopes,
    )
    columns = target.width.shape[0]
    for y in range(target.slopes.shape[0]):
        for j in range(columns):
            work.gradient[y * columns + j] = target.width[j] * target.slopes[y, j]
    return total


@inner_jit
def logit_of(
    slot: int, members: IntArray, X: FloatArray, labels: IntArray, experts: Experts
) -> Logit:
    """The logit model of a component, at position zero."""
    coefficients = experts.coefficients[slot]
    columns = coefficients.shape[1]
    precision, width = np.empty(columns), np.empty(columns)
    fill_precision(experts, slot, precision)
    for j in range(columns):
        squares = 0.0
        if j < columns - 1:
            for i in range(members.shape[0]):
                squares += X[members[i], j] ** 2
        curvature = 0.25 * max(squares, float(members.shape[0]))
        width[j] = 1.0 / math.sqrt(precision[j] + curvature)
    return Logit(
        coefficients,
        coefficients.copy(),
        width,
        precision,
        members,
        X,
        labels,
        np.empty(coefficients.shape[0]),
        np.empty_like(coefficients),
    )


@inner_jit
def update_logit(
    rng: np.random.Generator,
    slot: int,
    members: IntArray,
    X: FloatArray,
    labels: IntArray,
    experts: Experts,
    step: float,
    leapfrogs: int,
) -> bool:
    """One trajectory of intercepts and slopes; whether it was accepted.

    It takes half to three halves of a step at random: thirty steps of 0.2 are close to a full turn,
    and with equal ones the model of few rows would come back to where it was.
    """
    step *= 0.5 + rng.random()
    logit = logit_of(slot, members, X, labels, experts)
    size = logit.slopes.size
    work = Scratch(np.empty(size), np.empty(0), np.empty(0))
    state = compiled_state(np.zeros(size), step, False)
    draw_momentum(state, rng)
    dynamics = Hamiltonian(0.0, leapfrogs, 0.0, 0.0)
    accepted = metropolis_trajectory(dynamics, logit, state, work, step, leapfrogs, rng)
    place_logit(logit, state.position)
    return accepted
