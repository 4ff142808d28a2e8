r"""Decisions by their costs.

The answer :math:`a` to a row costs :math:`K_{ka}` where class :math:`k` is true. The one with the
smallest expected cost :math:`\sum_k p_k K_{ka}` is given, or none where that costs more than the
price of no answer.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.decisions.checking import checked_probabilities
from bayesmargin.foundation.types import FloatArray, IntArray

NO_ANSWER = -1


@dataclass(frozen=True)
class Costs:
    """What answers cost.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_classes)
        Cost of each answer (column) where each class (row) is true, in any unit.
    no_answer : float, optional
        Price of giving none, say of asking a person; None: every row is answered.

    Examples
    --------
    A false alarm costs 1, a missed one 20, and a look by hand 2:

    >>> from bayesmargin.decisions import Costs
    >>> costs = Costs([[0, 1], [20, 0]], no_answer=2.0)
    >>> costs.decide([[0.99, 0.01], [0.8, 0.2], [0.3, 0.7]])
    array([0, 1, 1])
    >>> Costs([[0, 10], [20, 0]], no_answer=2.0).decide([[0.99, 0.01], [0.5, 0.5], [0.1, 0.9]])
    array([ 0, -1,  1])
    """

    matrix: Any
    no_answer: float | None = None

    def __post_init__(self) -> None:
        matrix = np.asarray(self.matrix, dtype=float)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
            raise ValueError(
                f"costs have the shape {matrix.shape}: they need a row for each true class and a "
                "column for each answer"
            )
        if not np.all(np.isfinite(matrix)):
            raise ValueError("costs hold a value that is not finite")
        if self.no_answer is not None and not np.isfinite(self.no_answer):
            raise ValueError(f"no_answer={self.no_answer!r} is not allowed: pass a price, or None")
        object.__setattr__(self, "matrix", matrix)

    def expected(self, probability: Any) -> FloatArray:
        """Expected cost of every answer, (row, answer)."""
        table = checked_probabilities(probability)
        if table.shape[1] != len(self.matrix):
            raise ValueError(
                f"probability has {table.shape[1]} classes, but costs have {len(self.matrix)}"
            )
        costs: FloatArray = table @ self.matrix
        return costs

    def decide(self, probability: Any) -> IntArray:
        """Number of the cheapest answer to every row, -1 where no answer is cheaper still."""
        costs = self.expected(probability)
        chosen: IntArray = costs.argmin(axis=1)
        if self.no_answer is not None:
            chosen = np.where(costs.min(axis=1) > self.no_answer, NO_ANSWER, chosen)
        return chosen

    def paid(self, answer: Any, label: Any) -> float:
        """Mean cost of answers, class numbers or -1, to rows of the given classes."""
        answer, label = np.asarray(answer), np.asarray(label)
        if self.no_answer is None and np.any(answer == NO_ANSWER):
            raise ValueError("some rows have no answer, but no_answer=None names no price for it")
        price = 0.0 if self.no_answer is None else self.no_answer
        each = np.where(answer == NO_ANSWER, price, self.matrix[label, np.maximum(answer, 0)])
        return float(each.mean())
