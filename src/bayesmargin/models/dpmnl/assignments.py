"""Gibbs sweep over the assignments: Neal's Algorithm 8."""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.dpmnl.state import (
    Experts,
    Hyper,
    draw_base,
    enlist,
    fill_log_classes,
    log_density,
    retire,
)


@inner_jit
def _log_likelihood(
    experts: Experts, slot: int, row: FloatArray, label: int, work: FloatArray
) -> float:
    fill_log_classes(experts.coefficients[slot], row, work)
    return work[label] + log_density(experts, slot, row)


@inner_jit
def _pick(rng: np.random.Generator, log_weight: FloatArray, count: int) -> int:
    """Index drawn with probability proportional to exp(log_weight)."""
    top = -np.inf
    for i in range(count):
        top = max(top, log_weight[i])
    total = 0.0
    for i in range(count):
        log_weight[i] = math.exp(log_weight[i] - top)
        total += log_weight[i]
    remaining = rng.random() * total
    for i in range(count):
        remaining -= log_weight[i]
        if remaining < 0.0:
            return i
    return count - 1


@jit
def sweep_assignments(
    rng: np.random.Generator,
    X: FloatArray,
    labels: IntArray,
    slots: IntArray,
    experts: Experts,
    hyper: Hyper,
    begin: int,
    auxiliary: int,
) -> int:
    """Visit the rows from ``begin`` on; returns where it stopped for want of free slots.

    Auxiliary components are drawn into free slots; a row alone in its component makes its own
    parameters one of them.
    """
    capacity = experts.population.shape[0]
    work = np.empty(experts.coefficients.shape[1])
    log_weight = np.empty(capacity)
    log_fresh = hyper.log_concentration[0] - math.log(auxiliary)
    for d in range(begin, labels.shape[0]):
        size = experts.size[0]
        if size + auxiliary > capacity:
            return d
        own = slots[d]
        experts.population[own] -= 1
        alone = experts.population[own] == 0
        if alone:  # its slot moves behind those in use, where the auxiliary ones are
            retire(experts, own)
            size -= 1
        for position in range(size + auxiliary):
            slot = experts.order[position]
            if position >= size and not (alone and position == size):
                draw_base(rng, hyper, experts, slot)
            share = log_fresh if position >= size else math.log(experts.population[slot])
            log_weight[position] = share + _log_likelihood(experts, slot, X[d], labels[d], work)
        chosen = _pick(rng, log_weight, size + auxiliary)
        target = experts.order[chosen]
        if chosen >= size:
            enlist(experts, chosen)
            experts.population[target] = 0
        experts.population[target] += 1
        slots[d] = target
    return labels.shape[0]


@jit
def log_partition(
    X: FloatArray, labels: IntArray, slots: IntArray, experts: Experts, hyper: Hyper
) -> float:
    """Log probability of the partition given all parameters, up to a constant of the data."""
    work = np.empty(experts.coefficients.shape[1])
    size, rows = experts.size[0], labels.shape[0]
    strength = math.exp(hyper.log_concentration[0])
    total = size * hyper.log_concentration[0] + math.lgamma(strength) - math.lgamma(strength + rows)
    for position in range(size):
        total += math.lgamma(experts.population[experts.order[position]])
    for d in range(rows):
        total += _log_likelihood(experts, slots[d], X[d], labels[d], work)
    return total
