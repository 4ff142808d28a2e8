"""The anchor of rows on a cluster: the Newton steps of one machine, their sums map-reduced."""

import numpy as np

from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.binary import (
    column_squares,
    expected_hinges,
    part_sizes,
    suited,
    with_prior,
)
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.multiclass import (
    CURVATURE_ROWS,
    alternate,
    smoothed_curvature,
    smoothed_energy,
)
from bayesmargin.approximation.newton import Energy, newton
from bayesmargin.distributed.cluster import share, total
from bayesmargin.distributed.problem import ShardedProblem, sample_rows
from bayesmargin.distributed.shards import ProblemSettings, Shard
from bayesmargin.foundation.types import FloatArray
from bayesmargin.rows.blocks import narrow_blas


def fit_sharded_anchor(problem: ShardedProblem, rng: np.random.Generator) -> GaussianAnchor:
    """Gaussian near the posterior; only vectors and matrices of the weights travel."""
    if problem.is_binary:
        return _binary(problem, rng)
    # A minimisation takes a hundred passes: most of them are made on a sample, by the driver.
    part = sample_rows(problem.shards, CURVATURE_ROWS, rng)
    count = len(part.label)
    start = fit_anchor(problem.model.problem(part, problem.n_rows / count), rng)
    return start if count == problem.n_rows else alternate(_ThereSums(problem), start)


def _binary(problem: ShardedProblem, rng: np.random.Generator) -> GaussianAnchor:
    model, start, broad = problem.model, None, None
    sizes = part_sizes(problem.n_rows, problem.n_columns)[:3]  # the largest travels
    if sizes:
        part = sample_rows(problem.shards, sizes[-1], rng)
        start = fit_anchor(model.problem(part, problem.n_rows / len(part.label)), rng)
    else:
        parts = problem.shards.map("anchor", _squares, share(problem.cluster, model))
        broad = suited(total(problem.cluster, "anchor", parts), problem.n_rows)

    def energy(anchor: GaussianAnchor) -> Energy:
        common = share(problem.cluster, (model, anchor))
        parts = problem.shards.map("anchor", _hinges, common)
        return with_prior(model.prior, anchor, total(problem.cluster, "anchor", parts))

    return newton(energy, problem.n_weights, start, broad)


def _squares(shard: Shard, model: ProblemSettings) -> FloatArray:
    return column_squares(model.problem(shard))


def _hinges(shard: Shard, common: tuple[ProblemSettings, GaussianAnchor]) -> Energy:
    model, anchor = common
    problem = model.problem(shard)
    with narrow_blas(problem.source.n_columns):
        return expected_hinges(problem, anchor)


class _ThereSums:
    """Sums over the rows of all shards, for more than two classes."""

    def __init__(self, problem: ShardedProblem) -> None:
        self.problem, self.prior = problem, problem.model.prior
        self.n_classes, self.n_columns = problem.model.n_classes, problem.n_columns
        self.n_rows = problem.n_rows
        self.rows = max(2_000, CURVATURE_ROWS // len(problem.shards.facts))

    def smooth_at(self, anchor: GaussianAnchor) -> None:
        self.anchor = anchor
        self.common = share(self.problem.cluster, (self.problem.model, anchor))

    def energy(self, mean: FloatArray) -> tuple[float, FloatArray]:
        parts = self.problem.shards.map("anchor", _smoothed_energy, self.common, mean)
        value, gradient = total(self.problem.cluster, "anchor", parts)
        return value, gradient

    def curvature(self, mean: FloatArray) -> FloatArray:
        args = (self.common, mean, self.rows)
        parts = self.problem.shards.map("anchor", _smoothed_curvature, *args)
        result: FloatArray = total(self.problem.cluster, "anchor", parts)
        return result


def _smoothed_energy(
    shard: Shard, common: tuple[ProblemSettings, GaussianAnchor], mean: FloatArray
) -> tuple[float, FloatArray]:
    problem = common[0].problem(shard)
    with narrow_blas(problem.source.n_columns):
        return smoothed_energy(problem, common[1], mean)


def _smoothed_curvature(
    shard: Shard, common: tuple[ProblemSettings, GaussianAnchor], mean: FloatArray, count: int
) -> FloatArray:
    problem = common[0].problem(shard)
    n_rows = problem.source.n_rows
    rows = np.unique(np.linspace(0, n_rows - 1, min(count, n_rows)).astype(int))
    with narrow_blas(problem.source.n_columns):
        return smoothed_curvature(problem, common[1], mean, rows)
