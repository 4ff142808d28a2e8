"""How a component is born: weights offered to a row beforehand, and the slot it opens."""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.copying import copy_matrix
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.infinite_svc.experts import log_psi
from bayesmargin.models.infinite_svc.gaussian import copy_empty
from bayesmargin.models.infinite_svc.newcomer import draw_weights
from bayesmargin.models.infinite_svc.radii import forget_radii
from bayesmargin.models.infinite_svc.state import Mixture, open_slot
from bayesmargin.models.infinite_svc.weighing import Work

#: Exact integral and exact draw of the new weights (Algorithm 2).
EXACT = 0
#: The exact integral followed by a draw from the prior, as the literature does it. It leaves
#: another law invariant; the tests show so and nothing else uses it.
PRIOR_DRAW = -1


@inner_borrowing_jit
def auxiliary_weights(
    rng: np.random.Generator, d: int, mixture: Mixture, log_concentration: float, work: Work
) -> float:
    """Draw the auxiliary experts of Algorithm 8 and fill their log weights; return the largest."""
    rows, assignment, components, base, hinge = mixture
    auxiliary, log_weight = work.auxiliary, work.fresh_weight
    own, number = assignment.slot[d], auxiliary.shape[0]
    best = -np.inf
    for i in range(number):
        if i == 0 and components.population[own] == 1:
            for y in range(auxiliary.shape[1]):
                for j in range(auxiliary.shape[2]):
                    auxiliary[i, y, j] = components.weights[own, y, j]
        else:
            _draw_prior(rng, base.weight_scale, auxiliary[i])
        value = log_psi(auxiliary[i], rows.design[d], rows.labels[d], hinge, work.scores)
        log_weight[i] = log_concentration - math.log(number) + rows.log_base[d] + value
        best = max(best, log_weight[i])
    return best


@inner_borrowing_jit
def start_component(
    rng: np.random.Generator, d: int, mixture: Mixture, scheme: int, work: Work, chosen: int
) -> int:
    """Open a component for row d, give it its weights and a thermostat at rest."""
    rows, assignment, components, base, hinge = mixture
    slot = open_slot(components)
    copy_empty(work.empty, components, slot)
    forget_radii(assignment, components, slot)
    weights = components.weights[slot]
    if scheme > 0:
        copy_matrix(work.auxiliary[chosen], weights)
    elif scheme == EXACT:
        draw_weights(rng, d, rows, hinge, base.weight_scale, weights)
    else:
        _draw_prior(rng, base.weight_scale, weights)
    components.thermostat[slot] = 1.0
    components.age[slot] = 0
    components.pull[slot, :, :] = 0.0
    _draw_prior(rng, 1.0, components.momentum[slot])
    return slot


@inner_borrowing_jit
def _draw_prior(rng: np.random.Generator, scale: float, weights: FloatArray) -> None:
    for y in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            weights[y, j] = scale * rng.standard_normal()
