r"""Rows that come and go between two sweeps, and what they owe to the momentum of an expert.

A step of the thermostat begins with a whole kick. That is two halves in one: the second half of
the kick that ended the step before, and the first half of this one. As long as the energy stays
the same they are equal. Between two sweeps it does not: rows leave a component and others join.
The half that is still due belongs to the rows of the last sweep, so the kick that opens a sweep is

.. math:: -\tfrac h2\,\big(\nabla U_{\text{before}} + \nabla U_{\text{now}}\big),

both at the present weights. A momentum that has just been drawn owes nothing, and gets the second
half alone. A whole kick by the rows of now would push an expert towards rows that have just come,
and a component that has just been born towards its only row.

The sweep over the assignments knows the winners of all rows that move, so ``drift`` (what the pull
gained by rows that came, less what it lost with those that left) costs next to nothing.
"""

from bayesmargin.foundation.compiling import inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.infinite_svc.anchor import whiten
from bayesmargin.models.infinite_svc.experts import add_pull
from bayesmargin.models.infinite_svc.state import Mixture


@inner_borrowing_jit
def note_move(d: int, target: int, option: int, own_option: int, mixture: Mixture) -> None:
    """Write down that row d is about to join ``target``; its winner there is ``option``.

    ``own_option`` is the winner where it leaves, of no use if nothing is left there.
    """
    rows, assignment, components, _, _ = mixture
    row, label, own = rows.design[d], rows.labels[d], assignment.slot[d]
    add_pull(components.drift[target], row, label, option, 1.0)
    if components.population[own] > 1:
        add_pull(components.drift[own], row, label, own_option, -1.0)


@inner_borrowing_jit
def opening_shares(age: int) -> tuple[float, float]:
    """How much of a kick opens the sweep of an expert, and the part of ``drift`` it leaves out.

    In its first update (``age`` 1) the momentum is fresh.
    """
    return (0.5, 0.0) if age == 1 else (1.0, 0.5)


@inner_borrowing_jit
def opening_force(slot: int, mixture: Mixture, gradient: FloatArray, force: FloatArray) -> None:
    """Whitened force of the kick that opens a sweep; ``gradient`` is work space."""
    _, _, components, base, hinge = mixture
    weights, pull, drift = components.weights[slot], components.pull[slot], components.drift[slot]
    kick, left_out = opening_shares(components.age[slot])
    precision = 1.0 / (base.weight_scale * base.weight_scale)
    for y in range(weights.shape[0]):
        for j in range(weights.shape[1]):
            data = pull[y, j] - left_out * drift[y, j]
            gradient[y, j] = kick * (precision * weights[y, j] - hinge.cost * data)
    whiten(components.width[slot], components.whitener[slot], gradient, force)
