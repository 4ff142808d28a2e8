r"""Chains that read every row together, for steps that all rows in reach take part in.

A step over tens of thousands of rows of some hundred features is bound by memory: four chains that
each stream the rows by themselves wait four times. Here a few rows are fetched once and multiplied
with the weights of all chains of a thread while they are in the innermost cache. Nothing random is
shared: gradients are exact, and noise comes from each chain's own generator. Rows that hardly ever
cross their kink, about half, may be read in turns: a quarter at every step, which then stands for
all four. The noise of that is bounded beforehand (:func:`.screening.in_turns`).

Chains are taken two by two, an odd one with a stand-in, so that the draws of a chain do not depend
on which others it runs beside, nor on the number of threads.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from bayesmargin.dynamics.base import follow, lead
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.priors.densities import prior_gradient
from bayesmargin.rows.layout import row_add, row_dot
from bayesmargin.rows.products import eight_products
from bayesmargin.running.chains import FARTHEST, TRACE_NAMES, Chain
from bayesmargin.targets.base import space_of
from bayesmargin.targets.coordinates import pull_back, to_weights

GROUP = 4  # chains that one thread moves together, at most
TURNS = 4  # steps in which rows far from their kinks are read once


@inner_jit
def _add_if_changed(hinge, rows, d, score, times, data):  # type: ignore[no-untyped-def]
    """Add a row's change of force so many times, if its state is not that of the reference."""
    slack = hinge.slack[d] - hinge.sign[d] * score
    change = (1 if slack > 0.0 else 0) - hinge.reference[d]
    if change != 0:
        row_add(rows, d, -times * hinge.cost[d] * change * hinge.sign[d], data)


@inner_jit
def _add_rows(hinge, rows, begin, end, times, working, data):  # type: ignore[no-untyped-def]
    """Add rows' changes of force at every line of ``working`` to that line of ``data``."""
    values = rows.values
    zero, n_pairs = values.dtype.type(0.0), working.shape[0] // 2
    last = begin + (end - begin) // 4 * 4
    for d in range(begin, last, 4):
        one, two, three, four = values[d], values[d + 1], values[d + 2], values[d + 3]
        for p in range(n_pairs):
            k = 2 * p
            a, b, c, e, f, g, h, i = eight_products(
                one, two, three, four, working[k], working[k + 1], zero
            )
            _add_if_changed(hinge, rows, d, a, times, data[k])
            _add_if_changed(hinge, rows, d + 1, b, times, data[k])
            _add_if_changed(hinge, rows, d + 2, c, times, data[k])
            _add_if_changed(hinge, rows, d + 3, e, times, data[k])
            _add_if_changed(hinge, rows, d, f, times, data[k + 1])
            _add_if_changed(hinge, rows, d + 1, g, times, data[k + 1])
            _add_if_changed(hinge, rows, d + 2, h, times, data[k + 1])
            _add_if_changed(hinge, rows, d + 3, i, times, data[k + 1])
    for d in range(last, end):
        for k in range(working.shape[0]):
            _add_if_changed(hinge, rows, d, row_dot(rows, d, working[k]), times, data[k])


@inner_jit
def _gradients(target, states, works, count, near, working, data):  # type: ignore[no-untyped-def]
    """Gradient of the energy at the position of every state, to ``gradient`` of its workspace."""
    size = target.drift.shape[0]
    for k in range(count):
        weights = works[k].weights
        to_weights(target.coordinates, states[k].position, weights)
        for j in range(size):
            working[k, j] = weights[j]
            data[k, j] = target.drift[j]
    hinge, rows, n_rows = target.hinge, target.rows, target.strata.start[-1]
    _add_rows(hinge, rows, 0, near, 1.0, working, data)
    if near < n_rows:
        begin, end = turn(near, n_rows, states[0].clock[0])
        _add_rows(hinge, rows, begin, end, (n_rows - near) / (end - begin), working, data)
    for k in range(count):
        work = works[k]
        prior_gradient(target.prior, work.weights, work.prior)
        for j in range(size):
            work.data[j] = data[k, j]
            work.weights[j] = data[k, j] + work.prior[j]
        pull_back(target.coordinates, work.weights, work.gradient)


@inner_jit
def turn(near, n_rows, clock):  # type: ignore[no-untyped-def]
    """Which of the rows from ``near`` on are read at a step."""
    which, count = clock % TURNS, n_rows - near
    return near + which * count // TURNS, near + (which + 1) * count // TURNS


@inner_jit
def led(dynamics, states, count):  # type: ignore[no-untyped-def]
    """Move some states to where their gradients are wanted."""
    for k in range(count):
        lead(dynamics, states[k])


@inner_jit
def moved(dynamics, target, states, works, sources, count, thin, n, trace):  # type: ignore[no-untyped-def]
    """Let states follow their gradients, tracing draw ``n``; whether all of them stayed finite."""
    for k in range(count):
        state = states[k]
        follow(dynamics, state, space_of(target), works[k], sources[k])
        state.clock[0] += 1
        square, kinetic = 0.0, 0.0
        for j in range(state.position.shape[0]):
            square += state.position[j] * state.position[j]
            kinetic += state.momentum[j] * state.momentum[j]
        if not square < FARTHEST:
            return False
        trace[k, n, 0] += kinetic / (thin * state.position.shape[0])
        trace[k, n, 1] += state.friction[0] / thin
        trace[k, n, 2] = max(trace[k, n, 2], np.sqrt(square))
    return True


@inner_jit
def put(states, count, n, draws):  # type: ignore[no-untyped-def]
    """Write the positions of some states down as draw ``n``."""
    for k in range(count):
        position = states[k].position
        for j in range(position.shape[0]):
            draws[k, n, j] = position[j]


@jit
def record_together(  # type: ignore[no-untyped-def]
    dynamics, target, states, works, sources, count, thin, draws, trace, near
):
    """:func:`.chains.record` for the first ``count`` of some chains, all with exact gradients.

    Of the rows from ``near`` on a part is read at every step.
    """
    lines, size = count + count % 2, target.drift.shape[0]
    working = np.zeros((lines, size), target.rows.values.dtype)
    data = np.zeros((lines, size))
    for n in range(draws.shape[1]):
        for _ in range(thin):
            led(dynamics, states, count)
            _gradients(target, states, works, count, near, working, data)
            if not moved(dynamics, target, states, works, sources, count, thin, n, trace):
                return n
        put(states, count, n, draws)
    return draws.shape[1]


class ChainInCompany(Chain):
    """A chain that others of its kind can run beside."""

    together: ClassVar[int] = GROUP
    side: int = 0  # of a pair, on which it always is
    near: int | None = None  # rows that are read at every step, the first ones; None: all

    @classmethod
    def recorder_of(cls, chain: Any) -> Any:
        """The compiled loop that moves chains of its kind."""
        return record_together

    @classmethod
    def places(cls, chains: Sequence[Any]) -> tuple[Any, ...]:
        """What else the recorder is told of the chains."""
        n_rows = int(chains[0].target.strata.start[-1])
        return (n_rows if chains[0].near is None else chains[0].near,)

    def run(self, n_draws: int, thin: int) -> None:
        """Append ``n_draws`` draws, ``thin`` iterations apart."""
        self.run_together([self], n_draws, thin)

    @classmethod
    def run_together(cls, chains: Sequence[Any], n_draws: int, thin: int) -> None:
        """Append as many draws to every one of the chains, at most :data:`GROUP` of them."""
        first, count = chains[0], len(chains)
        padded = [*chains, *([first] * (GROUP - count))]
        draws = np.empty((count, n_draws, first.state.position.shape[0]))
        trace = np.zeros((count, n_draws, len(TRACE_NAMES)))
        done = cls.recorder_of(first)(
            first.dynamics,
            first.target,
            tuple(chain.state for chain in padded),
            tuple(chain.work for chain in padded),
            tuple(chain.rng for chain in padded),
            count,
            thin,
            draws,
            trace,
            *cls.places(chains),
        )
        if done < n_draws:
            raise DivergenceError(
                f"a chain diverged after {int(first.state.clock[0])} iterations with "
                f"{first.dynamics}; choose a smaller step, or leave the step out"
            )
        for chain, made, traced in zip(chains, draws, trace, strict=True):
            chain.draws.append(made)
            chain.trace.append(traced)
