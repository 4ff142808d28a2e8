r"""Hamiltonian trajectories that cross kinks exactly where they lie.

A leapfrog step must be shorter the sharper the kinks are: with large costs, or classes far apart
under a wide prior, the hinge is a wall and steps become tiny. But between two kinks the hinge is
linear, its force :math:`F` constant, and the motion
:math:`u(t) = u + r t + \tfrac12 F t^2` known. The value of every option of a row is a parabola in
time as well, so the next kink on the way is the smallest root of a few quadratic equations. Kick by
half a step of the prior's force, exact motion under the hinge for a step, kick again: each part
preserves volume and is undone by reversing the momentum, so that the Metropolis test with the true
energy leaves the posterior invariant. Its only error is the prior's, whose curvature is at most one
in whitened coordinates, and steps are as long as trajectories whatever the cost. The price is a
pass over the options in play (:mod:`bayesmargin.dynamics.options`) for every kink crossed, of which
there are the fewer the sharper they are.

Forces are summed in weights, and the way is pulled back to positions once, at its end.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.dynamics.base import advance
from bayesmargin.dynamics.hamiltonian import (
    Hamiltonian,
    hamiltonian_step,
    longest_step,
    trajectory,
)
from bayesmargin.dynamics.options import Options, add_options, add_swing, metric, options_in_play
from bayesmargin.dynamics.parabolas import next_crossing
from bayesmargin.foundation.compiling import borrowing_jit, implements, inner_borrowing_jit
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.densities import prior_gradient
from bayesmargin.targets.base import energy
from bayesmargin.targets.coordinates import n_positions, pull_back, to_weights, weights_from
from bayesmargin.targets.rows import Target

ROUNDING = 1e-6  # of the largest step of the gradient, which sums of such steps stay below
MOST_CROSSINGS = 5000  # of one trajectory; as many on the way back, so that refusing it is fair


class Scratch(NamedTuple):
    """Arrays of one chain.

    ``value``, ``slope`` and ``bend`` of every option's parabola, the ``winning`` option of every
    row in play (its place among the options); of the length of weights the ``gradient`` of the
    energy, its integrals over time ``impulse`` and ``detour``, ``change`` and ``moved``; ``turn``
    of that of positions.
    """

    value: FloatArray
    slope: FloatArray
    bend: FloatArray
    winning: IntArray
    gradient: FloatArray
    impulse: FloatArray
    detour: FloatArray
    change: FloatArray
    moved: FloatArray
    turn: FloatArray


class Crossing(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SubgradientHMC` with ``crossing=True``.

    The first four are those of :class:`.hamiltonian.Hamiltonian`. ``metric`` turns gradients in
    weights, which are ``n_blocks`` vectors, into moves of the weights, and ``origin`` are the
    weights at position zero. A gradient that is off by more than ``tolerance`` lacks an option.
    """

    length: float
    n_steps: int
    jitter: float
    target_acceptance: float
    n_blocks: int
    options: Options
    metric: Any
    origin: FloatArray
    tolerance: float
    scratch: Scratch


def crossing_dynamics(target: Target, like: Hamiltonian, within: float = math.inf) -> Crossing:
    """Dynamics of one chain on ``target`` with the settings of ``like``.

    Options that lag by more than ``within`` standard deviations at the origin are not watched.
    """
    options = options_in_play(target, within)
    n_weights = target.drift.shape[0]
    size = n_positions(target.coordinates, n_weights)
    return Crossing(
        *like,
        n_blocks=getattr(target.hinge, "n_classes", 1),
        options=options,
        metric=metric(target.coordinates),
        origin=np.array(weights_from(target.coordinates, np.zeros(size)), dtype=float),
        tolerance=ROUNDING * _largest_swing(target),
        scratch=_scratch(options, n_weights, size),
    )


def _largest_swing(target: Target) -> float:
    """Bound of what one row can add to an entry of the gradient in weights."""
    values = target.rows.values
    return float(target.hinge.cost.max(initial=0.0) * np.abs(values).max(initial=0.0))


def own_scratch(dynamics: Hamiltonian | Crossing) -> Hamiltonian | Crossing:
    """The same dynamics for another chain."""
    if not isinstance(dynamics, Crossing):
        return dynamics
    scratch = dynamics.scratch
    sizes = scratch.gradient.size, scratch.turn.size
    return dynamics._replace(scratch=_scratch(dynamics.options, *sizes))


def _scratch(options: Options, n_weights: int, size: int) -> Scratch:
    value, slope, bend = np.zeros((3, options.option.size))
    winning = np.zeros(options.place.size, dtype=np.int64)
    gradient, impulse, detour, change, moved = np.zeros((5, n_weights))
    return Scratch(
        value, slope, bend, winning, gradient, impulse, detour, change, moved, np.zeros(size)
    )


@inner_borrowing_jit
def _fill(target, dynamics, fixed, out):  # type: ignore[no-untyped-def]
    """The options at the weights ``moved``."""
    for o in range(out.shape[0]):
        out[o] = 0.0
    moved = dynamics.scratch.moved
    add_options(dynamics.options, target.rows, dynamics.n_blocks, moved, fixed, out)


@inner_borrowing_jit
def _add_bend(target, dynamics, gradient):  # type: ignore[no-untyped-def]
    """Add what the force against ``gradient`` does to the speed of the options."""
    moved, bend = dynamics.scratch.moved, dynamics.scratch.bend
    to_weights(dynamics.metric, gradient, moved)
    for j in range(moved.shape[0]):
        moved[j] = -moved[j]
    add_options(dynamics.options, target.rows, dynamics.n_blocks, moved, 0.0, bend)


@inner_borrowing_jit
def _swing(target, options, row, before, now, data):  # type: ignore[no-untyped-def]
    """Add the change of the gradient when option ``now`` wins over ``before`` to ``data``."""
    names = options.option
    add_swing(target.hinge, target.rows, options.place[row], names[before], names[now], data)


@inner_borrowing_jit
def _bend(target, dynamics, row, before, now):  # type: ignore[no-untyped-def]
    """Let the force change as option ``now`` of a row wins over ``before``."""
    options, scratch = dynamics.options, dynamics.scratch
    _swing(target, options, row, before, now, scratch.gradient)
    gained, lost = options.line[now], options.line[before]
    if gained >= 0 and lost >= 0:
        cost, table, bend = target.hinge.cost[options.place[row]], options.table, scratch.bend
        for o in range(bend.shape[0]):
            bend[o] += cost * (table[lost, o] - table[gained, o])
        return
    for j in range(scratch.change.shape[0]):
        scratch.change[j] = 0.0
    _swing(target, options, row, before, now, scratch.change)
    _add_bend(target, dynamics, scratch.change)


@inner_borrowing_jit
def _depart(target, dynamics, state):  # type: ignore[no-untyped-def]
    """Set up force, values and bends at the position of ``state``."""
    options, scratch = dynamics.options, dynamics.scratch
    gradient, value = scratch.gradient, scratch.value
    to_weights(target.coordinates, state.position, scratch.moved)
    _fill(target, dynamics, 1.0, value)
    for j in range(gradient.shape[0]):
        gradient[j] = target.drift[j]
    winning = scratch.winning
    for i in range(winning.shape[0]):
        winning[i] = options.reference[i]
        for o in range(options.first[i], options.first[i + 1]):
            if value[o] > value[winning[i]]:
                winning[i] = o
        if winning[i] != options.reference[i]:
            _swing(target, options, i, options.reference[i], winning[i], gradient)
    for o in range(value.shape[0]):
        scratch.bend[o] = 0.0
    _add_bend(target, dynamics, gradient)


@borrowing_jit
def _move(scratch, time):  # type: ignore[no-untyped-def]
    """Let ``time`` pass without a crossing."""
    gradient, impulse, detour = scratch.gradient, scratch.impulse, scratch.detour
    value, slope, bend = scratch.value, scratch.slope, scratch.bend
    for j in range(gradient.shape[0]):
        detour[j] += time * (impulse[j] + 0.5 * time * gradient[j])
        impulse[j] += time * gradient[j]
    for o in range(value.shape[0]):
        value[o] += time * (slope[o] + 0.5 * time * bend[o])
        slope[o] += time * bend[o]


@inner_borrowing_jit
def _arrive(target, scratch, state, duration):  # type: ignore[no-untyped-def]
    """Position and momentum at the end of a motion."""
    position, momentum, turn = state.position, state.momentum, scratch.turn
    pull_back(target.coordinates, scratch.detour, turn)
    for j in range(position.shape[0]):
        position[j] += duration * momentum[j] - turn[j]
    pull_back(target.coordinates, scratch.impulse, turn)
    for j in range(position.shape[0]):
        momentum[j] -= turn[j]


@inner_borrowing_jit
def _coast(target, dynamics, state, duration):  # type: ignore[no-untyped-def]
    """Exact motion under the hinge from where the last one ended, with the momentum of ``state``.

    Force, values and bends are still those of that place; returns the number of kinks crossed.
    """
    scratch, moved = dynamics.scratch, dynamics.scratch.moved
    to_weights(target.coordinates, state.momentum, moved)
    for j in range(moved.shape[0]):
        moved[j] -= dynamics.origin[j]
        scratch.impulse[j] = scratch.detour[j] = 0.0
    _fill(target, dynamics, 0.0, scratch.slope)
    parabolas, crossings, left = (scratch.value, scratch.slope, scratch.bend), 0, duration
    while crossings < MOST_CROSSINGS:
        time, row, now = next_crossing(dynamics.options.first, scratch.winning, parabolas, left)
        _move(scratch, time)
        if row < 0:
            break
        left -= time
        crossings += 1
        before = scratch.winning[row]
        scratch.winning[row] = now
        scratch.value[now] = scratch.value[before]
        _bend(target, dynamics, row, before, now)
    _arrive(target, scratch, state, duration)
    return crossings


@inner_borrowing_jit
def flow(target, dynamics, state, duration):  # type: ignore[no-untyped-def]
    """Exact motion under the hinge alone; returns the number of kinks crossed."""
    _depart(target, dynamics, state)
    return _coast(target, dynamics, state, duration)


@inner_borrowing_jit
def _kick(target, dynamics, state, work, duration):  # type: ignore[no-untyped-def]
    """Let the prior's force act on the momentum alone."""
    turn = dynamics.scratch.turn
    to_weights(target.coordinates, state.position, work.weights)
    prior_gradient(target.prior, work.weights, work.prior)
    pull_back(target.coordinates, work.prior, turn)
    for j in range(turn.shape[0]):
        state.momentum[j] -= duration * turn[j]


@implements(trajectory, Crossing)
def crossing_trajectory(dynamics, target, state, work, step, n_steps):  # type: ignore[no-untyped-def]
    """Move position and momentum along a trajectory; return the energy at its end."""
    _depart(target, dynamics, state)
    _kick(target, dynamics, state, work, 0.5 * step)
    crossings = 0
    for k in range(n_steps):
        crossings += _coast(target, dynamics, state, step)
        if crossings >= MOST_CROSSINGS:
            return math.inf
        _kick(target, dynamics, state, work, step if k < n_steps - 1 else 0.5 * step)
    potential = energy(target, state.position, work)
    state.clock[3] += _apart(work.data, dynamics.scratch.gradient, dynamics.tolerance)
    return potential


@inner_borrowing_jit
def _apart(true, watched, tolerance):  # type: ignore[no-untyped-def]
    """1 where the gradients of all options and of those watched differ by more than rounding."""
    for j in range(true.shape[0]):
        if abs(true[j] - watched[j]) > tolerance:
            return 1
    return 0


@implements(longest_step, Crossing)
def _one_trajectory(dynamics, step):  # type: ignore[no-untyped-def]
    return min(step, dynamics.length)


implements(advance, Crossing)(hamiltonian_step)
