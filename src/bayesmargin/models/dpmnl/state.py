r"""State of the dpMNL chain and the likelihood of one row in one component.

.. math::

   x_l \mid k \sim N(\mu_{kl}, \sigma_{kl}^2), \qquad
   P(y = j \mid x, k) \propto \exp(a_{kj} + b_{kj}\cdot x)

Base measure: :math:`\mu_l \sim N(\mu_{0l}, \sigma_{0l}^2)`,
:math:`\log\sigma_l^2 \sim N(M_l, V_l^2)` above a bound, :math:`a_j \sim N(0, \tau^2)`,
:math:`b_{jl} \sim N(0, \nu^2)`, :math:`\log\tau^2, \log\nu^2 \sim N(0, 1)`. Above it:
:math:`\mu_{0l} \sim N(0, 2^2)`, :math:`\log\sigma_{0l}^2, M_l, \log V_l^2 \sim N(0, 1)`, and the
log of the concentration :math:`\sim N(-3, 2^2)`.

The bound on :math:`\log\sigma^2` is for columns that repeat a value (see :mod:`.resolution`):
nothing else in the model keeps the width of a component of such rows from zero, where arithmetic
ends. For other columns it is far below anything that data show.
"""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import inner_jit
from bayesmargin.foundation.copying import copy_matrix, copy_vector
from bayesmargin.foundation.types import FloatArray, IntArray

MEAN_SCALE = 2.0
CONCENTRATION_LOCATION, CONCENTRATION_SCALE = -3.0, 2.0
#: Least log variance of a covariate in any component: of 1e-10 standard deviations of its column.
NARROWEST = 2.0 * math.log(1e-10)


class Experts(NamedTuple):
    """Parameters of the components, one slot each; ``order`` lists those in use first."""

    population: IntArray  #: (S,)
    order: IntArray  #: (S,)
    size: IntArray  #: (1,)
    mean: FloatArray  #: (S, p)
    log_variance: FloatArray  #: (S, p)
    coefficients: FloatArray  #: (S, L, p + 1) slopes, then the intercept
    log_scale: FloatArray  #: (S, 2) log tau^2 and log nu^2


class Hyper(NamedTuple):
    """Parameters of the base measure and the concentration, log variances where positive."""

    mean: FloatArray  #: (p,) mu_0
    log_spread: FloatArray  #: (p,) log sigma_0^2
    level: FloatArray  #: (p,) M
    log_level_spread: FloatArray  #: (p,) log V^2
    log_concentration: FloatArray  #: (1,)
    #: (p,) least log variance in a component; models saved by earlier versions have None
    narrowest: FloatArray = None  # type: ignore[assignment]


def empty_experts(capacity: int, features: int, classes: int) -> Experts:
    """Store for ``capacity`` components, none in use."""
    return Experts(
        np.zeros(capacity, np.int64),
        np.arange(capacity),
        np.zeros(1, np.int64),
        np.zeros((capacity, features)),
        np.zeros((capacity, features)),
        np.zeros((capacity, classes, features + 1)),
        np.zeros((capacity, 2)),
    )


def grow(experts: Experts, capacity: int) -> Experts:
    """Copy with room for ``capacity`` components."""
    old, classes, columns = experts.coefficients.shape
    larger = empty_experts(capacity, columns - 1, classes)
    for name in Experts._fields:
        source, target = getattr(experts, name), getattr(larger, name)
        target[: source.shape[0]] = source
    larger.order[old:] = np.arange(old, capacity)
    return larger


@inner_jit
def retire(experts: Experts, slot: int) -> None:
    """Move a slot in use behind those in use."""
    last = experts.size[0] - 1
    for position in range(last):
        if experts.order[position] == slot:
            experts.order[position] = experts.order[last]
            experts.order[last] = slot
            break
    experts.size[0] = last


@inner_jit
def enlist(experts: Experts, position: int) -> int:
    """Take the slot at a place of ``order`` behind those in use into use; returns its number."""
    slot, size = experts.order[position], experts.size[0]
    experts.order[position] = experts.order[size]
    experts.order[size] = slot
    experts.size[0] = size + 1
    return slot


@inner_jit
def copy_component(source: Experts, slot: int, target: Experts, place: int) -> None:
    """Copy the parameters of a component into a slot of another store."""
    copy_vector(source.mean[slot], target.mean[place])
    copy_vector(source.log_variance[slot], target.log_variance[place])
    copy_matrix(source.coefficients[slot], target.coefficients[place])
    copy_vector(source.log_scale[slot], target.log_scale[place])


def start_hyper(features: int, narrowest: FloatArray | None = None) -> Hyper:
    """Base measure at the centre of its prior."""
    zeros = np.zeros((4, features))
    least = np.full(features, NARROWEST) if narrowest is None else narrowest
    return Hyper(zeros[0], zeros[1], zeros[2], zeros[3], np.zeros(1), least)


@inner_jit
def draw_log_variance(rng: np.random.Generator, mean: float, spread: float, least: float) -> float:
    """Draw from N(mean, spread^2) above ``least``."""
    bound = (least - mean) / spread
    if bound <= 0.0:
        while True:
            value = rng.standard_normal()
            if value >= bound:
                return mean + spread * value
    rate = 0.5 * (bound + math.sqrt(bound * bound + 4.0))  # exponential envelope of the tail
    while True:
        value = bound + rng.standard_exponential() / rate
        if rng.standard_exponential() >= 0.5 * (value - rate) ** 2:
            return mean + spread * value


@inner_jit
def log_share(mean: float, log_variance: float, least: float) -> float:
    """Log of the share of a normal law that lies above ``least``."""
    bound = (least - mean) * math.exp(-0.5 * log_variance)
    if bound < 30.0:
        return math.log(0.5 * math.erfc(bound / math.sqrt(2.0)))
    return -0.5 * bound * bound - math.log(bound * math.sqrt(2.0 * math.pi))  # of the tail


@inner_jit
def draw_base(rng: np.random.Generator, hyper: Hyper, experts: Experts, slot: int) -> None:
    """Fill a slot with a draw from the base measure."""
    features = hyper.mean.shape[0]
    for j in range(features):
        spread = math.exp(0.5 * hyper.log_spread[j])
        experts.mean[slot, j] = hyper.mean[j] + spread * rng.standard_normal()
        level_spread = math.exp(0.5 * hyper.log_level_spread[j])
        experts.log_variance[slot, j] = draw_log_variance(
            rng, hyper.level[j], level_spread, hyper.narrowest[j]
        )
    for i in range(2):
        experts.log_scale[slot, i] = rng.standard_normal()
    intercept = math.exp(0.5 * experts.log_scale[slot, 0])
    slope = math.exp(0.5 * experts.log_scale[slot, 1])
    for y in range(experts.coefficients.shape[1]):
        for j in range(features):
            experts.coefficients[slot, y, j] = slope * rng.standard_normal()
        experts.coefficients[slot, y, features] = intercept * rng.standard_normal()


@inner_jit
def log_density(experts: Experts, slot: int, row: FloatArray) -> float:
    """Log density of the covariates in a component."""
    total = -0.5 * row.shape[0] * math.log(2.0 * math.pi)
    for j in range(row.shape[0]):
        value = experts.log_variance[slot, j]
        gap = row[j] - experts.mean[slot, j]
        total -= 0.5 * (value + gap * gap * math.exp(-value))
    return total


@inner_jit
def fill_log_classes(
    coefficients: FloatArray, row: FloatArray, log_probability: FloatArray
) -> None:
    """Log probabilities of all classes under one multinomial logit."""
    features = row.shape[0]
    top = -np.inf
    for y in range(coefficients.shape[0]):
        score = coefficients[y, features]
        for j in range(features):
            score += coefficients[y, j] * row[j]
        log_probability[y] = score
        top = max(top, score)
    total = 0.0
    for y in range(coefficients.shape[0]):
        total += math.exp(log_probability[y] - top)
    shift = top + math.log(total)
    for y in range(coefficients.shape[0]):
        log_probability[y] -= shift
