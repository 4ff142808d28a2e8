r"""Sets of classes that hold the true one as often as they say.

A class is in the set of a row where its probability is at least a threshold :math:`q`. Of rows with
known labels, :math:`q` leaves out the true class of a share of :math:`1 - c`, with the correction
for their number that makes :math:`c` exact on average over samples (split conformal prediction,
where rows are set aside): :math:`q` is the :math:`\lfloor (n + 1)(1 - c) \rfloor`-th smallest of
the probabilities of their true classes. Of all sets that cover, these hold fewest classes on
average. Leave-one-out probabilities need no rows set aside; the promise is then not exact, and as
good as they are.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.decisions.checking import (
    checked_labels,
    checked_probabilities,
    checked_weights,
)
from bayesmargin.foundation.arguments import require_share
from bayesmargin.foundation.types import BoolArray


@dataclass(frozen=True)
class PredictionSets:
    """A threshold of probability from which on classes are in the set.

    Attributes
    ----------
    threshold : float
    coverage : float
        Share of rows whose set holds the true class.
    """

    threshold: float
    coverage: float

    def sets(self, probability: Any, empty: bool = False) -> BoolArray:
        """Which classes are in the set of each row, (row, class).

        Where a classifier is right more often than sets are asked to be, the smallest sets have to
        be wrong sometimes: some are empty. Without ``empty`` the most probable class is always in
        the set, which then covers more.
        """
        table = checked_probabilities(probability)
        chosen: BoolArray = table >= self.threshold
        if not empty:
            chosen[np.arange(len(table)), table.argmax(axis=1)] = True
        return chosen

    @classmethod
    def at_coverage(
        cls, coverage: float, probability: Any, label: Any, weight: Any = None
    ) -> "PredictionSets":
        """The threshold that covers such a share of rows.

        Parameters
        ----------
        coverage : float
        probability : array-like of shape (n_rows, n_classes)
            Of rows that the model has not learned from, or from which each was left out.
        label : array-like of shape (n_rows,)
            Their class numbers.
        weight : array-like of shape (n_rows,), optional
            Rows that each stands for.

        Examples
        --------
        >>> import numpy as np
        >>> from bayesmargin.decisions import PredictionSets
        >>> table = np.random.default_rng(0).dirichlet(np.ones(3), 1000)
        >>> label = np.array([np.random.default_rng(i).choice(3, p=table[i]) for i in range(1000)])
        >>> found = PredictionSets.at_coverage(0.9, table[:500], label[:500])
        >>> inside = found.sets(table[500:])[np.arange(500), label[500:]]
        >>> round(inside.mean(), 1)
        0.9
        """
        require_share("coverage", coverage)
        table = checked_probabilities(probability)
        labels = checked_labels(label, table)
        weights = checked_weights(weight, len(table))
        own = table[np.arange(len(table)), labels]
        order = np.argsort(own, kind="stable")
        left_out = np.cumsum(weights[order])
        allowed = np.floor((left_out[-1] + 1.0) * (1.0 - coverage) + 1e-9)
        if allowed < 1.0:
            return cls(0.0, coverage)
        place = int(np.searchsorted(left_out, allowed - 1e-9))
        return cls(float(own[order][place]), coverage)
