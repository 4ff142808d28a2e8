"""How the stochastic samplers start on a wide problem."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bayesmargin.anchor.targets import ROW_TYPE, PreparedTarget, plain_target
from bayesmargin.anchor.wide import WideAnchor, fit_wide_anchor
from bayesmargin.anchor.wide_targets import wide_target
from bayesmargin.problem import Problem
from bayesmargin.rows.sparse import DENSE_COLUMNS
from bayesmargin.samplers.base import Ensemble
from bayesmargin.samplers.lazy_start import start_lazy, wants_lazy
from bayesmargin.samplers.wide import (
    WideChain,
    common_part,
    description,
    recorder,
    unscaled,
    watched_coordinates,
    weights_by_class,
    wide_ensemble,
)
from bayesmargin.state import initial_state
from bayesmargin.target import InterleavedHinge, workspace

if TYPE_CHECKING:
    from bayesmargin.samplers.stochastic import StochasticSampler

STRIDE = 1.2  # most coordinates of a wide posterior are nearly those of the prior, without noise


def is_wide(problem: Problem) -> bool:
    """Whether a problem has too many columns for a full covariance."""
    return problem.source.n_columns > DENSE_COLUMNS


def start_wide(
    sampler: "StochasticSampler", problem: Problem, generators: Sequence[np.random.Generator]
) -> Ensemble:
    """Chains of ``sampler`` on a wide problem, lazy where they can be and it pays."""
    if wants_lazy(sampler, problem):
        return start_lazy(sampler, problem, generators)
    anchor = None
    if sampler.control_variates or sampler.preconditioner == "hessian":
        anchor = fit_wide_anchor(problem, generators[-1])
        if sampler.preconditioner != "hessian":
            anchor = unscaled(anchor)
    return _place(
        sampler, problem, generators, anchor, sampler.step or STRIDE * sampler.default_step()
    )


def _prepare(
    sampler: "StochasticSampler",
    problem: Problem,
    anchor: WideAnchor | None,
    step: float,
    rng: np.random.Generator,
) -> PreparedTarget:
    if anchor is None:
        return plain_target(problem, sampler.batch_size or 100, rng)
    return wide_target(
        problem,
        anchor,
        sampler.batch_size,
        step,
        rng,
        control_variates=sampler.control_variates,
    )


def _place(
    sampler: "StochasticSampler",
    problem: Problem,
    generators: Sequence[np.random.Generator],
    anchor: WideAnchor | None,
    step: float,
) -> Ensemble:
    prepared = _prepare(sampler, problem, anchor, step, generators[-1])
    dynamics = sampler.dynamics(step, problem.source.n_rows)
    size = problem.n_weights
    n_blocks = problem.n_blocks if isinstance(prepared.target.hinge, InterleavedHinge) else 1
    common = common_part(problem, prepared)
    chains = []
    for number, rng in enumerate(generators[:-1]):
        start = rng.standard_normal(size)
        if sampler.preconditioner != "hessian":
            start *= 0.0 if anchor is None else 0.1
        state = initial_state(start, rng, sampler.diffusion_level)
        work = workspace(prepared.target, ROW_TYPE)
        chains.append(
            WideChain(
                number=number,
                advance=recorder(dynamics, prepared, state, work, rng, common),
                watched=watched_coordinates(size),
                to_weights=weights_by_class(prepared, n_blocks),
                size=size,
                describe=str(dynamics),
                moving=(state, rng),
            )
        )
    info = description(sampler, prepared, anchor, step)
    place = partial(_place, sampler, problem, generators, anchor)
    return wide_ensemble(sampler, prepared, chains, n_blocks, step, 0.9, info, place)
