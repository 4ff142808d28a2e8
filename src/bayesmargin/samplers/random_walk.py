"""Settings of random-walk Metropolis with the austerity test."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.exact import complete_target, require_finite
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.row_states import row_states
from bayesmargin.approximation.targets import PreparedTarget, anchored_target
from bayesmargin.dynamics.base import initial_state
from bayesmargin.dynamics.random_walk import AusterityWalk, critical_values
from bayesmargin.foundation.arguments import (
    require_choice,
    require_count,
    require_length,
    require_positive,
    require_real,
)
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import Chain
from bayesmargin.running.ensemble import Account, Chains, Ensemble, Plan, Remedies, View
from bayesmargin.samplers.again import around
from bayesmargin.samplers.base import Sampler
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import workspace

OPTIMAL_SCALE = 2.38  # times n^-1/2: the best random walk on a unit Gaussian of n dimensions


@dataclass(frozen=True, kw_only=True)
class AusterityMetropolis(Sampler):
    r"""Random-walk Metropolis with the sequential test of Korattikara, Chen and Welling (2014).

    Parameters
    ----------
    step : float, optional
        Standard deviation :math:`\sigma` of a proposal, in the coordinates of the preconditioner.
        Left out, :math:`2.38/\sqrt{n}` in whitened coordinates.
    epsilon : float
        Error allowed to one t-test, in [0, 1); 0 reads all rows and is exact. The error of a whole
        decision is larger when the two sides are close, since the test is repeated.
    batch_size : int
        Rows that each stage of the test adds.
    minimum : int
        Rows before equal log ratios may decide.
    preconditioner : {"hessian", None}
        Coordinates: whitened by the anchor, or raw (the published form, which needs a step).
    burn_in, thin : int, optional
        Iterations discarded, and between draws. Left out, chosen from R-hat and ESS.

    Examples
    --------
    >>> from bayesmargin.samplers import AusterityMetropolis
    >>> AusterityMetropolis(step=0.1, preconditioner=None, epsilon=0.0).batch_size
    500
    """

    step: float | None = None
    epsilon: float = 0.01
    batch_size: int = 500
    minimum: int = 1000
    preconditioner: str | None = "hessian"
    burn_in: int | None = None
    thin: int | None = None

    def __post_init__(self) -> None:
        require_positive(step=self.step)
        require_count("batch_size", self.batch_size, 1)
        require_count("minimum", self.minimum, 1)
        require_length(self.burn_in, self.thin)
        require_choice("preconditioner", self.preconditioner, ("hessian", None))
        require_real(epsilon=self.epsilon)
        if not 0.0 <= self.epsilon < 1.0:
            raise ValueError(f"epsilon={self.epsilon!r} is not allowed: it lies in [0, 1)")
        if self.preconditioner is None and self.step is None:
            raise ValueError("preconditioner=None needs a step: raw coordinates have no scale")

    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Prepare the target and place one chain a generator on it."""
        require_finite(problem)
        whiten = self.preconditioner == "hessian"
        anchor = fit_anchor(problem, generators[-1]) if whiten else None
        return self.place(problem, generators, anchor)

    def _prepare(
        self, problem: Problem, anchor: GaussianAnchor | None, rng: np.random.Generator
    ) -> PreparedTarget:
        if anchor is None:
            return complete_target(problem, rng.permutation(problem.source.n_rows))
        return anchored_target(
            problem,
            anchor,
            row_states(problem, anchor),
            problem.source.n_rows,
            1.0,
            rng,
            control_variates=False,
            row_type=np.float64,
        )

    def place(
        self,
        problem: Problem,
        generators: Sequence[np.random.Generator],
        anchor: GaussianAnchor | None,
    ) -> Ensemble:
        """Chains around an anchor, or in the coordinates of the weights."""
        prepared = self._prepare(problem, anchor, generators[-1])
        size, n_rows = problem.n_weights, problem.source.n_rows
        batch = min(self.batch_size, n_rows)
        scale = self.step or OPTIMAL_SCALE / np.sqrt(size)
        dynamics = AusterityWalk(
            float(scale), batch, critical_values(n_rows, batch, self.epsilon), self.minimum
        )
        chains = []
        for rng in generators[:-1]:
            position = rng.standard_normal(size) * (1.0 if anchor else 0.0)
            state = initial_state(position, rng, 0.0)
            work = workspace(prepared.target, np.float64)
            chains.append(Chain(dynamics, prepared.target, state, work, rng))

        pace = max(1, round(1.5 * size * (OPTIMAL_SCALE / scale / np.sqrt(size)) ** 2))
        return Ensemble(
            Chains(chains),
            Plan(
                thin=self.thin or pace,
                warmup=50 * pace if self.burn_in is None else self.burn_in,
                adaptive=self.thin is None and self.burn_in is None,
            ),
            View(of=prepared, raw=anchor is None),
            _Again(self, problem, generators, anchor, prepared) if anchor else Remedies(),
            _Walked(target=prepared.target, exact=self.epsilon == 0.0),
            info={"sampler": type(self).__name__, "step": float(scale), "epsilon": self.epsilon},
        )


@dataclass(frozen=True)
class _Again(Remedies):
    sampler: AusterityMetropolis
    problem: Problem
    generators: Sequence[np.random.Generator]
    anchor: GaussianAnchor
    prepared: PreparedTarget

    can_restart = can_move = True

    def around(self, positions: FloatArray) -> Ensemble:
        moved = around(self.anchor, self.prepared, positions)
        return self.sampler.place(self.problem, self.generators, moved)

    def smaller(self) -> Ensemble:
        return self.sampler.place(self.problem, self.generators, self.anchor)


class _Walked(Account):
    def facts(self, trace: FloatArray) -> dict[str, Any]:
        return {
            "acceptance": float(trace[..., 1].mean()),
            "rows_read": float(trace[..., 0].mean()),
        }
