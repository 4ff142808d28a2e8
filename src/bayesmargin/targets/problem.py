"""A posterior to sample: rows, costs, likelihood and prior, checked and in internal form."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.base import OneScore
from bayesmargin.likelihoods.pieces import Hinges, hinges_of
from bayesmargin.priors.moments import Belief, Prior
from bayesmargin.rows.blocks import as_dense, block_sum
from bayesmargin.rows.repeated import repeated
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
    prior : GaussianBelief, LaplaceBelief or Prior
        Prior of the weights, classes one after another.
    separate : bool
        Whether every class has a binary hinge of its own (one-vs-rest). The posterior is then the
        product :math:`\prod_k p_0(w_k) \prod_d e^{-c_d (\ell - y_{dk} x_d \cdot w_k)_+}` of
        binary ones, :math:`y_{dk} = +1` for the row's class and -1 for the others. Only wide
        problems are sampled so: one reading of a row then serves all classes.
    terms : Hinges, optional
        Sides and levels of the hinges of any other likelihood of one score (:func:`posterior_of`).
        Labels and margin say nothing then, and the rows of ``source`` and ``cost`` are those of the
        terms.
    """

    source: RowSource
    label: IntArray
    n_classes: int
    cost: FloatArray
    margin: float
    prior: Any
    separate: bool = False
    terms: Hinges | None = None

    @property
    def is_binary(self) -> bool:
        """Whether a row has one score, and a hinge in it: two classes, or terms."""
        return self.terms is not None or (self.n_classes == 2 and not self.separate)

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
    def hinges(self) -> Hinges:
        """The hinges of one score: side, level, slope and constant of every term."""
        if self.terms is not None:
            return self.terms
        zero = np.broadcast_to(np.zeros(1), self.label.shape)
        level = np.broadcast_to(np.array([float(self.margin)]), self.label.shape)
        # One byte a side: there may be billions of rows.
        side = np.where(self.label == 1, np.int8(1), np.int8(-1))
        return Hinges(side, level, zero, zero)

    @property
    def sign(self) -> IntArray:
        """Sides of the terms; of two classes the labels as -1 and +1."""
        return self.hinges.side

    def slack(self, span: slice, scores: FloatArray) -> FloatArray:
        """Slack of the terms of a block at their scores (one score a row only)."""
        return self.hinges.level[span] - self.hinges.side[span] * scores

    def forces(self, span: slice, share: Any) -> FloatArray:
        """Derivative of a block's energies in their scores, hinges active with a given share."""
        force = -self.cost[span] * self.hinges.side[span] * share
        return force + self.cost[span] * self.hinges.slope[span] if self.hinges.tilted else force

    @cached_property
    def tilt(self) -> FloatArray:
        """Gradient in the weights of the energy's linear part, which no hinge shows."""
        total = np.zeros(self.n_weights)
        if self.is_binary and self.hinges.tilted:
            for span, block in self.source.blocks():
                block_sum(block, self.cost[span] * self.hinges.slope[span], total)
        return total

    def part(self, source: RowSource, index: IntArray, factor: float) -> "Problem":
        """The same likelihood and prior on some of the rows, their costs times a factor."""
        return replace(
            self,
            source=source,
            label=self.label[index] if self.label.size else self.label,
            cost=self.cost[index] * factor,
            terms=None if self.terms is None else self.terms.take(index),
        )


def posterior_of(
    likelihood: OneScore, source: RowSource, y: FloatArray, cost: FloatArray, prior: Belief | Prior
) -> Problem:
    r"""Posterior :math:`\propto p_0(w) \prod_d e^{-c_d\,\phi(x_d \cdot w, y_d)}`, one score a row.

    Parameters
    ----------
    likelihood : OneScore
        Gives the loss :math:`\phi`.
    source : RowSource
        Design rows, the constant column of the intercept included.
    y : array of shape (n_rows,)
        Targets.
    cost : array of shape (n_rows,)
        Weight ``C`` times the row's sample weight.
    prior : GaussianBelief, LaplaceBelief or Prior
        Prior of the weights.
    """
    pieces = likelihood.pieces(np.asarray(y, dtype=float))
    terms, costs = hinges_of(pieces, cost)
    return Problem(
        source=repeated(source, len(pieces.jumps)),
        label=np.zeros(0, dtype=np.int8),
        n_classes=2,
        cost=costs,
        margin=0.0,
        prior=prior,
        terms=terms,
    )


def slacks(problem: Problem, weights: FloatArray) -> FloatArray:
    """Slack of every row (last axis) at each of some weights (rows of a matrix)."""
    problem.require_one_hinge()
    draws = np.atleast_2d(weights)
    result = np.empty((len(draws), problem.source.n_rows))
    for span, block in problem.source.blocks():
        values = as_dense(block, problem.source.n_columns)
        if problem.is_binary:
            result[:, span] = problem.slack(span, draws @ values.T)
            continue
        scores = draws.reshape(len(draws), problem.n_classes, -1) @ values.T
        label = problem.label[span][None, None]
        own = np.take_along_axis(scores, label, axis=1)[:, 0]
        np.put_along_axis(scores, label, -np.inf, axis=1)
        result[:, span] = problem.margin + scores.max(axis=1) - own
    return result
