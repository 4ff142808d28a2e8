"""The documents of a fit, a minibatch at a time, the same ones for every learner."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bayesmargin.foundation.types import IntArray
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.learners import Learner
from bayesmargin.models.medlda.pace import one_pass
from bayesmargin.models.medlda.parameters import MIN_STEPS
from bayesmargin.models.medlda.tools import Minibatch, ToolPool

Rows = IntArray | slice


class Lessons:
    """Minibatches of documents, in the order of a plan.

    Parameters
    ----------
    documents : Documents
        What is learned from.
    plan : sequence of arrays
        Numbers of the documents of every step.
    meet : callable
        Notes the words of the chosen documents as known.
    """

    def __init__(
        self, documents: Any, plan: Sequence[IntArray], meet: Callable[[Any, IntArray], None]
    ) -> None:
        self.documents, self.plan, self.meet = documents, plan, meet
        self._met = 0

    def read(self, step: int) -> tuple[Documents, Rows, IntArray]:
        """Documents, the rows that they are of all, and which of them are chosen for a step."""
        for chosen in self.plan[self._met : step + 1]:  # those of a checkpoint, too
            self.meet(self.documents, chosen)
        self._met = step + 1
        return self.documents, slice(None), self.plan[step]

    def reader(
        self, learner: Learner, signs: IntArray, crew: Callable[[Learner], ToolPool | None]
    ) -> Callable[[int], Minibatch]:
        """What gives one learner, with signs of its own, its minibatches."""

        def read(step: int) -> Minibatch:
            documents, rows, chosen = self.read(step)
            expected, total = learner.posterior.expected, len(signs)
            return Minibatch(documents, signs[rows], chosen, total, crew(learner), expected)

        return read


def minibatches(
    n_documents: int,
    batch_size: int,
    n_passes: int,
    rng: np.random.Generator,
    least: int = MIN_STEPS,
) -> Iterator[IntArray]:
    """Random minibatches without replacement within a pass, ``least`` of them at least."""
    step = done = 0
    while done < n_passes or step < least:
        for chosen in one_pass(rng.permutation(n_documents), done * n_documents, batch_size):
            yield chosen
            step += 1
        done += 1
