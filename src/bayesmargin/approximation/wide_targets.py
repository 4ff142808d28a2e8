"""From a wide problem and its anchor to a compiled target: rows as they are, nothing whitened."""

import math
from typing import NamedTuple

import numpy as np

from bayesmargin.approximation.screening import allocate, gradient_noise, roughness, screen
from bayesmargin.approximation.targets import ROW_TYPE, PreparedTarget, prior_in_weights
from bayesmargin.approximation.wide import WideAnchor
from bayesmargin.approximation.wide_multiclass import winning_options
from bayesmargin.approximation.wide_order import reordered
from bayesmargin.approximation.wide_separate import separate_states
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.each_score import SeparateHinge
from bayesmargin.likelihoods.largest import InterleavedHinge
from bayesmargin.likelihoods.one_score import BinaryHinge
from bayesmargin.rows.blocks import as_rows, block_products, block_sum, gathered
from bayesmargin.rows.layout import SparseRows
from bayesmargin.targets.coordinates import Scaled, Sheared, Spiked
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import Target

NORMAL_COST = 8.0  # of drawing a normal variate, in entries of a row read
NEARLY_ALL = 0.6  # of the rows: reading all in order takes no longer
TYPICAL_WORDS = 2000  # features of the mean row that the intercepts follow
HEAT = 0.05  # of the thermostat by gradient noise, in the coordinate that has most of it


class WideStates(NamedTuple):
    """States of all rows at the anchor; the names are those of :class:`.rowstates.RowStates`.

    ``roughness`` (:func:`.screening.roughness`) bounds the step.
    """

    reference: IntArray
    distance: FloatArray
    reach: FloatArray
    drift: FloatArray
    roughness: float


def wide_states(problem: Problem, anchor: WideAnchor) -> WideStates:
    """States of all rows at a wide anchor, from one pass over them."""
    drift: FloatArray = np.zeros(problem.n_weights)
    if problem.separate:
        found = separate_states(problem, anchor.mean, anchor.deviation, drift)
        return WideStates(found.reference, found.distance, found.reach, drift, found.roughness)
    reference, lead = _leads(problem, anchor, drift)
    # The force of a kink between two classes acts on their two weight vectors; the screening of
    # rows allows for more, since any other class may take the lead.
    jump = anchor.deviation * (1.0 if problem.is_binary else math.sqrt(2.0))
    width = anchor.deviation * (1.0 if problem.is_binary else 2.0)
    rough = roughness(lead / jump, problem.cost * jump)
    return WideStates(reference, lead / width, problem.cost * width, drift, rough)


def wide_target(
    problem: Problem,
    anchor: WideAnchor,
    states: WideStates,
    batch_size: int | None,
    step: float,
    rng: np.random.Generator,
    *,
    control_variates: bool = True,
) -> PreparedTarget:
    """Target around a wide anchor, in scaled coordinates."""
    reference, distance, reach, drift, _ = states
    if not control_variates:
        drift, distance = problem.tilt, np.zeros_like(distance)
        hinges = problem.is_binary or problem.separate
        reference = np.zeros_like(reference) if hinges else problem.label
    screening = screen(distance, reach, rng)
    index, rows = screening.index, as_rows(problem.source.take(screening.index))
    wanted = batch_size or affordable_batch(problem, anchor, index, rows, step)
    strata = allocate(screening, wanted, step)
    if not control_variates:
        strata = strata._replace(take=np.array([min(wanted, index.size)]))
    if isinstance(rows, SparseRows) and np.array_equal(strata.take, np.diff(strata.start)):
        # All are read at every step: rows of one length in turn let the processor foresee loops.
        order = np.argsort(rows.end - rows.begin, kind="stable")
        index, rows = index[order], rows._replace(begin=rows.begin[order], end=rows.end[order])
    prior = prior_in_weights(reordered(problem.prior, problem.n_blocks), problem.n_weights)
    hinge = _hinge(problem, index, reference)
    coordinates = wide_coordinates(anchor)
    target = Target(gathered(rows), hinge, prior, coordinates, strata, drift)
    noise = gradient_noise(screening, strata, problem.n_weights)
    return PreparedTarget(target, coordinates, noise, index.size)


def wide_coordinates(anchor: WideAnchor) -> Scaled | Sheared | Spiked:
    """Coordinates in which the anchor is a standard normal distribution."""
    if anchor.typical is not None:
        words = anchor.typical[:-1]
        columns = np.sort(np.argsort(-np.abs(words), kind="stable")[:TYPICAL_WORDS])
        n_classes = anchor.mean.size // anchor.typical.size
        return Sheared(anchor.mean, anchor.scale, columns, words[columns], n_classes)
    if len(anchor.eigenvalues) == 0:
        return Scaled(anchor.mean, anchor.scale)
    gain = 1.0 / np.sqrt(anchor.eigenvalues) - 1.0
    return Spiked(anchor.mean, anchor.scale, anchor.directions, gain)


def affordable_batch(
    problem: Problem,
    anchor: WideAnchor,
    index: IntArray,
    rows: object,
    step: float,
) -> int:
    r"""Rows a step: as many as the noise of the step costs, and enough to keep it cool.

    A share :math:`f` of the rows gives coordinate :math:`j` gradient noise
    :math:`(1/f - 1)\,s_j^2 \sum_d c_d^2 p_d (1 - p_d) x_{dj}^2`. Since
    :math:`p (1 - p) \le 0.63\,\varphi`, that is at most
    :math:`0.63\,c\sigma (1/f - 1)`, whatever the
    coordinate.
    """
    if index.size == 0:  # a narrow prior keeps all kinks out of reach
        return 0
    entries = rows.end - rows.begin if isinstance(rows, SparseRows) else None
    per_row = float(entries.mean()) if entries is not None else problem.source.n_columns
    balanced = NORMAL_COST * problem.n_weights / max(1.0, per_row * problem.n_blocks)
    width = anchor.deviation if anchor.deviation.ndim == 1 else anchor.deviation.max(axis=1)
    spread = 0.63 * float(np.quantile(problem.cost[index] * width[index], 0.9))
    cool = index.size / (1.0 + 2.0 * HEAT / max(1e-12, step * spread))
    wanted = int(max(16.0, balanced, cool))
    return wanted if wanted < NEARLY_ALL * index.size else index.size


def _leads(problem: Problem, anchor: WideAnchor, drift: FloatArray) -> tuple[IntArray, FloatArray]:
    """States of all rows at the anchor, how far beyond the kink they lie; adds to ``drift``."""
    if not problem.is_binary:
        return winning_options(problem, anchor.mean, drift)
    slack = np.empty(problem.source.n_rows)
    for span, block in problem.source.blocks():
        slack[span] = problem.slack(span, block_products(block, anchor.mean))
        block_sum(block, problem.forces(span, slack[span] > 0.0), drift)
    return (slack > 0.0).astype(np.int64), slack


def _hinge(
    problem: Problem, index: IntArray, reference: IntArray
) -> BinaryHinge | InterleavedHinge | SeparateHinge:
    cost = np.ascontiguousarray(problem.cost[index], dtype=float)
    if problem.is_binary:
        slack = np.ascontiguousarray(problem.hinges.level[index])
        return BinaryHinge(problem.sign[index].astype(ROW_TYPE), slack, cost, reference[index])
    label = problem.label[index].astype(np.int64)
    kind = SeparateHinge if problem.separate else InterleavedHinge
    return kind(label, problem.margin, problem.n_classes, cost, reference[index])
