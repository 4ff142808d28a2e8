r"""Sweeps over groups of components, side by side: the same posterior, on several cores.

Give every component k a label :math:`u_k`, uniform over G groups and independent of all else. With
the labels the prior of a partition is

.. math:: \frac{\Gamma(\alpha_0)}{\Gamma(\alpha_0 + D)} \prod_k \frac{\alpha_0}{G}\,\Gamma(n_k)

and falls into a product over groups: given which rows a group holds, each is a mixture of its own
with concentration :math:`\alpha_0 / G`, and knows nothing of the others. So every row can be
visited among the components of its group alone, the groups beside each other in threads, and that
leaves the posterior of partition and labels as it is. Components born on the way have the label of
their group. Before the next sweep all labels are drawn anew, which is their conditional law.

This is the parallel sampler of Lovell, Adams and Mansinghka (2012) and of Williamson, Dubey and
Xing (2013), with labels that need no Metropolis test since groups are equally likely. A row meets a
given other component in one of G sweeps; what is saved in time is paid for in such meetings.
"""

import time
from concurrent.futures import Executor
from typing import Any

import numpy as np

from bayesmargin.foundation.compiling import DirectCaller, borrowing_jit
from bayesmargin.foundation.types import IntArray
from bayesmargin.models.infinite_svc.assignments import begin_sweep, visit_rows
from bayesmargin.models.infinite_svc.state import Components, Mixture
from bayesmargin.models.infinite_svc.weighing import Work, make_work


@borrowing_jit
def begin_groups(mixture: Mixture) -> None:
    """What belongs before a sweep, whatever the groups."""
    begin_sweep(mixture)


@borrowing_jit
def visit_group(
    rng: np.random.Generator,
    visits: IntArray,
    begin: int,
    mixture: Mixture,
    concentration: float,
    scheme: int,
    work: Work,
) -> tuple[int, int]:
    """Visit the rows of one group among its components."""
    return visit_rows(rng, visits, begin, mixture, concentration, scheme, work)


class GroupedSweep:
    """One sweep over the rows, group by group; it may pause to be given more slots."""

    def __init__(
        self, rng: np.random.Generator, mixture: Mixture, visits: IntArray, n_groups: int
    ) -> None:
        components = mixture.components
        used = components.order[: components.size[0]]
        self._labels = np.zeros(len(components.order), np.int64)
        self._labels[used] = rng.integers(n_groups, size=len(used))
        seeds = rng.integers(2**63, size=(n_groups, 2))
        self._generators = [np.random.default_rng(seed) for seed in seeds]
        group = self._labels[mixture.assignment.slot[visits]]
        self._visits = [visits[group == g] for g in range(n_groups)]
        self._places = [0] * n_groups
        self.seconds = 0.0  #: processor time of other threads

    @property
    def done(self) -> bool:
        """Whether all rows have been visited."""
        return all(p == len(v) for p, v in zip(self._places, self._visits, strict=True))

    def go_on(
        self,
        call: DirectCaller,
        mixture: Mixture,
        concentration: float,
        scheme: int,
        empty: Components,
        pool: Executor | None,
    ) -> int:
        """Visit rows until all are done or a group has no free slot; return how many moved.

        At the end the slots of all groups are one list again, those in use first.
        """
        components, n_groups = mixture.components, len(self._visits)
        self._labels.resize(len(components.order), refcheck=False)  # slots may have been added
        used = components.order[: components.size[0]]
        orders = deal_slots(components.order, len(used), self._labels[used], n_groups)
        parts = [
            components._replace(order=order, size=np.array([np.sum(self._labels[used] == g)]))
            for g, order in enumerate(orders)
        ]
        share = concentration / n_groups

        def visit(g: int) -> tuple[int, int, float]:
            begin = time.thread_time()
            work = make_work(components, max(scheme, 1), empty)
            part = mixture._replace(components=parts[g])
            arguments = (self._visits[g], self._places[g], part, share, scheme, work)
            place, moved = call(visit_group, self._generators[g], *arguments)
            return place, moved, time.thread_time() - begin

        waiting = [g for g in range(n_groups) if self._places[g] < len(self._visits[g])]
        results: Any = pool.map(visit, waiting) if pool is not None else map(visit, waiting)
        moved = 0
        for g, (place, change, seconds) in zip(waiting, results, strict=True):
            self._places[g] = place
            moved += change
            self.seconds += seconds if pool is not None else 0.0
        sizes = [int(part.size[0]) for part in parts]
        for g, (order, size) in enumerate(zip(orders, sizes, strict=True)):
            self._labels[order[:size]] = g
        in_use = [order[:size] for order, size in zip(orders, sizes, strict=True)]
        free = [order[size:] for order, size in zip(orders, sizes, strict=True)]
        components.order[:] = np.concatenate(in_use + free)
        components.size[0] = sum(sizes)
        return moved


def deal_slots(order: IntArray, n_used: int, labels: IntArray, n_groups: int) -> list[IntArray]:
    """Slots of each group: of those in use its own, by their ``labels``, and free ones in turn.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.infinite_svc.groups import deal_slots
    >>> deal_slots(np.array([4, 2, 0, 1, 3, 5]), 3, np.array([0, 1, 0]), 2)
    [array([4, 0, 1, 5]), array([2, 3])]
    """
    used, free = order[:n_used], order[n_used:]
    return [np.concatenate([used[labels == g], free[g::n_groups]]) for g in range(n_groups)]
