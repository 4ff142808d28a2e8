"""One pass over the rows at the anchor: their states, how far the kinks are, and the gradient."""

from typing import NamedTuple

import numpy as np

from bayesmargin.anchor.binary import slack_moments
from bayesmargin.anchor.gaussian import GaussianAnchor
from bayesmargin.anchor.multiclass import option_moments
from bayesmargin.beliefs import normal_density
from bayesmargin.problem import Problem
from bayesmargin.types import FloatArray, IntArray


class RowStates(NamedTuple):
    """States of all rows at the anchor.

    ``slack`` (binary only), ``reference`` (active or not; the winning option), ``distance`` of the
    nearest kink in posterior standard deviations, ``reach`` (length of a contribution in whitened
    coordinates), and ``drift``, the gradient of the hinge energy over all rows, in weights.
    """

    slack: FloatArray
    reference: IntArray
    distance: FloatArray
    reach: FloatArray
    drift: FloatArray

    def roughness(self) -> float:
        """How far the energy is from smooth on the scale of the posterior.

        The curvature of the anchor is a sum over kinks; this is their mean jump in force, in
        whitened coordinates. Below 0.3 many rows share the curvature and it acts like a smooth
        one; above one, single rows make corners that a large step cuts.
        """
        share = normal_density(self.distance) * self.reach
        total = float(share.sum())
        return float(share @ self.reach) / total if total > 0.0 else 0.0


def row_states(problem: Problem, anchor: GaussianAnchor) -> RowStates:
    """States of all rows of a problem at its anchor."""
    if problem.is_binary:
        return _binary_states(problem, anchor)
    return _multiclass_states(problem, anchor)


def _binary_states(problem: Problem, anchor: GaussianAnchor) -> RowStates:
    n_rows = problem.source.n_rows
    slack, deviation = np.empty(n_rows), np.empty(n_rows)
    drift = np.zeros(problem.n_weights)
    for span, values in problem.source.blocks():
        slack[span], deviation[span] = slack_moments(problem, span, values, anchor)
        active = slack[span] > 0.0
        drift -= (problem.cost[span] * problem.sign[span] * active) @ values
    reference = (slack > 0.0).astype(np.int64)
    return RowStates(slack, reference, slack / deviation, problem.cost * deviation, drift)


def _multiclass_states(problem: Problem, anchor: GaussianAnchor) -> RowStates:
    n_rows, n_classes = problem.source.n_rows, problem.n_classes
    reference = np.empty(n_rows, dtype=np.int64)
    distance, reach = np.empty(n_rows), np.empty(n_rows)
    drift = np.zeros((n_classes, problem.source.n_columns))
    for span, values in problem.source.blocks():
        options, deviation = option_moments(problem, span, values, anchor)
        rows = np.arange(len(options))
        # The label's own option comes first among equals: a hinge of zero counts as inactive.
        label = problem.label[span]
        options[rows, label] = np.nextafter(options[rows, label], np.inf)
        best = options.argmax(axis=1)
        reference[span] = best
        gap = options[rows, best][:, None] - options
        width = deviation[rows, best][:, None] + deviation
        ratio = gap / width
        ratio[rows, best] = np.inf
        distance[span] = ratio.min(axis=1)
        reach[span] = problem.cost[span] * width.min(axis=1)
        push = np.zeros_like(options)
        push[rows, best] += problem.cost[span]
        push[rows, label] -= problem.cost[span]
        drift += push.T @ values
    return RowStates(np.empty(0), reference, distance, reach, drift.ravel())
