"""What the chain holds: components in flat arrays with slots, rows, and the base measure.

The *anchor* of a component is its weight vectors as the last sweep over the assignments saw them.
That sweep computes every row's scores anyway, so it leaves the full subgradient at the anchor
(``pull``) and each row's part in it (``winner``) behind: control variates at no cost.

A component lives in a *slot* for all its life, so births and deaths move no labels. The first
``size[0]`` entries of ``order`` are the slots in use, the others are free.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import borrowing_jit, inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray

#: Kinds of components by size and by mixture of labels, see :mod:`.sharpness`.
SIZES, MIXTURES = 12, 7
FIRST_SHARPNESS = 0.25  #: before anything is learned
_MOST_RADII = 250_000_000


class Rows(NamedTuple):
    """The data, in the form in which every kernel of this package reads them."""

    covariates: FloatArray  #: (D, p) what the Gaussians see; p = 0 switches them off
    design: FloatArray  #: (D, n) what the experts see: covariates and, if wanted, a constant 1
    labels: IntArray  #: (D,) classes 0 .. L-1
    log_base: FloatArray  #: (D,) log t_0(x), density of the covariates in an empty component
    log_evidence: FloatArray  #: (D,) log I(x), prior mean of the row's pseudo-likelihood
    mode: FloatArray  #: (D,) of the integrand of I; NaN until a component is born from the row
    nested: bool = False  #: whether the design is the covariates, with a column of ones or without


class Base(NamedTuple):
    r"""Base measure: NIW :math:`(m_0, \kappa_0, \nu_0, \Psi_0)`, weights :math:`N(0, s^2)`."""

    location: FloatArray  #: (p,)
    strength: float
    degrees: float
    scatter: FloatArray  #: (p, p)
    student: FloatArray  #: (D + 2,) constants of the predictive density by component size
    weight_scale: float

    @property
    def diagonal(self) -> bool:
        """Whether columns are independent; compiled functions know by the class."""
        return isinstance(self, UncorrelatedBase)


class UncorrelatedBase(Base):
    """The same with independent columns: a NIW of one column for each, of the scatter's diagonal.

    A class of its own, by which compiled functions are chosen (:mod:`.features`).
    """


class Hinge(NamedTuple):
    """Cost c and margin l of the pseudo-likelihood exp(-c (slack)_+)."""

    cost: float
    margin: float


class Components(NamedTuple):
    """Parameters and statistics of the components, one slot each."""

    population: IntArray  #: (S,) members
    order: IntArray  #: (S,) permutation of the slots, those in use first
    size: IntArray  #: (1,) number of components in use
    moment: FloatArray  #: (S, F) sum over the members of their features
    inverse: FloatArray  #: (S, p, p) inverse of Psi, or (S, 1, p) where that is diagonal
    centre: FloatArray  #: (S, p) posterior location m
    log_determinant: FloatArray  #: (S,) log det Psi
    height: FloatArray  #: (S,) log of size times predictive density at the centre
    shrink: FloatArray  #: (S, 2) how radii may have shrunk: now >= shrink[0] * then - shrink[1]
    form: FloatArray  #: (S, F) what a density needs, in the order of the features
    weights: FloatArray  #: (S, R, n) experts; R = 1 for two classes, else L
    pull: FloatArray  #: (S, R, n) subgradient of sum log psi at the anchor, divided by c
    drift: FloatArray  #: (S, R, n) what rows that came or left in this sweep added to the pull
    momentum: FloatArray  #: (S, R, n) of the thermostat, in whitened coordinates
    thermostat: FloatArray  #: (S,)
    kind: IntArray  #: (S,) what the metric expects of a component like this
    sharpness: FloatArray  #: (kinds,) density of the members' slacks at the kink
    noted: IntArray  #: (kinds,) how often it was seen
    learning: IntArray  #: (1,) whether it is still learned
    whitener: FloatArray  #: (S, n, n) inverse Cholesky factor of the experts' metric
    jump: FloatArray  #: (S,) of the force where a row changes its state, in whitened coordinates
    width: FloatArray  #: (S,) metric of components that need no whitener; 0 where they do
    age: IntArray  #: (S,) weight updates since birth
    tries: IntArray  #: (2,) Metropolis proposals made and accepted


class Assignment(NamedTuple):
    """Where every row belongs, and the rows of every component in one list."""

    slot: IntArray  #: (D,) component of each row
    winner: IntArray  #: (D,) option that attains the row's hinge at the anchor
    members: IntArray  #: (D,) row numbers, grouped by slot
    start: IntArray  #: (S + 1,) where the group of a slot begins
    reach: FloatArray  #: (D, S) radius of each row in each component, at its last evaluation


class Mixture(NamedTuple):
    """All that the moves of the chain read and change, handed from kernel to kernel as one."""

    rows: Rows
    assignment: Assignment
    components: Components
    base: Base
    hinge: Hinge


@borrowing_jit
def feature_count(dimension: int, diagonal: bool) -> int:
    """Length of the features of a vector: products (or squares), the vector, the constant."""
    products = dimension if diagonal else dimension * (dimension + 1) // 2
    return products + dimension + 1


def empty_components(
    capacity: int, dimension: int, weight_rows: int, weight_columns: int, diagonal: bool = False
) -> Components:
    """Store for ``capacity`` components, none in use."""
    features = feature_count(dimension, diagonal)
    shape = (capacity, weight_rows, weight_columns)
    return Components(
        population=np.zeros(capacity, np.int64),
        order=np.arange(capacity),
        size=np.zeros(1, np.int64),
        moment=np.zeros((capacity, features)),
        inverse=np.zeros((capacity, 1 if diagonal else dimension, dimension)),
        centre=np.zeros((capacity, dimension)),
        log_determinant=np.zeros(capacity),
        height=np.zeros(capacity),
        shrink=np.ones((capacity, 2)),
        form=np.zeros((capacity, features)),
        weights=np.zeros(shape),
        pull=np.zeros(shape),
        drift=np.zeros(shape),
        momentum=np.zeros(shape),
        thermostat=np.ones(capacity),
        kind=np.zeros(capacity, np.int64),
        sharpness=np.full(SIZES * MIXTURES, FIRST_SHARPNESS),
        noted=np.zeros(SIZES * MIXTURES, np.int64),
        learning=np.zeros(1, np.int64),
        whitener=np.zeros((capacity, weight_columns, weight_columns)),
        jump=np.zeros(capacity),
        width=np.zeros(capacity),
        age=np.zeros(capacity, np.int64),
        tries=np.zeros(2, np.int64),
    )


def grow(components: Components, capacity: int) -> Components:
    """Copy of ``components`` with room for ``capacity``."""
    old = components.population.shape[0]
    _, rows, columns = components.weights.shape
    _, lines, dimension = components.inverse.shape
    larger = empty_components(capacity, dimension, rows, columns, lines != dimension)
    for name in Components._fields:
        source, target = getattr(components, name), getattr(larger, name)
        target[: source.shape[0]] = source
    larger.order[old:] = np.arange(old, capacity)
    return larger


def room_for_radii(capacity: int, rows: int) -> FloatArray:
    """Store of the kept radii; none where it would take more than a gigabyte."""
    return np.zeros((rows if capacity * rows <= _MOST_RADII else 0, capacity), np.float32)


def double_room(components: Components, assignment: Assignment) -> tuple[Components, Assignment]:
    """Copies with room for twice as many components."""
    capacity, rows = len(components.population), len(assignment.slot)
    start = np.full(2 * capacity + 1, assignment.start[-1])
    start[: capacity + 1] = assignment.start
    reach = room_for_radii(2 * capacity, rows)
    if reach.size and assignment.reach.size:
        reach[:, :capacity] = assignment.reach
    return grow(components, 2 * capacity), assignment._replace(start=start, reach=reach)


@inner_borrowing_jit
def open_slot(components: Components) -> int:
    """Take a free slot into use (the caller has made sure that there is one)."""
    position = components.size[0]
    components.size[0] = position + 1
    return components.order[position]


@inner_borrowing_jit
def close_slot(components: Components, slot: int) -> None:
    """Give a slot back."""
    last = components.size[0] - 1
    for position in range(last + 1):
        if components.order[position] == slot:
            components.order[position] = components.order[last]
            components.order[last] = slot
            break
    components.size[0] = last
    components.population[slot] = 0


@borrowing_jit
def group_members(assignment: Assignment) -> None:
    """Fill ``members`` and ``start`` from ``slot`` by a counting sort that keeps row order."""
    start = assignment.start
    start[:] = 0
    for d in range(assignment.slot.shape[0]):
        start[assignment.slot[d] + 1] += 1
    for k in range(1, start.shape[0]):
        start[k] += start[k - 1]
    for d in range(assignment.slot.shape[0]):
        slot = assignment.slot[d]
        assignment.members[start[slot]] = d
        start[slot] += 1
    for k in range(start.shape[0] - 1, 0, -1):
        start[k] = start[k - 1]
    start[0] = 0
