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
pass over the rows for every kink crossed, of which there are the fewer the sharper they are.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.compiling import borrowing_jit, implements
from bayesmargin.coordinates import n_positions, pull_back, to_weights, weights_from
from bayesmargin.priors import prior_gradient
from bayesmargin.rows.layout import row_add, row_dot
from bayesmargin.samplers.hamiltonian import (
    Hamiltonian,
    energy_in_reach,
    hamiltonian_step,
    longest_step,
    trajectory,
)
from bayesmargin.state import advance
from bayesmargin.target import BinaryHinge, MulticlassHinge, Target
from bayesmargin.types import FloatArray, IntArray

MOST_CROSSINGS = 5000  # of one trajectory; as many on the way back, so that refusing it is fair


class Crossing(NamedTuple):
    """Compiled form of :class:`bayesmargin.samplers.SubgradientHMC` with ``crossing=True``.

    The first five are those of :class:`.hamiltonian.Hamiltonian`. The others are scratch arrays of
    one chain: ``value``, ``slope`` and ``bend`` (row, option) of every option's parabola, the
    ``winning`` option of every row, ``origin`` the weights at position zero, ``change`` and
    ``moved`` of the length of weights, ``force`` (minus :math:`F`) and ``turn`` of positions.
    """

    length: float
    n_steps: int
    jitter: float
    radius: float
    target_acceptance: float
    value: FloatArray
    slope: FloatArray
    bend: FloatArray
    winning: IntArray
    origin: FloatArray
    change: FloatArray
    moved: FloatArray
    force: FloatArray
    turn: FloatArray


def crossing_dynamics(target: Target, like: Hamiltonian) -> Crossing:
    """Dynamics of one chain on ``target`` with the settings of ``like``."""
    n_weights = target.drift.shape[0]
    size = n_positions(target.coordinates, n_weights)
    shape = int(target.strata.start[-1]), getattr(target.hinge, "n_classes", 2)
    return Crossing(
        like.length,
        like.n_steps,
        like.jitter,
        like.radius,
        like.target_acceptance,
        value=np.zeros(shape),
        slope=np.zeros(shape),
        bend=np.zeros(shape),
        winning=np.zeros(shape[0], dtype=np.int64),
        origin=np.array(weights_from(target.coordinates, np.zeros(size)), dtype=float),
        change=np.zeros(n_weights),
        moved=np.zeros(n_weights),
        force=np.zeros(size),
        turn=np.zeros(size),
    )


def add_options(hinge: Any, rows: Any, d: int, weights: FloatArray, fixed: float, out: Any) -> None:
    """Add the options of row ``d``, linear in ``weights`` but for ``fixed`` constants (generic)."""
    raise TypeError(f"{type(hinge).__name__} is not a hinge")


def add_swing(hinge: Any, rows: Any, d: int, before: int, now: int, data: FloatArray) -> None:
    """Add the change of the energy's gradient when another option of row ``d`` wins (generic)."""
    raise TypeError(f"{type(hinge).__name__} is not a hinge")


def first_winner(hinge: Any, d: int, values: FloatArray) -> int:
    """The winning option of row ``d`` (generic)."""
    raise TypeError(f"{type(hinge).__name__} is not a hinge")


@implements(add_options, BinaryHinge, borrows=True)
def _binary_options(hinge, rows, d, weights, fixed, out):  # type: ignore[no-untyped-def]
    out[1] += fixed * hinge.slack[d] - hinge.sign[d] * row_dot(rows, d, weights)


@implements(add_swing, BinaryHinge, borrows=True)
def _binary_swing(hinge, rows, d, before, now, data):  # type: ignore[no-untyped-def]
    row_add(rows, d, -hinge.cost[d] * hinge.sign[d] * (now - before), data)


@implements(first_winner, BinaryHinge, borrows=True)
def _binary_winner(hinge, d, values):  # type: ignore[no-untyped-def]
    return 1 if values[1] > 0.0 else 0


@implements(add_options, MulticlassHinge, borrows=True)
def _multiclass_options(hinge, rows, d, weights, fixed, out):  # type: ignore[no-untyped-def]
    length = weights.shape[0] // hinge.n_classes
    for k in range(hinge.n_classes):
        margin = fixed * hinge.margin if k != hinge.label[d] else 0.0
        out[k] += row_dot(rows, d, weights[k * length : (k + 1) * length]) + margin


@implements(add_swing, MulticlassHinge, borrows=True)
def _multiclass_swing(hinge, rows, d, before, now, data):  # type: ignore[no-untyped-def]
    length = data.shape[0] // hinge.n_classes
    row_add(rows, d, hinge.cost[d], data[now * length : (now + 1) * length])
    row_add(rows, d, -hinge.cost[d], data[before * length : (before + 1) * length])


@implements(first_winner, MulticlassHinge, borrows=True)
def _multiclass_winner(hinge, d, values):  # type: ignore[no-untyped-def]
    best = hinge.label[d]
    for k in range(values.shape[0]):
        if values[k] > values[best]:
            best = k
    return best


@borrowing_jit
def crossing_time(gap, speed, pull):  # type: ignore[no-untyped-def]
    """When ``gap + speed t + pull t^2 / 2``, at most zero now, rises through zero; infinity: never.

    Examples
    --------
    >>> from bayesmargin.samplers.crossing import crossing_time
    >>> crossing_time(-2.0, 1.0, 2.0), crossing_time(0.0, -3.0, 2.0), crossing_time(-1.0, 1.0, -1.0)
    (1.0, 3.0, inf)
    """
    inside = speed * speed - 2.0 * gap * pull
    if inside < 0.0:
        return math.inf
    root = math.sqrt(inside)
    if speed > 0.0:
        return -2.0 * gap / (speed + root)
    return (root - speed) / pull if pull > 0.0 else math.inf


@borrowing_jit
def _fill(target, dynamics, table, fixed):  # type: ignore[no-untyped-def]
    """Options of all rows at the weights ``dynamics.moved``."""
    for d in range(table.shape[0]):
        for k in range(table.shape[1]):
            table[d, k] = 0.0
        add_options(target.hinge, target.rows, d, dynamics.moved, fixed, table[d])


@borrowing_jit
def _directed(target, dynamics, positions):  # type: ignore[no-untyped-def]
    """Write the weights that a move by ``positions`` adds to ``dynamics.moved``."""
    to_weights(target.coordinates, positions, dynamics.moved)
    for j in range(dynamics.moved.shape[0]):
        dynamics.moved[j] -= dynamics.origin[j]


@borrowing_jit
def _depart(target, dynamics, state):  # type: ignore[no-untyped-def]
    """Set up force and parabolas at the position and momentum of ``state``."""
    value, change, force = dynamics.value, dynamics.change, dynamics.force
    to_weights(target.coordinates, state.position, dynamics.moved)
    _fill(target, dynamics, value, 1.0)
    for j in range(change.shape[0]):
        change[j] = target.drift[j]
    for d in range(value.shape[0]):
        now, before = first_winner(target.hinge, d, value[d]), target.hinge.reference[d]
        dynamics.winning[d] = now
        if now != before:
            add_swing(target.hinge, target.rows, d, before, now, change)
    pull_back(target.coordinates, change, force)
    _directed(target, dynamics, state.momentum)
    _fill(target, dynamics, dynamics.slope, 0.0)
    for j in range(force.shape[0]):
        dynamics.turn[j] = -force[j]
    _directed(target, dynamics, dynamics.turn)
    _fill(target, dynamics, dynamics.bend, 0.0)


@borrowing_jit
def _next_crossing(dynamics, soonest):  # type: ignore[no-untyped-def]
    """Time, row and option of the next crossing; row -1 where there is none before ``soonest``."""
    value, slope, bend, winning = dynamics.value, dynamics.slope, dynamics.bend, dynamics.winning
    row, option = -1, 0
    for d in range(value.shape[0]):
        best = winning[d]
        height, speed, pull = value[d, best], slope[d, best], bend[d, best]
        for k in range(value.shape[1]):
            if k == best:
                continue
            gap, rate, curve = value[d, k] - height, slope[d, k] - speed, bend[d, k] - pull
            if gap + soonest * (max(rate, 0.0) + 0.5 * soonest * max(curve, 0.0)) < 0.0:
                continue
            time = crossing_time(min(gap, 0.0), rate, curve)
            if time < soonest:
                soonest, row, option = time, d, k
    return soonest, row, option


@borrowing_jit
def _move(dynamics, state, time):  # type: ignore[no-untyped-def]
    """Let ``time`` pass without a crossing."""
    position, momentum, force = state.position, state.momentum, dynamics.force
    value, slope, bend = dynamics.value, dynamics.slope, dynamics.bend
    for j in range(position.shape[0]):
        position[j] += time * (momentum[j] - 0.5 * time * force[j])
        momentum[j] -= time * force[j]
    for d in range(value.shape[0]):
        for k in range(value.shape[1]):
            value[d, k] += time * (slope[d, k] + 0.5 * time * bend[d, k])
            slope[d, k] += time * bend[d, k]


@borrowing_jit
def flow(target, dynamics, state, duration):  # type: ignore[no-untyped-def]
    """Exact motion under the hinge alone; returns the number of kinks crossed."""
    change, force, turn = dynamics.change, dynamics.force, dynamics.turn
    _depart(target, dynamics, state)
    crossings = 0
    while crossings < MOST_CROSSINGS:
        time, row, option = _next_crossing(dynamics, duration)
        _move(dynamics, state, time)
        if row < 0:
            return crossings
        duration -= time
        crossings += 1
        before = dynamics.winning[row]
        dynamics.winning[row] = option
        dynamics.value[row, option] = dynamics.value[row, before]
        for j in range(change.shape[0]):
            change[j] = 0.0
        add_swing(target.hinge, target.rows, row, before, option, change)
        pull_back(target.coordinates, change, turn)
        for j in range(turn.shape[0]):
            force[j] += turn[j]
            turn[j] = -turn[j]
        _directed(target, dynamics, turn)
        for d in range(dynamics.bend.shape[0]):
            add_options(target.hinge, target.rows, d, dynamics.moved, 0.0, dynamics.bend[d])
    return crossings


@borrowing_jit
def _kick(target, dynamics, state, work, duration):  # type: ignore[no-untyped-def]
    """Let the prior's force act on the momentum alone."""
    to_weights(target.coordinates, state.position, work.weights)
    prior_gradient(target.prior, work.weights, work.prior)
    pull_back(target.coordinates, work.prior, dynamics.turn)
    for j in range(dynamics.turn.shape[0]):
        state.momentum[j] -= duration * dynamics.turn[j]


@implements(trajectory, Crossing)
def crossing_trajectory(dynamics, target, state, work, step, n_steps):  # type: ignore[no-untyped-def]
    """Move position and momentum along a trajectory; return the energy at its end."""
    _kick(target, dynamics, state, work, 0.5 * step)
    crossings = 0
    for k in range(n_steps):
        crossings += flow(target, dynamics, state, step)
        if crossings >= MOST_CROSSINGS:
            return math.inf
        _kick(target, dynamics, state, work, step if k < n_steps - 1 else 0.5 * step)
    return energy_in_reach(target, state.position, dynamics.radius, work)


@implements(longest_step, Crossing)
def _one_trajectory(dynamics, step):  # type: ignore[no-untyped-def]
    return min(step, dynamics.length)


implements(advance, Crossing)(hamiltonian_step)
