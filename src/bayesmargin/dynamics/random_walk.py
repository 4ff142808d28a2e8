r"""Random-walk Metropolis whose acceptance test stops early: the austerity test.

A proposal :math:`w' = w + \sigma\nu` is accepted when the mean of
:math:`l_d = \log\psi_d(w') - \log\psi_d(w)` over all :math:`D` rows exceeds

.. math:: \mu_0 = \tfrac{1}{D} \log\left[ u\,p_0(w)/p_0(w') \right], \qquad u \sim U(0, 1).

Rows are read in batches without replacement until a t-test on their mean, with the correction for
a finite population, is sure to within :math:`\epsilon`. With :math:`\epsilon = 0` every row is read
and the sampler is plain Metropolis, decision for decision.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from bayesmargin.dynamics.base import advance
from bayesmargin.foundation.compiling import implements, inner_jit
from bayesmargin.foundation.copying import copy_vector
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.base import row_log_psi
from bayesmargin.priors.densities import prior_energy
from bayesmargin.targets.coordinates import to_weights
from bayesmargin.targets.rows import set_working


class AusterityWalk(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.AusterityMetropolis`.

    ``critical[k]`` is the absolute value of t beyond which the test stops after ``k + 1`` batches.
    """

    scale: float
    batch: int
    critical: FloatArray
    minimum: int


def critical_values(n_rows: int, batch: int, epsilon: float) -> FloatArray:
    """Quantiles of Student's t that end the test after each batch; infinite for ``epsilon = 0``."""
    counts = np.minimum(np.arange(1, -(-n_rows // batch) + 1) * batch, n_rows)
    if epsilon == 0.0:
        return np.full(counts.size, np.inf)
    return np.asarray(-special.stdtrit(np.maximum(counts - 1, 1), epsilon), dtype=float)


@inner_jit
def sequential_test(dynamics, target, now, proposed, threshold, first, work):  # type: ignore[no-untyped-def]
    """Whether the mean log ratio exceeds ``threshold``, and how many rows it took to say so.

    Rows were shuffled once; they are read in order from row ``first`` on, round the end.
    """
    n_rows = target.strata.start[-1]
    total, squares = 0.0, 0.0
    count, k, index = 0, 0, first
    while True:
        for _ in range(min(dynamics.batch, n_rows - count)):
            after = row_log_psi(target.hinge, target.rows, index, proposed, work)
            change = after - row_log_psi(target.hinge, target.rows, index, now, work)
            total += change
            squares += change * change
            count += 1
            index += 1
            if index == n_rows:
                index = 0
        mean = total / count
        if count == n_rows:
            return mean > threshold, count
        variance = max(0.0, squares / count - mean * mean) * count / max(1, count - 1)
        remaining = 1.0 - (count - 1.0) / (n_rows - 1.0)
        error = math.sqrt(variance / count * remaining)
        # Equal ratios (no margin active) say nothing about rows still unread, unless many agree.
        informative = error > 0.0 or count >= dynamics.minimum
        critical = dynamics.critical[k]
        if informative and critical < np.inf and abs(mean - threshold) > critical * error:
            return mean > threshold, count
        k += 1


@implements(advance, AusterityWalk)
def austerity_step(dynamics, target, state, work, rng):  # type: ignore[no-untyped-def] # noqa: D103
    size = state.position.shape[0]
    proposal = work.gradient
    for j in range(size):
        proposal[j] = state.position[j] + dynamics.scale * rng.standard_normal()
    to_weights(target.coordinates, state.position, work.weights)
    to_weights(target.coordinates, proposal, work.data)
    n_rows = target.strata.start[-1]
    before, after = prior_energy(target.prior, work.weights), prior_energy(target.prior, work.data)
    for j in range(target.drift.shape[0]):  # a linear part of the likelihood, if it has any
        after += target.drift[j] * (work.data[j] - work.weights[j])
    threshold = (math.log(1.0 - rng.random()) + after - before) / n_rows
    first = int(rng.random() * n_rows)
    now, proposed = work.working, work.prior
    set_working(work.weights, now)
    set_working(work.data, proposed)
    accept, count = sequential_test(dynamics, target, now, proposed, threshold, first, work)
    if accept:
        copy_vector(proposal, state.position)
    # The trace averages these two: the acceptance rate and the share of the rows that was read.
    state.friction[0] = 1.0 if accept else 0.0
    state.momentum[:] = math.sqrt(count / n_rows)
    state.clock[0] += 1
