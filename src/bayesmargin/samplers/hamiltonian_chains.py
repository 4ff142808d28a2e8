"""What samplers along trajectories share: a mass, chains that tune their step, where they start."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.exact import exact_target, require_finite, safe_radius, unit_anchor
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.targets import PreparedTarget
from bayesmargin.dynamics.crossing import Crossing, own_scratch
from bayesmargin.dynamics.hamiltonian import (
    STEP,
    Hamiltonian,
    energy_of,
    freeze_step,
    hamiltonian_state,
)
from bayesmargin.dynamics.options import lag_to_watch
from bayesmargin.foundation.arguments import (
    require_choice,
    require_length,
    require_positive,
    require_real,
)
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import Chain, collected, run_chains
from bayesmargin.running.ensemble import Account, Chains, Ensemble, Plan, Remedies, View
from bayesmargin.samplers.again import around
from bayesmargin.samplers.base import Sampler
from bayesmargin.samplers.mass import given_mass, mass_factor
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import Target, workspace

MASSES = ("anchor", "dense", "diagonal", "identity")
WINDOWS = (100, 150, 300)  # iterations whose draws estimate a mass, one after another
WARMUP = 300
WATCHED = 7.0  # standard deviations by which an option may lag at the anchor and still be watched
MISSED = 0.02  # options that win unwatched at a time, at most, around an anchor that draws confirm
TOLERATED_MISSES = 0.05  # of the trajectories of a warm-up that end where one of them has won


def step_of(chain: Chain) -> float:
    """The step of a chain, at most a whole trajectory where kinks are crossed."""
    step = float(chain.state.tuning[STEP])
    return min(step, chain.dynamics.length) if isinstance(chain.dynamics, Crossing) else step


class TunedChain(Chain):
    """A chain whose step is tuned until the draws of its warm-up are dropped."""

    def forget(self) -> None:
        """Drop the draws made so far, and keep the step from now on."""
        super().forget()
        if self.state.clock[2] == 1:
            freeze_step(self.state.tuning)
            self.state.clock[2] = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class HamiltonianSampler(Sampler):
    """What the two samplers have in common; see :class:`.SubgradientHMC` for the parameters."""

    step: float | None = None
    mass: str | FloatArray = "anchor"
    target_acceptance: float = 0.8
    burn_in: int | None = None
    thin: int | None = None

    def __post_init__(self) -> None:
        require_positive(step=self.step)
        require_length(self.burn_in, self.thin)
        if isinstance(self.mass, str):
            require_choice("mass", self.mass, MASSES)
        else:
            object.__setattr__(self, "mass", given_mass(self.mass))
        require_real(target_acceptance=self.target_acceptance)
        if not 0.0 < self.target_acceptance < 1.0:
            raise ValueError(
                f"target_acceptance={self.target_acceptance!r} is not allowed: it lies in (0, 1)"
            )
        if self.burn_in == 0 and self.step is None:
            raise ValueError("burn_in=0 leaves no time to tune the step: give a step")

    def _key(self) -> tuple[Any, ...]:
        """Settings in a form that can be compared: an array is its shape and its numbers."""
        values = [getattr(self, one.name) for one in fields(self)]
        plain = [(v.shape, *v.flat) if isinstance(v, np.ndarray) else v for v in values]
        return (type(self), *plain)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HamiltonianSampler) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def dynamics(self, target: Target, within: float = np.inf) -> Hamiltonian | Crossing:
        """Compiled dynamics of one chain; ``within`` bounds what is watched for kinks."""
        raise TypeError("a concrete sampler is needed")

    def proposed_thin(self, n_weights: int) -> int:
        """Iterations between draws when none are given."""
        return 1

    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Prepare target and mass, and place one chain a generator on it."""
        require_finite(problem)
        size = problem.n_weights
        if not isinstance(self.mass, str):
            factor = mass_factor(self.mass)
            if len(factor) != size:
                raise ValueError(
                    f"mass has {len(factor)} rows and the problem has {size} weights (intercepts "
                    "and classes included)"
                )
            return self.place(problem, generators, unit_anchor(factor), None)
        if self.mass == "anchor":
            anchor = fit_anchor(problem, generators[-1])
            return self.place(problem, generators, anchor, None, within=WATCHED)
        factor = np.eye(size) if self.mass == "dense" else np.ones(size)
        anchor, starts = unit_anchor(factor), None
        if self.mass != "identity":
            for length in WINDOWS:
                anchor, starts = self._learn_mass(problem, generators, anchor, starts, length)
        return self.place(problem, generators, anchor, starts)

    def _learn_mass(
        self,
        problem: Problem,
        generators: Sequence[np.random.Generator],
        anchor: GaussianAnchor,
        starts: FloatArray | None,
        length: int,
    ) -> tuple[GaussianAnchor, FloatArray]:
        """Anchor whose covariance is that of the draws of one window, and where the chains are."""
        prepared = exact_target(problem, anchor, safe_radius(problem.n_weights))
        chains = self._chains(prepared, generators, starts, np.inf, tune=True)
        run_chains(chains, length, 1, None)
        draws, _ = collected(chains)
        late = draws[:, length // 2 :].reshape(-1, draws.shape[-1])
        moved = around(anchor, prepared, late)
        last = prepared.weights(draws[:, -1]) - moved.mean
        if moved.factor.ndim == 1:
            return moved, last / moved.factor
        return moved, np.linalg.solve(moved.factor, last.T).T

    def _chains(
        self,
        prepared: PreparedTarget,
        generators: Sequence[np.random.Generator],
        starts: FloatArray | None,
        within: float,
        tune: bool,
    ) -> list[TunedChain]:
        target = prepared.target
        size = target.drift.shape[0]
        step = self.step or 0.5 * size**-0.25
        shared = self.dynamics(target, within)
        chains = []
        for k, rng in enumerate(generators[:-1]):
            position = np.asarray(rng.standard_normal(size) if starts is None else starts[k])
            dynamics = own_scratch(shared)
            work = workspace(target, np.float64)
            state = hamiltonian_state(position, float(step), tune)
            value = energy_of(target, state.position, work)
            if not np.isfinite(value):
                raise ValueError(
                    f"the energy of the target is {value} where chain {k} starts: rows, costs, "
                    "margin and prior must give a finite number"
                )
            chains.append(TunedChain(dynamics, target, state, work, rng))
        return chains

    def place(
        self,
        problem: Problem,
        generators: Sequence[np.random.Generator],
        anchor: GaussianAnchor,
        starts: FloatArray | None,
        within: float | None = np.inf,
    ) -> Ensemble:
        """Chains around ``anchor``; ``within`` None: watch what matters if that is a good one."""
        prepared = exact_target(problem, anchor, safe_radius(problem.n_weights))
        if within is None:
            within = min(WATCHED, lag_to_watch(prepared.target, MISSED))
        chains = self._chains(prepared, generators, starts, within, tune=self.step is None)

        anchored = isinstance(self.mass, str) and self.mass == "anchor"
        again = _Again(self, problem, generators, anchor, prepared, within, chains)
        return Ensemble(
            Chains(chains),
            Plan(
                thin=self.thin or self.proposed_thin(problem.n_weights),
                warmup=WARMUP if self.burn_in is None else self.burn_in,
                adaptive=self.thin is None and self.burn_in is None,
            ),
            View(
                of=prepared,
                raw=not isinstance(self.mass, str) or self.mass in ("diagonal", "identity"),
            ),
            again if anchored else Remedies(),
            _Accepted(chains, target=prepared.target, exact=True),
            info={
                "sampler": type(self).__name__,
                "mass": self.mass if isinstance(self.mass, str) else "given",
                "rows_in_reach": prepared.n_rows_used,
                "anchor_passes": anchor.iterations,
            },
        )


@dataclass(frozen=True)
class _Again(Remedies):
    sampler: HamiltonianSampler
    problem: Problem
    generators: Sequence[np.random.Generator]
    anchor: GaussianAnchor
    prepared: PreparedTarget
    within: float
    chains: Sequence[TunedChain]

    can_restart = can_move = True

    def around(self, positions: FloatArray) -> Ensemble:
        moved = around(self.anchor, self.prepared, positions)
        return self.sampler.place(self.problem, self.generators, moved, None, within=None)

    def smaller(self) -> Ensemble:
        return self.sampler.place(self.problem, self.generators, self.anchor, None, self.within)

    def repaired(self) -> Ensemble | None:
        if np.isinf(self.within):
            return None
        made, missed = np.sum([chain.state.clock[[0, 3]] for chain in self.chains], axis=0)
        if missed <= TOLERATED_MISSES * made:
            return None
        return self.sampler.place(self.problem, self.generators, self.anchor, None)


@dataclass(frozen=True)
class _Accepted(Account):
    chains: Sequence[TunedChain]

    def facts(self, trace: FloatArray) -> dict[str, Any]:
        return {
            "acceptance": float(trace[..., 1].mean()),
            "step": float(np.mean([step_of(chain) for chain in self.chains])),
            "divergent_trajectories": int(sum(chain.state.clock[1] for chain in self.chains)),
        }
