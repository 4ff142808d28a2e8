"""The state of a dpMNL chain, how it starts, and how all parameters move."""

import dataclasses
import functools

import numpy as np

from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.dpmnl.logit import update_logit
from bayesmargin.models.dpmnl.parameters import (
    update_common,
    update_covariates,
    update_hyper,
    update_scales,
)
from bayesmargin.models.dpmnl.state import Experts, Hyper, empty_experts, grow, start_hyper


@jit
def update_parameters(
    rng: np.random.Generator,
    X: FloatArray,
    labels: IntArray,
    slots: IntArray,
    sorted_rows: IntArray,
    experts: Experts,
    hyper: Hyper,
    step: float,
    leapfrogs: int,
) -> int:
    """All parameters of all components, then the base measure; returns the logit models moved.

    ``sorted_rows`` are the rows in the order of their slots.
    """
    accepted = 0
    position = 0
    while position < slots.shape[0]:
        slot = slots[sorted_rows[position]]
        end = position + experts.population[slot]
        members = sorted_rows[position:end]
        update_covariates(rng, slot, members, X, experts, hyper)
        accepted += update_logit(rng, slot, members, X, labels, experts, step, leapfrogs)
        update_common(rng, slot, experts)
        update_scales(rng, slot, experts)
        position = end
    update_hyper(rng, experts, hyper, slots.shape[0])
    return accepted


@dataclasses.dataclass
class Chain:
    """State of one chain: arrays and a generator."""

    rng: np.random.Generator
    X: FloatArray
    labels: IntArray
    slots: IntArray
    experts: Experts
    hyper: Hyper
    step: float
    leapfrogs: int
    auxiliary: int
    proposals: int = 0  #: split or merge proposals in a sweep
    sweeps: int = 0
    before: IntArray = dataclasses.field(default_factory=lambda: np.empty(0, np.int64))
    """Components of the rows before the last sweep."""
    accepted: float = 0.0  #: share of the logit models that the last sweep moved

    @functools.cached_property
    def sides(self) -> Experts:
        """Room for the proposals of splits and merges, no part of the state."""
        _, classes, columns = self.experts.coefficients.shape
        return empty_experts(3, columns - 1, classes)

    def make_room(self) -> None:
        """Make twice as many slots for components."""
        self.experts = grow(self.experts, 2 * len(self.experts.population))


def start_chain(
    rng: np.random.Generator,
    X: FloatArray,
    labels: IntArray,
    clusters: IntArray,
    classes: int,
    step: float,
    leapfrogs: int,
    auxiliary: int,
    proposals: int = 0,
    narrowest: FloatArray | None = None,
) -> Chain:
    """Chain that begins at a partition, with the moments of its parts."""
    _, slots = np.unique(clusters, return_inverse=True)
    number = int(slots.max()) + 1
    experts = empty_experts(2 * number + auxiliary + 1, X.shape[1], classes)
    experts.size[0] = number
    hyper = start_hyper(X.shape[1], narrowest)
    for slot in range(number):
        part = X[slots == slot]
        experts.population[slot] = len(part)
        experts.mean[slot] = part.mean(axis=0)
        experts.log_variance[slot] = np.maximum(np.log(part.var(axis=0) + 0.1), hyper.narrowest)
    return Chain(
        rng, X, labels, slots.astype(np.int64), experts, hyper, step,
        leapfrogs, auxiliary, proposals,
    )  # fmt: skip
