"""From a problem and its anchor to a compiled target: rows gathered, whitened and stratified."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.row_states import RowStates
from bayesmargin.approximation.screening import (
    Screening,
    allocate,
    gradient_noise,
    quiet_batch,
    screen,
)
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.likelihoods.largest import MulticlassHinge
from bayesmargin.likelihoods.one_score import BinaryHinge
from bayesmargin.priors.densities import CorrelatedPrior, GaussianPrior, LaplacePrior
from bayesmargin.priors.moments import Belief, GaussianBelief, LaplaceBelief, Prior
from bayesmargin.rows.files import FileSource
from bayesmargin.rows.layout import DenseRows, SparseRows
from bayesmargin.targets.common_axes import CommonAxes, common_axes_of, weights_along
from bayesmargin.targets.coordinates import Identity, Scaled, rotated, weights_from
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import Strata, Target

ROW_TYPE = np.float32  # half the memory traffic; positions and sums stay in double precision
PIECE = 8192  # rows transformed at a time


@dataclass(frozen=True)
class PreparedTarget:
    """A compiled target and the way back from positions to weights.

    ``stride``, where rows are not all read at every step: how far their leads move in one, at most.
    """

    target: Target
    coordinates: Any
    noise: float
    n_rows_used: int
    stride: FloatArray | None = None

    def weights(self, positions: FloatArray) -> FloatArray:
        """Weights of positions (last axis)."""
        if isinstance(self.coordinates, CommonAxes):
            return weights_along(self.coordinates, positions)
        return weights_from(self.coordinates, positions)


def prior_in_weights(prior: Belief | Prior, n_weights: int) -> Any:
    """Prior as a function of the weights themselves, compiled."""
    if isinstance(prior, Prior):
        return prior.density(n_weights)
    if isinstance(prior, LaplaceBelief):
        return LaplacePrior(1.0 / np.broadcast_to(prior.scale, (n_weights,)))
    if prior.precision.ndim == 1:
        return GaussianPrior(-prior.precision * prior.mean, prior.precision)
    return CorrelatedPrior(prior.mean, np.ascontiguousarray(prior.precision))


def hinge_of(
    problem: Problem, index: IntArray, states: RowStates | None, centred: bool
) -> BinaryHinge | MulticlassHinge:
    """Hinge of the rows ``index``; ``centred`` positions are deviations from the anchor.

    ``states``, where given, are those of the same rows in the same order.
    """
    problem.require_one_hinge()
    cost = np.ascontiguousarray(problem.cost[index], dtype=float)
    if problem.is_binary:
        inactive = np.zeros(index.size, dtype=np.int64)
        slack = np.ascontiguousarray(problem.hinges.level[index])
        if states is not None and centred:
            slack = states.slack
        reference = inactive if states is None else states.reference
        return BinaryHinge(problem.sign[index].astype(ROW_TYPE), slack, cost, reference)
    label = problem.label[index].astype(np.int64)
    reference = label if states is None else states.reference
    return MulticlassHinge(label, problem.margin, problem.n_classes, cost, reference)


def gathered(problem: Problem, index: IntArray, row_type: Any = ROW_TYPE) -> DenseRows | SparseRows:
    """Rows ``index`` in the form that samplers read."""
    values = problem.source.take(index)
    if isinstance(values, SparseRows):
        return values
    return DenseRows(np.ascontiguousarray(values, dtype=row_type))


def _all_rows(problem: Problem, rng: np.random.Generator) -> IntArray:
    return rng.permutation(problem.source.n_rows)


def plain_target(problem: Problem, batch_size: int, rng: np.random.Generator) -> PreparedTarget:
    """Target of the published samplers: plain minibatches, raw coordinates."""
    index = _all_rows(problem, rng)
    rows = gathered(problem, index)
    strata = Strata(
        np.array([0, index.size], dtype=np.int64),
        np.array([min(batch_size, index.size)], dtype=np.int64),
    )
    prior = prior_in_weights(problem.prior, problem.n_weights)
    drift = problem.tilt
    target = Target(rows, hinge_of(problem, index, None, False), prior, Identity(), strata, drift)
    return PreparedTarget(target, Identity(), float("nan"), index.size)


def anchored_target(
    problem: Problem,
    anchor: GaussianAnchor,
    states: RowStates,
    batch_size: int,
    step: float,
    rng: np.random.Generator,
    *,
    control_variates: bool = True,
    whiten: bool = True,
    quiet: bool = False,
    screening: Screening | None = None,
    row_type: Any = ROW_TYPE,
) -> PreparedTarget:
    """Target around an anchor: control variates, screened strata, whitened coordinates.

    ``quiet`` lets the batch grow where that size is too noisy; ``screening`` says which rows to
    keep and in which order, if that is known already.
    """
    if control_variates:
        screening = screening or screen(states.distance, states.reach, rng)
        if quiet:
            sizes = anchor.n_directions, problem.source.n_columns
            batch_size = quiet_batch(screening, batch_size, step, *sizes)
        strata = allocate(screening, batch_size, step)
        drift = states.drift
        order = screening.index
        noise = gradient_noise(screening, strata, anchor.n_directions)
    else:
        order, drift = _all_rows(problem, rng), problem.tilt
        take = min(batch_size, order.size)
        strata = Strata(np.array([0, order.size], dtype=np.int64), np.array([take], dtype=np.int64))
        noise = float("nan")
    states = states.ordered(order)
    index = states.place
    reference = states if control_variates else None
    if whiten and rows_can_be_whitened(problem, anchor):
        hinge = hinge_of(problem, index, states, centred=True)
        assert isinstance(hinge, BinaryHinge)
        if reference is None:
            hinge = hinge._replace(reference=np.zeros(index.size, dtype=np.int64))
        taken = states.rows
        states = states._replace(rows=None)  # the only hold on rows transformed in their place
        return whitened_rows(problem, anchor, index, hinge, strata, drift, noise, row_type, taken)
    coordinates = whitened_coordinates(anchor, row_type) if whiten else Identity()
    rows = gathered(problem, index, row_type)
    prior = prior_in_weights(problem.prior, problem.n_weights)
    hinge = hinge_of(problem, index, reference, centred=False)
    target = Target(rows, hinge, prior, coordinates, strata, drift)
    return PreparedTarget(target, coordinates, noise, index.size)


def rows_can_be_whitened(problem: Problem, anchor: GaussianAnchor) -> bool:
    """Whether the change of coordinates can be made once, on the rows, and not at every step."""
    gaussian = isinstance(problem.prior, GaussianBelief)
    return problem.is_binary and gaussian and anchor.factor.ndim == 2


def whitened_coordinates(anchor: GaussianAnchor, dtype: Any = np.float64) -> Any:
    """Coordinates in which the anchor is a standard normal distribution, but for rounding."""
    if anchor.factor.ndim == 1:
        return Scaled(anchor.mean, anchor.factor)
    if anchor.common is not None:
        return common_axes_of(anchor.mean, anchor.common, dtype)
    return rotated(anchor.mean, anchor.factor, dtype)


def whitened_rows(
    problem: Problem,
    anchor: GaussianAnchor,
    index: IntArray,
    hinge: BinaryHinge,
    strata: Strata,
    drift: FloatArray,
    noise: float,
    row_type: Any = ROW_TYPE,
    taken: Any = None,
) -> PreparedTarget:
    """Transform the rows once, so that a step needs no change of coordinates.

    Rows ``taken`` already (from a file) are transformed in their place if they can be.
    """
    prior = problem.prior
    assert isinstance(prior, GaussianBelief)
    basis, curvature = anchor.with_prior_axes(prior)
    if taken is None and isinstance(problem.source, FileSource):
        taken = problem.source.take(index)  # in one pass over the file
    alike = taken is not None and taken.dtype == row_type and taken.shape[1] == basis.shape[1]
    rows: Any = taken if alike else np.empty((index.size, basis.shape[1]), dtype=row_type)
    for start in range(0, index.size, PIECE):
        span = slice(start, start + PIECE)
        part = problem.source.take(index[span]) if taken is None else taken[span]
        rows[span] = part @ basis
    slope = prior.expectation(anchor.mean, np.zeros_like(anchor.mean))[1]
    target = Target(
        rows=DenseRows(rows),
        hinge=hinge,
        prior=GaussianPrior(basis.T @ slope, curvature),
        coordinates=Identity(),
        strata=strata,
        drift=basis.T @ drift,
    )
    return PreparedTarget(target, rotated(anchor.mean, basis), noise, index.size)
