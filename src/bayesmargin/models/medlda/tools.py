"""What a chain and its threads need beside the state: tables, marks, count buffers, work space."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.foundation.threads import ThreadPool
from bayesmargin.foundation.types import IntArray
from bayesmargin.models.medlda.conditionals import make_workspace
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.expected import ExpectedTopics
from bayesmargin.models.medlda.flow import quantile_table


class Aids:
    """Quantiles of the prior of a weight, and room for the words of a minibatch."""

    def __init__(self, n_words: int, beta: float) -> None:
        self.table = quantile_table(min(beta, 0.5))
        self.marks = np.zeros(n_words, dtype=np.int8)
        self.found = np.zeros(n_words, dtype=np.int32)


class Tool:
    """What one thread needs: counts of its own and a work space that grows with the documents."""

    def __init__(self, n_words: int, n_classes: int, width: int) -> None:
        self._n_classes, self._width = n_classes, width
        self.counts = np.zeros((n_words, width), dtype=np.int32)
        self._workspace = make_workspace(n_classes, width, 1024)

    def workspace(self, longest: int) -> Any:
        """Work space for documents of at most ``longest`` words."""
        if longest > self._workspace.assigned.shape[0]:
            self._workspace = make_workspace(self._n_classes, self._width, 2 * longest)
        return self._workspace


class ToolPool(ThreadPool):
    """Threads of a minibatch, each with a :class:`Tool`."""

    elsewhere: Callable[..., tuple[Any, Any]] | None = None
    """Samples a minibatch in other processes, for documents on a cluster."""


class Minibatch(NamedTuple):
    """Documents of one step: the ``chosen`` ones stand for ``total`` of them."""

    documents: Documents
    signs: IntArray
    chosen: IntArray
    total: float
    crew: ToolPool | None = None  #: threads, where the work is cut into parts
    expected: ExpectedTopics | None = None  #: where their counts are averaged, too
