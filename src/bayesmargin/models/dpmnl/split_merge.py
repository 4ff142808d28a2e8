r"""Split and merge moves, which change the number of components by many rows at a time.

Rows change their component one by one in :mod:`.assignments`, and a new component there is a draw
from the base measure that happens to suit a row, which in more than a few columns none does. Here a
row i is drawn. Half of the proposals draw j from the rest of its component and try to split that:
every row falls on the side of i or of j at random, with the odds of :mod:`.launch`, and both sides
draw their parameters from the proposals of :mod:`.covariate_proposal` and :mod:`.logit_proposal`.
The other half draw j from the other components and try the reverse: the components of i and j are
joined, and draw their parameters in the same way. With :math:`F(\theta, D)` for prior times
likelihood of the rows D over the density of the proposal, which depends on D alone, the
acceptance ratio of a split is

.. math::

   r = \frac{\alpha\,\Gamma(n_i)\,\Gamma(n_j)}{\Gamma(n_i+n_j)}\;
       \frac{F(\theta_i, D_i)\,F(\theta_j, D_j)}{F(\theta, D_i \cup D_j)}\;
       \frac{1}{q(Z)}\;\frac{n_i + n_j - 1}{n - n_i},

where q(Z) is the probability that the rows fall as they do, and the last factor comes from the way
j is drawn; that of a merge is its inverse.
"""

import math

import numpy as np

from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.dpmnl.covariate_proposal import propose_covariates
from bayesmargin.models.dpmnl.launch import fill_odds
from bayesmargin.models.dpmnl.logit_proposal import propose_logit
from bayesmargin.models.dpmnl.state import Experts, Hyper, copy_component, enlist, retire


@inner_jit
def draw_partner(
    rng: np.random.Generator, i: int, splitting: bool, slots: IntArray, experts: Experts
) -> int:
    """Row j, of the component of i or not; i where there is none."""
    own, total = slots[i], slots.shape[0]
    mine = experts.population[own]
    number = mine - 1 if splitting else total - mine
    if number == 0:
        return i
    left = int(rng.integers(0, number))
    for d in range(total):
        if d != i and (slots[d] == own) == splitting:
            if left == 0:
                return d
            left -= 1
    return i


@inner_jit
def rows_of(slots: IntArray, own: int, partner: int) -> IntArray:
    """Rows of two components, increasing."""
    rows, count = np.empty(slots.shape[0], np.int64), 0
    for d in range(slots.shape[0]):
        if slots[d] == own or slots[d] == partner:
            rows[count] = d
            count += 1
    return rows[:count]


@inner_jit
def rows_on(members: IntArray, side: IntArray, number: int) -> IntArray:
    """Those of ``members`` on one side, increasing."""
    rows, count = np.empty(members.shape[0], np.int64), 0
    for position in range(members.shape[0]):
        if side[position] == number:
            rows[count] = members[position]
            count += 1
    return rows[:count]


@inner_jit
def scan_sides(
    rng: np.random.Generator,
    i: int,
    j: int,
    members: IntArray,
    odds: FloatArray,
    drawing: bool,
    side: IntArray,
) -> float:
    """Log probability of the sides of all rows; they are drawn first if ``drawing``."""
    value = 0.0
    for position in range(members.shape[0]):
        if members[position] == i or members[position] == j:
            side[position] = 1 if members[position] == j else 0
            continue
        if drawing:
            chance = 1.0 / (1.0 + math.exp(-odds[position]))
            side[position] = 1 if rng.random() < chance else 0
        sign = 1.0 if side[position] == 1 else -1.0
        value -= math.log1p(math.exp(-sign * odds[position]))
    return value


@inner_jit
def weigh(
    rng: np.random.Generator,
    slot: int,
    members: IntArray,
    X: FloatArray,
    labels: IntArray,
    experts: Experts,
    hyper: Hyper,
    drawing: bool,
) -> float:
    """Log of F for some rows and the parameters in a slot, which are drawn first if ``drawing``."""
    value = propose_covariates(rng, slot, members, X, experts, hyper, drawing)
    if value == -np.inf:
        return value
    return value + propose_logit(rng, slot, members, X, labels, experts, drawing)


@jit
def split_merge(
    rng: np.random.Generator,
    X: FloatArray,
    labels: IntArray,
    slots: IntArray,
    experts: Experts,
    hyper: Hyper,
    sides: Experts,
) -> int:
    """One proposal; returns +1 for an accepted split, -1 for an accepted merge, else 0.

    ``sides`` has room for three components; one slot must be free in ``experts``.
    """
    total = labels.shape[0]
    i = int(rng.integers(0, total))
    splitting = rng.random() < 0.5
    j = draw_partner(rng, i, splitting, slots, experts)
    if j == i:
        return 0
    own, partner = slots[i], slots[j]
    members = rows_of(slots, own, partner)
    odds, side = np.empty(members.shape[0]), np.zeros(members.shape[0], np.int64)
    fill_odds(i, j, members, X, labels, experts.coefficients.shape[1], odds)
    if splitting:
        copy_component(experts, own, sides, 2)
    else:
        for position in range(members.shape[0]):
            side[position] = 1 if slots[members[position]] == partner else 0
        copy_component(experts, own, sides, 0)
        copy_component(experts, partner, sides, 1)
    log_ratio = -scan_sides(rng, i, j, members, odds, splitting, side)
    left, right = rows_on(members, side, 0), rows_on(members, side, 1)
    log_ratio += hyper.log_concentration[0] + math.lgamma(left.shape[0])
    log_ratio += math.lgamma(right.shape[0]) - math.lgamma(members.shape[0])
    log_ratio += math.log((members.shape[0] - 1.0) / (total - left.shape[0]))
    joined = weigh(rng, 2, members, X, labels, sides, hyper, not splitting)
    log_ratio += weigh(rng, 0, left, X, labels, sides, hyper, splitting)
    log_ratio += weigh(rng, 1, right, X, labels, sides, hyper, splitting)
    log_ratio -= joined
    direction = 1.0 if splitting else -1.0
    if not math.log(rng.random()) < direction * log_ratio:
        return 0
    if splitting:
        copy_component(sides, 0, experts, own)
        experts.population[own] = left.shape[0]
        slot = enlist(experts, experts.size[0])
        copy_component(sides, 1, experts, slot)
        experts.population[slot] = right.shape[0]
        for d in right:
            slots[d] = slot
        return 1
    copy_component(sides, 2, experts, own)
    experts.population[own] = members.shape[0]
    experts.population[partner] = 0
    retire(experts, partner)
    for d in right:
        slots[d] = own
    return -1
