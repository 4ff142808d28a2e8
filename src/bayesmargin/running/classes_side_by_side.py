r"""Chains of several classes that read every row together, as products of matrices.

Scores of a block of rows under two chains, :math:`X_b [W_1^\top\ W_2^\top]`, are one call of the
BLAS while the block is in the cache, several times as fast as a row after the other; of one chain
alone they would take as long. How a product rounds depends on the column. So a chain is always on
the same side of its pair, beside a stand-in of zeros if it runs alone, and its draws depend neither
on its company nor on the number of threads; nothing random is shared (:mod:`.side_by_side`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmargin.foundation.compiling import inner_jit, jit
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.hinge import still_wins, winner
from bayesmargin.priors.densities import prior_gradient
from bayesmargin.rows.layout import row_add
from bayesmargin.running.neighbour_lists import Lists, new_lists, record_with_lists
from bayesmargin.running.side_by_side import ChainInCompany, led, moved, put
from bayesmargin.targets.coordinates import pull_back, to_weights

BLOCK = 1 << 16  # numbers in a block of rows, a quarter of a megabyte
SHORTEST, LONGEST = 64, 512  # rows of a block


@inner_jit
def _add_changes(hinge, rows, first, scores, begin, data):  # type: ignore[no-untyped-def]
    """Add the changes of force of the rows from ``first`` on; their scores ``begin`` there."""
    n_classes = data.shape[0]
    for i in range(scores.shape[0]):
        d = first + i
        label, before = hinge.label[d], hinge.reference[d]
        own = scores[i][begin : begin + n_classes]
        if still_wins(hinge.margin, own, label, before):
            continue
        now = winner(hinge.margin, own, label)
        if now != before:
            row_add(rows, d, hinge.cost[d], data[now])
            row_add(rows, d, -hinge.cost[d], data[before])


@inner_jit
def _gradients(  # type: ignore[no-untyped-def]
    target, states, works, count, places, tables, data, scores
):
    """Gradient of the energy at the position of every state, to ``gradient`` of its workspace."""
    hinge, n_classes, n_columns = target.hinge, data.shape[1], data.shape[2]
    for k in range(count):
        weights = works[k].weights
        to_weights(target.coordinates, states[k].position, weights)
        pair, begin = places[k] // 2, places[k] % 2 * n_classes
        for c in range(n_classes):
            for j in range(n_columns):
                tables[pair, begin + c, j] = weights[c * n_columns + j]
                data[k, c, j] = target.drift[c * n_columns + j]
    n_rows, length = target.strata.start[-1], scores.shape[0]
    for first in range(0, n_rows, length):
        last = min(n_rows, first + length)
        block, part = target.rows.values[first:last], scores[: last - first]
        made = -1
        for k in range(count):
            pair, begin = places[k] // 2, places[k] % 2 * n_classes
            if pair != made:
                np.dot(block, tables[pair].T, part)
                made = pair
            _add_changes(hinge, target.rows, first, part, begin, data[k])
    for k in range(count):
        work, change = works[k], data[k].reshape(n_classes * n_columns)
        prior_gradient(target.prior, work.weights, work.prior)
        for j in range(change.shape[0]):
            work.data[j] = change[j]
            work.weights[j] = change[j] + work.prior[j]
        pull_back(target.coordinates, work.weights, work.gradient)


@jit
def record_classes_together(  # type: ignore[no-untyped-def]
    dynamics, target, states, works, sources, count, thin, draws, trace, places
):
    """:func:`.side_by_side.record_together` for chains of several classes.

    A chain is in pair ``places[k] // 2``, on the side of the remainder.
    """
    n_columns = target.rows.values.shape[1]
    n_classes, kind = target.drift.shape[0] // n_columns, target.rows.values.dtype
    tables = np.zeros((places[count - 1] // 2 + 1, 2 * n_classes, n_columns), kind)
    data = np.zeros((count, n_classes, n_columns))
    scores = np.zeros((min(LONGEST, max(SHORTEST, BLOCK // n_columns)), 2 * n_classes), kind)
    for n in range(draws.shape[1]):
        for _ in range(thin):
            led(dynamics, states, count)
            _gradients(target, states, works, count, places, tables, data, scores)
            if not moved(dynamics, target, states, works, sources, count, thin, n, trace):
                return n
        put(states, count, n, draws)
    return draws.shape[1]


class ClassesInCompany(ChainInCompany):
    """A chain of several classes that others of its kind can run beside."""

    period: int = 1  # steps from a pass over all rows to the next; between, lists are read
    stride: FloatArray | None = None  # farthest that a row's lead moves in a step
    lists: Lists | None = None

    @classmethod
    def recorder_of(cls, chain: Any) -> Any:
        """The compiled loop that moves chains of its kind."""
        return record_classes_together if chain.period == 1 else record_with_lists

    def take_lists(self, period: int, stride: FloatArray) -> None:
        """Look at all rows at every ``period``-th step alone."""
        self.period, self.stride = period, stride

    def known(self) -> Lists:
        """What the chain knows about its rows."""
        if self.lists is None:
            self.lists = new_lists(self.target, self.target.hinge.n_classes)
        return self.lists

    def rest(self) -> None:
        """Forget what is known about rows; the next step looks at all of them."""
        self.lists = None

    def known_now(self) -> list[Any] | None:
        """Copies of what a chain has to know that goes on from here."""
        return None if self.lists is None else [array.copy() for array in self.lists]

    def recall(self, known: Sequence[Any]) -> None:
        """Know again what :meth:`known_now` told."""
        self.lists = Lists(*known)

    @classmethod
    def places(cls, chains: Sequence[Any]) -> tuple[Any, ...]:
        """Twice the pair that every chain is in, and on which side; and lists, where there are."""
        found, pair, left = [], -1, False
        for chain in chains:
            if chain.side == 0 or not left:
                pair += 1
            left = chain.side == 0
            found.append(2 * pair + chain.side)
        first = chains[0]
        if first.period == 1:
            return (np.array(found),)
        lists = [chain.known() for chain in chains]
        padded = tuple(lists + lists[:1] * (cls.together - len(lists)))
        return np.array(found), padded, first.stride, first.period
