r"""Stations: the rows in play, dealt out evenly, and what a chain needs to work on a part of them.

Rows whose kink lies beyond eight posterior standard deviations never change their state; they are
in the gradient at the anchor, which is summed over *all* shards, and nowhere else. The others, of
the order of :math:`\sqrt{nD}`, are dealt at random into :math:`K` stations. At station :math:`k`,
visited for a share :math:`q_k` of the steps, the gradient is estimated by

.. math:: \nabla(-\log p_0) + G_0 + \frac{1}{q_k} \hat F_k(w)
          + \sum_j [b_j + H_j (w - m)] - \frac{1}{q_k}[b_k + H_k (w - m)],

:math:`F_k` being the change of the station's rows since the anchor and :math:`b_k + H_k (w - m)`
its best linear picture under the anchor :math:`N(m, S)`: :math:`b_k = E F_k`,
:math:`H_k = E\nabla F_k`. The last two terms cancel on average over stations (the *conducive*
correction), so the estimate is unbiased, and what differs between stations is only what no linear
picture shows.

Dealing is what makes shards sorted by label harmless. Left where they are, the shard of a rare
class holds most of the curvature in some direction, its term is amplified by :math:`1/q_k` and the
correction turns negative: on such shards trajectories longer than a relaxation time diverge.
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.approximation.binary import expected_hinges
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.multiclass import smoothed_curvature, smoothed_energy
from bayesmargin.approximation.row_states import row_states
from bayesmargin.approximation.screening import SCREEN
from bayesmargin.approximation.targets import anchored_target, rows_can_be_whitened
from bayesmargin.distributed.cluster import share, total
from bayesmargin.distributed.problem import ShardedProblem
from bayesmargin.distributed.shards import ProblemSettings, Shard, joined
from bayesmargin.foundation.random import spawn_seeds
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.densities import CorrectedPrior
from bayesmargin.priors.moments import Belief, GaussianBelief
from bayesmargin.rows.blocks import narrow_blas
from bayesmargin.targets.coordinates import Identity
from bayesmargin.targets.rows import Target

ROWS_PER_WEIGHT = 100  # rows in play that a station has for each weight: variances 1% too large
MOST_STATIONS = 64
MOST_GROUPS = 128  # shards beyond this many are joined before their rows are dealt


@dataclass(frozen=True)
class SharedAnchor(GaussianAnchor):
    """An anchor whose whitening was computed once, by the driver.

    Two machines may order or turn eigenvectors differently; the coordinates of a chain must not
    depend on where it is.
    """

    basis: FloatArray | None = None
    curvature: FloatArray | None = None

    @property
    def axes(self) -> FloatArray:
        """Matrix from positions to deviations from the mean."""
        return self.factor if self.basis is None else self.basis

    def with_prior_axes(self, prior: Belief) -> tuple[FloatArray, FloatArray]:
        """The whitening basis found by the driver."""
        assert self.basis is not None
        assert self.curvature is not None
        return self.basis, self.curvature


def shared(anchor: GaussianAnchor, prior: Belief, is_binary: bool) -> SharedAnchor:
    """The anchor with its whitening basis, where rows are whitened."""
    basis = curvature = None
    if is_binary and isinstance(prior, GaussianBelief) and anchor.factor.ndim == 2:
        basis, curvature = anchor.with_prior_axes(prior)
    return SharedAnchor(
        anchor.mean, anchor.factor, anchor.iterations, basis=basis, curvature=curvature
    )


class Pictures(NamedTuple):
    """A station as the driver sees it: size, roughness, and the linear picture of its rows."""

    n_rows: int
    roughness: float
    offset: FloatArray
    curvature: FloatArray


@dataclass(frozen=True)
class Stations:
    """Handles of the stations, their pictures, their shares of the steps, and the gradient."""

    handles: list[Any]
    pictures: list[Pictures]
    share: FloatArray
    drift: FloatArray
    anchor: SharedAnchor

    @property
    def roughness(self) -> float:
        """The coarsest station's, its rows counted ``1/q`` times."""
        pairs = zip(self.pictures, self.share, strict=True)
        return max(picture.roughness / share for picture, share in pairs)

    @property
    def n_rows(self) -> int:
        """Rows in play at all stations."""
        return sum(picture.n_rows for picture in self.pictures)


def find_stations(
    problem: ShardedProblem,
    anchor: GaussianAnchor,
    rng: np.random.Generator,
    *,
    count: int | None = None,
    dealt: bool = True,
) -> Stations:
    """One pass over the shards: the gradient at the anchor, and the rows in play.

    ``count`` stations instead of as many as the bias allows, and ``dealt=False``, a station a
    shard, are there for comparisons.
    """
    cluster, shards = problem.cluster, problem.shards
    fixed = shared(anchor, problem.model.prior, problem.is_binary)
    common = share(cluster, (problem.model, fixed))
    seen = shards.map("screen", _in_play, common)
    drift, n_rows = total(cluster, "screen", [cluster.submit("screen", _sums, s) for s in seen])
    if count is None:
        most = min(len(seen), MOST_STATIONS)
        count = int(np.clip(n_rows // (ROWS_PER_WEIGHT * problem.n_weights), 1, most))
    rows = [cluster.submit("screen", _rows, s) for s in seen]
    handles = _dealt(problem, rows, count, rng) if dealt else rows
    pictures = cluster.gather([cluster.submit("picture", _picture, h, common) for h in handles])
    return Stations(handles, pictures, _shares(pictures, fixed), drift, fixed)


def _in_play(
    shard: Shard, common: tuple[ProblemSettings, SharedAnchor]
) -> tuple[Shard, FloatArray]:
    model, anchor = common
    states = row_states(model.problem(shard), anchor, SCREEN)
    place = np.unique(states.place % len(shard.label))  # a row may have several terms
    return shard.take(place), states.drift


def _sums(seen: tuple[Shard, FloatArray]) -> tuple[FloatArray, int]:
    return seen[1], len(seen[0].label)


def _rows(seen: tuple[Shard, FloatArray]) -> Shard:
    return seen[0]


def _dealt(
    problem: ShardedProblem, rows: list[Any], count: int, rng: np.random.Generator
) -> list[Any]:
    """Rows in play dealt into ``count`` stations, from worker to worker."""
    cluster = problem.cluster
    if len(rows) > MOST_GROUPS:
        edges = np.linspace(0, len(rows), MOST_GROUPS + 1).astype(int)
        rows = [cluster.submit("deal", joined, rows[a:b]) for a, b in pairwise(edges)]
    if count == 1:
        return [cluster.submit("deal", joined, rows)]
    seeds = spawn_seeds(rng, len(rows))
    pieces = [
        [cluster.submit("deal", _piece, part, k, count, seed) for k in range(count)]
        for part, seed in zip(rows, seeds, strict=True)
    ]
    return [cluster.submit("deal", joined, [own[k] for own in pieces]) for k in range(count)]


def _piece(part: Shard, k: int, count: int, seed: np.random.SeedSequence) -> Shard:
    rng = np.random.Generator(np.random.PCG64(seed))
    order = rng.permutation(len(part.label))
    first = int(rng.integers(count))
    return part.take(np.sort(order[(k - first) % count :: count]))


def _picture(station: Shard, common: tuple[ProblemSettings, SharedAnchor]) -> Pictures:
    model, anchor = common
    problem = model.problem(station)
    states = row_states(problem, anchor, SCREEN)
    with narrow_blas(problem.source.n_columns):
        if problem.is_binary:
            _, gradient, curvature = expected_hinges(problem, anchor)
        else:
            _, gradient = smoothed_energy(problem, anchor, anchor.mean)
            everything = np.arange(problem.source.n_rows)
            curvature = smoothed_curvature(problem, anchor, anchor.mean, everything)
    size = len(station.label)
    return Pictures(size, states.roughness(), gradient - states.drift, curvature)


def _shares(pictures: list[Pictures], anchor: GaussianAnchor) -> FloatArray:
    """Share of the steps of every station: that of the stiffest direction of its curvature."""
    if len(pictures) == 1:
        return np.ones(1)
    stiffest = [
        float(np.linalg.eigvalsh(anchor.factor.T @ picture.curvature @ anchor.factor)[-1])
        for picture in pictures
    ]
    weight = np.maximum(stiffest, 0.5 * np.mean(stiffest))
    return weight / weight.sum()


def station_targets(
    problem: ShardedProblem,
    stations: Stations,
    batch_size: int,
    step: float,
    rng: np.random.Generator,
) -> list[Any]:
    """Handles of the compiled targets, one a station."""
    cluster, count = problem.cluster, len(stations.handles)
    offset = sum(picture.offset for picture in stations.pictures)
    curvature = sum(picture.curvature for picture in stations.pictures)
    seeds = spawn_seeds(rng, count)
    common = share(cluster, (problem.model, stations.anchor))
    targets = []
    for k in range(count):
        picture, weight = stations.pictures[k], 1.0 / stations.share[k]
        drift, matrix = stations.drift, None
        if count > 1:
            drift = drift + offset - weight * picture.offset
            matrix = curvature - weight * picture.curvature
        facts = (weight, drift, matrix, batch_size, step, seeds[k])
        targets.append(cluster.submit("station", _target, stations.handles[k], common, facts))
    return targets


def _target(station: Shard, common: tuple[ProblemSettings, SharedAnchor], facts: Any) -> Target:
    model, anchor = common
    weight, drift, matrix, batch_size, step, seed = facts
    problem = model.problem(station, weight)
    states = row_states(problem, anchor, SCREEN)._replace(drift=drift)
    rng = np.random.Generator(np.random.PCG64(seed))
    target = anchored_target(problem, anchor, states, batch_size, step, rng).target
    if matrix is None:
        return target
    centre = anchor.mean
    if isinstance(target.coordinates, Identity) and rows_can_be_whitened(problem, anchor):
        assert anchor.basis is not None
        centre, matrix = np.zeros_like(centre), anchor.basis.T @ matrix @ anchor.basis
    return target._replace(prior=CorrectedPrior(target.prior, centre, np.ascontiguousarray(matrix)))


def moved(stations: Stations, positions: FloatArray) -> GaussianAnchor:
    """Anchor re-estimated from draws in the coordinates of the chains."""
    anchor = stations.anchor
    plain = GaussianAnchor(anchor.mean, anchor.axes).moved_by(positions)
    return replace(plain, iterations=anchor.iterations)
