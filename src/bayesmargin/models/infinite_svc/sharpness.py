r"""How many rows of a component lie at their kinks, foreseen from its rows and not its weights.

The metric of an expert needs the density :math:`f` of its members' slacks at the kink. It may be
taken from the partition, or from anything that happened before the draws, but not from the weights
themselves: a chain whose steps are shorter where few rows are at their kinks stays there longer,
and leaves another law than the posterior invariant. (With a running mean of each component's own
share :math:`E[\eta\cdot\nabla U]`, which is the number of weights, was a fifth too small on two
moons.)

So components are of a *kind*, by the number of their members and by how often two of them differ in
their labels. While a chain burns in, the shares that components of a kind show are averaged; from
then on nothing is learned, and a component has the share of its kind. The mean is a geometric one:
where rows are seldom at their kinks weights have far to go, and steps that are long for the rest of
the time are short enough.
"""

import math

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.infinite_svc.state import (
    MIXTURES,
    SIZES,
    Assignment,
    Components,
    Rows,
)

_LEAST = 0.01  # density that a metric is made with
_MEMBERS = 256  # whose labels are compared
_LEVELS = (0.0, 0.05, 0.15, 0.3, 0.5, 0.8)
_FIRST_COUNTS, _WINDOW = 5, 500


@inner_borrowing_jit
def kind_of(slot: int, rows: Rows, assignment: Assignment) -> int:
    """Kind of a component: a power of four below its size, and how mixed its labels are."""
    begin, count = assignment.start[slot], assignment.start[slot + 1] - assignment.start[slot]
    used = min(count, _MEMBERS)
    differ = 0
    before = rows.labels[assignment.members[begin + (used - 1) * count // used]]
    for i in range(used):
        label = rows.labels[assignment.members[begin + i * count // used]]
        differ += label != before
        before = label
    mixture = 0
    for level in _LEVELS:
        mixture += differ > level * used
    size = min(int(0.5 * math.log2(count)), SIZES - 1)
    return size * MIXTURES + mixture


@inner_borrowing_jit
def learn_sharpness(sharpness: FloatArray, noted: IntArray, share: float) -> None:
    """Fold the density that a component shows into the mean of its kind, while a chain learns."""
    weight = 1.0 / (_FIRST_COUNTS + min(noted[0], _WINDOW))
    noted[0] += 1
    sharpness[0] *= (max(share, _LEAST) / sharpness[0]) ** weight


@inner_borrowing_jit
def sharpness_of(components: Components, slot: int) -> float:
    """Density of the slacks at the kink that is expected of a component."""
    return components.sharpness[components.kind[slot]]
