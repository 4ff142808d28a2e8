"""A posterior to sample: rows, labels, costs, margin and prior, checked and in internal form."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import Belief
from bayesmargin.rows.blocks import as_dense
from bayesmargin.rows.source import RowSource


@dataclass(frozen=True)
class Problem:
    r"""Posterior :math:`\propto p_0(w) \prod_d e^{-c_d (\zeta_d)_+}` of a linear max-margin model.

    Parameters
    ----------
    source : RowSource
        Design rows, the constant column of the intercept included.
    label : array of shape (n_rows,)
        Class of each row, from 0. Two classes are the binary model, in which class 1 has sign +1.
    n_classes : int
        Number of classes.
    cost : array of shape (n_rows,)
        Weight ``C`` of the hinge times the row's sample weight.
    margin : float
        The margin that a score should reach.
    prior : GaussianBelief or LaplaceBelief
        Prior of the weights, classes one after another.
    separate : bool
        Whether every class has a binary hinge of its own (one-vs-rest). The posterior is then the
        product :math:`\prod_k p_0(w_k) \prod_d e^{-c_d (\ell - y_{dk} x_d \cdot w_k)_+}` of
        binary ones, :math:`y_{dk} = +1` for the row's class and -1 for the others. Only wide
        problems are sampled so: one reading of a row then serves all classes.
    """

    source: RowSource
    label: IntArray
    n_classes: int
    cost: FloatArray
    margin: float
    prior: Belief
    separate: bool = False

    @property
    def is_binary(self) -> bool:
        """Whether one weight vector serves two classes."""
        return self.n_classes == 2 and not self.separate

    def require_one_hinge(self) -> None:
        """Raise an error if every class has a hinge of its own, for code that knows none of it."""
        if self.separate:
            raise ValueError(
                "a hinge for every class is sampled in one go for wide rows only: make a problem "
                "of two classes for each class"
            )

    @property
    def n_blocks(self) -> int:
        """Number of weight vectors: one for two classes, else one a class."""
        return 1 if self.is_binary else self.n_classes

    @property
    def n_weights(self) -> int:
        """Number of weights, intercepts included."""
        return self.n_blocks * self.source.n_columns

    @cached_property
    def sign(self) -> IntArray:
        """Labels as -1 and +1 (two classes), one byte each: there may be billions of rows."""
        return np.where(self.label == 1, np.int8(1), np.int8(-1))


def slacks(problem: Problem, weights: FloatArray) -> FloatArray:
    """Slack of every row (last axis) at each of some weights (rows of a matrix)."""
    problem.require_one_hinge()
    draws = np.atleast_2d(weights)
    result = np.empty((len(draws), problem.source.n_rows))
    for span, block in problem.source.blocks():
        values = as_dense(block, problem.source.n_columns)
        if problem.is_binary:
            result[:, span] = problem.margin - problem.sign[span] * (draws @ values.T)
            continue
        scores = draws.reshape(len(draws), problem.n_classes, -1) @ values.T
        label = problem.label[span][None, None]
        own = np.take_along_axis(scores, label, axis=1)[:, 0]
        np.put_along_axis(scores, label, -np.inf, axis=1)
        result[:, span] = problem.margin + scores.max(axis=1) - own
    return result
