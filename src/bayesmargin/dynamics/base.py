r"""How it is sampled: the state of a chain, and the two halves of a transition.

A dynamics is handed its gradient and never asks where it comes from. One that needs a single
gradient a step registers :func:`follow` and says with :func:`moves_by_gradient` that this is so;
then :func:`advance` is

.. math:: \text{lead} \;\to\; g \approx \nabla U(u) \;\to\; \text{follow},

whatever the target. What has its gradient from elsewhere (documents that threads sample, a Python
function) calls :func:`begin_step` and :func:`end_step` around it. Exact samplers, which ask for
energies again and again, register :func:`advance` themselves.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements, inner_borrowing_jit, jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.targets.base import estimate_gradient, space_of


class State(NamedTuple):
    """Position, momentum, thermostat, learned scale and clock of one chain.

    One class serves every dynamics, so that checkpoints and diagnostics need not know which ran;
    a dynamics leaves alone what it does not use.
    """

    position: FloatArray
    momentum: FloatArray
    friction: FloatArray
    moment: FloatArray
    clock: IntArray


def initial_state(position: FloatArray, rng: np.random.Generator, friction: float) -> State:
    """State at ``position`` with a fresh momentum and the thermostat at its mean."""
    size = int(position.shape[0])
    return State(
        position=np.array(position, dtype=float),
        momentum=rng.standard_normal((size,)),
        friction=np.full(size, friction),
        moment=np.zeros(size),
        clock=np.zeros(2, dtype=np.int64),
    )


def advance(dynamics: Any, target: Any, state: Any, work: Any, source: Any) -> None:
    """Move ``state`` by one iteration, in place (generic, compiled)."""
    raise TypeError(f"{type(dynamics).__name__} is not a dynamics")


def lead(dynamics: Any, state: State) -> None:
    """Move to where the gradient is wanted (generic, compiled)."""
    raise TypeError(f"{type(dynamics).__name__} does not move by single gradients")


def follow(dynamics: Any, state: State, space: Any, work: Any, source: Any) -> None:
    """The step, given ``work.gradient`` where :func:`lead` has led (generic, compiled)."""
    raise TypeError(f"{type(dynamics).__name__} does not move by single gradients")


def ahead(dynamics: Any, state: State, coordinate: int) -> float:
    r"""Time by which a momentum is ahead of its position between steps (generic, compiled).

    An integrator that begins with a whole kick takes two halves in one: the second of the step
    before, at the same position, and the first of its own. Between the two the momentum of the
    splitting is :math:`r - \tfrac h2 \nabla U(u)`, and :math:`\tfrac h2` is what is told here,
    times the scale of the coordinate where there is one.
    """
    raise TypeError(f"{type(dynamics).__name__} does not move by single gradients")


def moves_by_gradient(
    kind: type,
    leads: Callable[[Any, State], None] | None = None,
    is_ahead: Callable[[Any, State, int], float] | None = None,
) -> None:
    """Let a dynamics advance by one gradient a step; :func:`follow` has a body for it.

    Parameters
    ----------
    kind : type
        NamedTuple class of the dynamics.
    leads : callable, optional
        Body of :func:`lead`. By default the gradient is wanted where the state is.
    is_ahead : callable, optional
        Body of :func:`ahead`. By default momentum and position belong together.
    """
    implements(lead, kind, borrows=True)(leads or _stay)
    implements(ahead, kind, borrows=True)(is_ahead or _in_time)
    implements(advance, kind, borrows=True)(_one_gradient)


def _stay(dynamics, state):  # type: ignore[no-untyped-def]
    pass


def _in_time(dynamics, state, coordinate):  # type: ignore[no-untyped-def]
    return 0.0


def _one_gradient(dynamics, target, state, work, source):  # type: ignore[no-untyped-def]
    lead(dynamics, state)
    estimate_gradient(target, state.position, source, work)
    follow(dynamics, state, space_of(target), work, source)
    state.clock[0] += 1


@inner_borrowing_jit
def reconcile(dynamics, state, change):  # type: ignore[no-untyped-def]
    """Tell a momentum that the gradient of the energy where it is has changed by ``change``.

    Needed whenever the position or the energy changes between steps, and for a fresh momentum,
    which has seen no gradient yet: there ``change`` is the whole of it.
    """
    for j in range(change.shape[0]):
        state.momentum[j] += ahead(dynamics, state, j) * change[j]


@jit
def begin_step(dynamics, state):  # type: ignore[no-untyped-def]
    """:func:`lead`, from Python."""
    lead(dynamics, state)


@jit
def end_step(dynamics, state, space, work, source):  # type: ignore[no-untyped-def]
    """:func:`follow`, from Python; ends the iteration."""
    follow(dynamics, state, space, work, source)
    state.clock[0] += 1


@jit
def reconcile_state(dynamics, state, change):  # type: ignore[no-untyped-def]
    """:func:`reconcile`, from Python."""
    reconcile(dynamics, state, change)
