r"""Split and merge moves, which change the number of components by many rows at a time.

The scheme of Jain and Neal, with a launch that needs no rank-1 change, and extended to experts
whose weights are not conjugate. A row i is drawn; half of the proposals draw j from the component
of i and try to split it:

1. a *launch* partition of its members gives each row to the anchor it is nearer to, and is then
   improved by a few rounds of hard assignment to the two Gaussians (of a large component an even
   part of the rows does);
2. every row falls on a side at random, by the Gaussians of the launch: probability :math:`q(Z)`;
3. the side of i keeps the weights; the side of j draws new ones from :math:`q_\theta`, a Gaussian
   whose parameters come from a short augmentation chain on the rows of that side.

The other half draw j from the rest and try the reverse: everything joins the component of i, the
weights of j's side are dropped, and their density under :math:`q_\theta` is evaluated for a
:math:`\theta` drawn in the same way. The launch is a function of i, j and the set of rows, and
:math:`\theta` has the same law in both directions, so both cancel. The acceptance
ratio of a split is

.. math::

   r = \frac{\alpha_0\,\Gamma(n_i)\Gamma(n_j)}{\Gamma(n_i+n_j)}\;
       \frac{t(X_i)\,t(X_j)}{t(X_{ij})}\;
       \frac{p_0(\eta_j)}{q_\theta(\eta_j)} \prod_{d \in j}
       \frac{\psi_d(\eta_j)}{\psi_d(\eta_i)}\;
       \frac{1}{q(Z)}\;\frac{n_i + n_j - 1}{D - n_i},

its inverse that of a merge. The last factor comes from the way j is drawn. The test is made in two
stages (delayed acceptance, Christen and Fox): the factors that need no expert, shrunk by
:data:`_DOUBT` nats towards one, may dismiss a hopeless proposal before it has paid for an expert;
the second stage makes up for what the first has used.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import borrowing_jit, inner_borrowing_jit
from bayesmargin.foundation.copying import copy_matrix
from bayesmargin.models.infinite_svc.anchor import refresh_anchor
from bayesmargin.models.infinite_svc.expert_proposal import propose_expert, total_log_psi
from bayesmargin.models.infinite_svc.proposal_rows import (
    Proposal,
    Scratch,
    draw_pair,
    fill_others,
    fill_right,
)
from bayesmargin.models.infinite_svc.regrouping import (
    accept_merge,
    accept_split,
    begin_anew,
    log_apart,
)
from bayesmargin.models.infinite_svc.restricted import allocate, fill_sides, launch
from bayesmargin.models.infinite_svc.state import Base, Components, Mixture

_DOUBT = 50.0


@inner_borrowing_jit
def _log_partition_ratio(sides: Components, base: Base, concentration: float, rows: int) -> float:
    """Factors of r that do not involve the experts or the scan."""
    left, right = sides.population[0], sides.population[1]
    value = log_apart(sides, 0, 1, sides, base, concentration)
    return value + math.log(left + right - 1.0) - math.log(rows - left)


@inner_borrowing_jit
def _screen(log_ratio: float) -> float:
    """Odd function of the log ratio, so that split and merge see reciprocal first stages."""
    if log_ratio > _DOUBT:
        return log_ratio - _DOUBT
    return min(log_ratio + _DOUBT, 0.0)


@borrowing_jit
def split_merge(
    rng: np.random.Generator,
    mixture: Mixture,
    sides: Components,
    concentration: float,
    scans: int,
    scratch: Scratch,
) -> int:
    """One proposal; returns +1 for an accepted split, -1 for an accepted merge, else 0.

    ``sides`` is a scratch store of three slots. A slot must be free in the mixture.
    """
    rows, assignment, components, base, hinge = mixture
    i, j, splitting = draw_pair(rng, assignment)
    if j == i:
        return 0
    own, partner = assignment.slot[i], assignment.slot[j]
    others = scratch.others[: fill_others(i, j, assignment, scratch.others)]
    side_of = scratch.side_of[: others.shape[0]]
    proposal = Proposal(i, j, others, side_of, sides, scratch.features)
    launch(proposal, rows, base, scans)
    if not splitting:
        for position in range(others.shape[0]):
            side_of[position] = 1 if assignment.slot[others[position]] == partner else 0
    log_scan = allocate(rng, proposal, rows, base, splitting)
    fill_sides(proposal, rows, base, 1)
    right = scratch.right[: fill_right(j, others, side_of, scratch.right)]
    direction = 1.0 if splitting else -1.0
    log_ratio = _log_partition_ratio(sides, base, concentration, rows.labels.shape[0]) - log_scan
    screen = _screen(log_ratio)
    if math.log(rng.random()) >= direction * screen:
        return 0
    weights = sides.weights[1]
    if not splitting:
        copy_matrix(components.weights[partner], weights)
    log_ratio += propose_expert(rng, right, rows, hinge, base.weight_scale, weights, not splitting)
    log_ratio -= total_log_psi(right, rows, hinge, components.weights[own])
    if math.log(rng.random()) >= direction * (log_ratio - screen):
        return 0
    if splitting:
        slot = accept_split(rng, right, assignment, components, sides, own)
        refresh_anchor(slot, mixture)
    else:
        accept_merge(right, assignment, components, sides, own, partner)
    begin_anew(rng, components, own)
    refresh_anchor(own, mixture)
    return 1 if splitting else -1
