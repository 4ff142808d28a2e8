"""A stochastic sampler on a cluster: the same settings, its chains travelling between stations."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.approximation.contrasts import without_shared_part
from bayesmargin.diagnostics.stein import SteinCheck
from bayesmargin.distributed.anchor import fit_sharded_anchor
from bayesmargin.distributed.problem import ShardedProblem
from bayesmargin.distributed.stations import (
    Stations,
    find_stations,
    moved,
    station_targets,
)
from bayesmargin.distributed.travelling import TRAJECTORY, Fleet, Traveller
from bayesmargin.dynamics.base import initial_state
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.shared import shared_part
from bayesmargin.rows.sparse import DENSE_COLUMNS
from bayesmargin.running.ensemble import Carried, Ensemble, Plan, Remedies, View
from bayesmargin.samplers import SSGLD, SSGNHT, Auto
from bayesmargin.samplers.account import StochasticAccount
from bayesmargin.samplers.base import Sampler
from bayesmargin.samplers.stochastic import SMOOTH, StochasticSampler, default_batch_size
from bayesmargin.targets.coordinates import rotated, weights_from

VISITS = 8  # trajectories of a chain, at least, where there are stations to choose from


def distributed_sampler(sampler: Sampler, n_draws: int) -> "DistributedSampler":
    """The sampler as it runs on a cluster, or a clear error."""
    if isinstance(sampler, Auto):
        sampler = SSGNHT()
    if not isinstance(sampler, SSGLD | SSGNHT):
        raise ValueError(
            f"sampler={type(sampler).__name__} does not run on Dask collections: choose "
            '"auto", "ssgnht" or "ssgld", or compute the collection and fit it on one machine'
        )
    if not sampler.control_variates or sampler.preconditioner != "hessian":
        raise ValueError(
            "on Dask collections samplers need control_variates=True and "
            'preconditioner="hessian": without them shards that differ would bias the posterior'
        )
    return DistributedSampler(sampler, n_draws, TRAJECTORY)


@dataclass(frozen=True)
class DistributedSampler(Sampler):
    """SSGNHT or SSGLD with chains that travel."""

    inner: StochasticSampler
    n_draws: int
    trajectory: int

    def check_size(self, n_columns: int, n_blocks: int) -> None:
        """Raise a clear error for more weights than a full covariance allows."""
        if n_columns * n_blocks <= DENSE_COLUMNS:
            return
        advice = "use fewer columns, or fit on one machine"
        if n_blocks > 1 and n_columns <= DENSE_COLUMNS:
            advice = 'use multi_class="ovr"'
        raise ValueError(
            f"{n_columns * n_blocks} weights are too many for a distributed fit, which handles "
            f"{DENSE_COLUMNS} together: {advice}"
        )

    def start(self, problem: Any, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Anchor, stations, and one chain a generator."""
        assert isinstance(problem, ShardedProblem)
        shared = shared_part(problem.model.prior, problem.n_blocks)
        anchor = without_shared_part(fit_sharded_anchor(problem, generators[-1]), shared)
        return self.place(problem, generators, find_stations(problem, anchor, generators[-1]), 1.0)

    def place(
        self,
        problem: ShardedProblem,
        generators: Sequence[np.random.Generator],
        stations: Stations,
        shrink: float,
    ) -> Ensemble:
        """Chains that travel between stations, with ``shrink`` times the step that suits them."""
        inner = self.inner
        gentle = min(1.0, SMOOTH / max(stations.roughness, 1e-12))
        step = shrink * (inner.step or inner.default_step() * gentle)
        batch_size = inner.batch_size or default_batch_size(problem.n_columns)
        targets = station_targets(problem, stations, batch_size, step, generators[-1])
        chains = []
        for rng in generators[:-1]:
            start = rng.standard_normal(stations.anchor.n_directions)
            state = initial_state(start, rng, inner.diffusion_level)
            chains.append(Traveller(state, rng))
        dynamics = inner.dynamics(step, problem.n_rows)
        fleet = Fleet(problem.cluster, targets, stations.share, dynamics, chains, self.trajectory)

        pace = inner.relaxation(step)
        thin = inner.thin or max(1, round(0.5 * pace))
        if inner.thin is None and len(targets) > 1:
            thin = max(thin, -(-VISITS * self.trajectory // self.n_draws))
        anchor, shared = stations.anchor, shared_part(problem.model.prior, problem.n_blocks)
        return Ensemble(
            Carried(chains, fleet),
            Plan(
                thin=thin,
                warmup=inner.burn_in if inner.burn_in is not None else max(50, round(50 * pace)),
                adaptive=inner.thin is None and inner.burn_in is None,
                step_is_given=inner.step is not None,
            ),
            View(of=_Axes(rotated(anchor.mean, anchor.axes)), shared=shared),
            _Again(self, problem, generators, stations, shrink),
            _Travelled(inner, step, chains, fleet=fleet),
            info={
                "sampler": type(inner).__name__,
                "ran_on": problem.cluster.name,
                "step": step,
                "diffusion": getattr(inner, "diffusion", None),
                "stations": len(targets),
                "trajectory": self.trajectory,
                "rows_in_reach": stations.n_rows,
                "partitions_kept": int(problem.shards.kept),
                "anchor_passes": anchor.iterations,
            },
        )


class _Axes(NamedTuple):
    coordinates: Any

    def weights(self, positions: FloatArray) -> FloatArray:
        return weights_from(self.coordinates, positions)


@dataclass(frozen=True)
class _Again(Remedies):
    sampler: DistributedSampler
    problem: ShardedProblem
    generators: Sequence[np.random.Generator]
    stations: Stations
    shrink: float

    can_restart = can_move = True

    def around(self, positions: FloatArray) -> Ensemble:
        anchor = moved(self.stations, positions)
        found = find_stations(self.problem, anchor, self.generators[-1])
        return self.sampler.place(self.problem, self.generators, found, self.shrink)

    def smaller(self) -> Ensemble:
        less = 0.5 * self.shrink
        return self.sampler.place(self.problem, self.generators, self.stations, less)


@dataclass(frozen=True, kw_only=True)
class _Travelled(StochasticAccount):
    fleet: Fleet

    def facts(self, trace: FloatArray) -> dict[str, Any]:
        return {
            "seconds_computing": self.fleet.seconds_computing,
            "rows_read": self.fleet.rows_read,
        }

    def check(
        self, problem: Any, view: View, positions: FloatArray, rng: np.random.Generator
    ) -> tuple[float, SteinCheck]:
        return self.fleet.checks(positions, rng)
