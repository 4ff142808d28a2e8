"""The rows that a split or merge proposal is about."""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import inner_borrowing_jit, inner_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.features import fill_features
from bayesmargin.models.infinite_svc.state import Assignment, Base, Components, Rows

_MOST_KEPT = 1_000_000


class Proposal(NamedTuple):
    """Rows i and j, the rows that fall with either of them, and what is known of both sides."""

    first: int  #: i
    second: int  #: j
    others: IntArray  #: (n,) the other rows, increasing
    side_of: IntArray  #: (n,) the side of each: 0 with i, 1 with j
    sides: Components  #: three slots: the side of i, that of j, and both together
    features: FloatArray  #: (m, F) features: of the others if m >= n, else of one row


class Scratch(NamedTuple):
    """Room for a proposal about n rows, or for fewer."""

    others: IntArray  #: (n,) the rows without i and j, increasing
    side_of: IntArray  #: (n,) the side of each: 0 with i, 1 with j
    right: IntArray  #: (n,) rows of j's side, increasing
    features: FloatArray  #: (m, F) features of all rows, or if they are many of one


def make_scratch(room: int, features: int) -> Scratch:
    """Room for a proposal about so many rows with so many features."""
    others, side_of, right = (np.empty(room, np.int64) for _ in range(3))
    kept = room if room * features <= _MOST_KEPT else 1
    return Scratch(others, side_of, right, np.empty((kept, features)))


@inner_borrowing_jit
def keep_features(proposal: Proposal, rows: Rows, base: Base) -> None:
    """Compute the features of all the others, if there is room."""
    if proposal.features.shape[0] >= proposal.others.shape[0]:
        for i in range(proposal.others.shape[0]):
            fill_features(base, rows.covariates[proposal.others[i]], proposal.features[i])


@inner_borrowing_jit
def line_of(proposal: Proposal, rows: Rows, i: int, base: Base) -> int:
    """Line of ``features`` that holds those of the i-th of the others."""
    if proposal.features.shape[0] >= proposal.others.shape[0]:
        return i
    fill_features(base, rows.covariates[proposal.others[i]], proposal.features[0])
    return 0


@inner_jit  # Numba's bounded integers allocate
def draw_pair(rng: np.random.Generator, assignment: Assignment) -> tuple[int, int, bool]:
    """Row i, row j, and whether to split: j is of the component of i if so, else of another.

    Where there is no such row, j is i.
    """
    total = assignment.slot.shape[0]
    i = int(rng.integers(0, total))
    splitting = rng.random() < 0.5
    own = assignment.slot[i]
    begin = assignment.start[own]
    size = assignment.start[own + 1] - begin
    j = i
    if splitting and size > 1:
        while j == i:
            j = int(assignment.members[begin + rng.integers(0, size)])
    elif not splitting and size < total:
        while assignment.slot[j] == own:
            j = int(rng.integers(0, total))
    return i, j, splitting


@inner_borrowing_jit
def fill_others(i: int, j: int, assignment: Assignment, others: IntArray) -> int:
    """Rows of the components of i and j in increasing order without these; returns their number."""
    members, start = assignment.members, assignment.start
    own, partner = assignment.slot[i], assignment.slot[j]
    first, first_end = start[own], start[own + 1]
    second_end = start[partner + 1]
    second = second_end if partner == own else start[partner]
    count = 0
    while first < first_end or second < second_end:
        if second == second_end or (first < first_end and members[first] < members[second]):
            d = members[first]
            first += 1
        else:
            d = members[second]
            second += 1
        if d != i and d != j:
            others[count] = d
            count += 1
    return count


@inner_borrowing_jit
def fill_right(j: int, others: IntArray, side_of: IntArray, right: IntArray) -> int:
    """Rows of j's side in increasing order (that of the expert's chain); returns their number."""
    count, waiting = 0, True
    for position in range(others.shape[0]):
        if side_of[position] == 1:
            d = others[position]
            if waiting and j < d:
                right[count] = j
                count += 1
                waiting = False
            right[count] = d
            count += 1
    if waiting:
        right[count] = j
        count += 1
    return count
