"""One pass over the rows at the anchor: their states, how far the kinks are, and the gradient."""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.approximation.binary import CERTAIN, SlackMoments
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.options import OptionMoments
from bayesmargin.approximation.screening import roughness
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.priors.moments import normal_density
from bayesmargin.rows.blocks import block_sum, narrow_blas
from bayesmargin.rows.files import FileSource
from bayesmargin.targets.problem import Problem

WAY = 1.2  # of a trajectory in any direction: 1.5, which it lasts, times the mean of |N(0, 1)|


class RowStates(NamedTuple):
    """States at the anchor of the rows ``place``, those whose kink is in reach.

    ``slack`` (binary only), ``reference`` (active or not; the winning option), ``distance`` of the
    nearest kink in posterior standard deviations, ``reach`` (length of a contribution in whitened
    coordinates), and ``drift``, the gradient of the hinge energy over *all* rows, in weights.
    Nothing is stored for the other rows, of which there may be billions. ``rows`` holds the rows
    themselves where they come from a file, which need not be read once more for them.
    """

    place: IntArray
    slack: FloatArray
    reference: IntArray
    distance: FloatArray
    reach: FloatArray
    drift: FloatArray
    rows: Any = None

    def ordered(self, order: IntArray) -> "RowStates":
        """The states of some of the rows, in a given order."""
        return RowStates(
            self.place[order],
            self.slack[order] if self.slack.size else self.slack,
            self.reference[order],
            self.distance[order],
            self.reach[order],
            self.drift,
            None if self.rows is None else self.rows[order],
        )

    def roughness(self) -> float:
        """How far the energy is from smooth; see :func:`.screening.roughness`."""
        return roughness(self.distance, self.reach)

    def crossings(self) -> float:
        """Kinks that a trajectory of HMC crosses, about: its way times their densities."""
        return WAY * float(normal_density(self.distance).sum())


def row_states(problem: Problem, anchor: GaussianAnchor, radius: float | None = None) -> RowStates:
    """States of the rows whose kinks lie within ``radius`` of the anchor (None: of all rows)."""
    if problem.source.n_rows == 0:  # the station of a posterior that no kink is in reach of
        none, nothing = np.zeros(0, dtype=np.int64), np.zeros(0)
        return RowStates(none, nothing, none, nothing, nothing, np.zeros(problem.n_weights))
    with narrow_blas(problem.source.n_columns):
        if problem.is_binary:
            return _binary_states(problem, anchor, radius)
        return _multiclass_states(problem, anchor, radius)


def _binary_states(problem: Problem, anchor: GaussianAnchor, radius: float | None) -> RowStates:
    drift = np.zeros(problem.n_weights)
    moments = SlackMoments(problem, anchor, None if radius is None else CERTAIN)
    keep = radius is not None and isinstance(problem.source, FileSource)
    parts, rows = [], []
    for span, values in problem.source.blocks():
        centre, near, _, deviation = moments(span, values)
        block_sum(values, problem.forces(span, centre > 0.0), drift)
        distance, width = np.full(len(centre), np.inf), np.zeros(len(centre))
        distance[near], width[near] = centre[near] / deviation, deviation
        kept = np.arange(len(centre)) if radius is None else near[abs(distance[near]) < radius]
        reach = problem.cost[span][kept] * width[kept]
        parts.append((span.start + kept, centre[kept], distance[kept], reach))
        if keep:
            rows.append(np.ascontiguousarray(values[kept]))
    place, slack, distance, reach = (np.concatenate(part) for part in zip(*parts, strict=True))
    reference = (slack > 0.0).astype(np.int64)
    gathered = np.concatenate(rows) if keep else None
    return RowStates(place, slack, reference, distance, reach, drift, gathered)


def _multiclass_states(problem: Problem, anchor: GaussianAnchor, radius: float | None) -> RowStates:
    n_classes = problem.n_classes
    drift = np.zeros((n_classes, problem.source.n_columns))
    parts, moments = [], OptionMoments(problem, anchor)
    for span, values in problem.source.blocks():
        options, deviation = moments(span, values)
        rows = np.arange(len(options))
        # The label's own option comes first among equals: a hinge of zero counts as inactive.
        label = problem.label[span]
        options[rows, label] = np.nextafter(options[rows, label], np.inf)
        best = options.argmax(axis=1)
        gap = options[rows, best][:, None] - options
        width = deviation[rows, best][:, None] + deviation
        ratio = gap / width
        ratio[rows, best] = np.inf
        distance = ratio.min(axis=1)
        push = np.zeros_like(options)
        push[rows, best] += problem.cost[span]
        push[rows, label] -= problem.cost[span]
        drift += push.T @ values
        kept = rows if radius is None else np.flatnonzero(distance < radius)
        reach = problem.cost[span][kept] * width[kept].min(axis=1)
        parts.append((span.start + kept, best[kept], distance[kept], reach))
    place, reference, distance, reach = (np.concatenate(part) for part in zip(*parts, strict=True))
    return RowStates(place, np.empty(0), reference, distance, reach, drift.ravel())
