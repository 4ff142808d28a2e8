r"""Rows that come and go between two sweeps, and what they owe to the momentum of an expert.

A momentum that is half a kick ahead of its position
(:func:`~bayesmargin.dynamics.base.reconcile`) has felt that half from the rows of the last sweep.
Rows leave a component and others join; told of nothing, it would begin with a whole kick by the
rows of now, which pushes an expert towards rows that have just come, and a component that has just
been born towards its only row.

The sweep over the assignments knows the winners of all rows that move, so ``drift`` (what the pull
gained by rows that came, less what it lost with those that left) costs next to nothing.
"""

from bayesmargin.foundation.compiling import inner_borrowing_jit
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
