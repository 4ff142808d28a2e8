"""How the stochastic samplers start on a wide problem."""

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from bayesmargin.approximation.stiffness import stiffest
from bayesmargin.approximation.targets import ROW_TYPE, PreparedTarget, plain_target
from bayesmargin.approximation.wide import STIFF, WideAnchor, fit_wide_anchor
from bayesmargin.approximation.wide_targets import (
    WideStates,
    wide_coordinates,
    wide_states,
    wide_target,
)
from bayesmargin.dynamics.base import initial_state
from bayesmargin.likelihoods.each_score import SeparateHinge
from bayesmargin.likelihoods.largest import InterleavedHinge
from bayesmargin.rows.source import DenseSource
from bayesmargin.rows.sparse import DENSE_COLUMNS
from bayesmargin.running.ensemble import Ensemble
from bayesmargin.samplers.lazy_start import start_lazy, wants_lazy
from bayesmargin.samplers.settings import StochasticSettings
from bayesmargin.samplers.sharing import common_part
from bayesmargin.samplers.wide import (
    TOGETHER,
    WideChain,
    description,
    recorder,
    unscaled,
    weights_by_class,
    wide_ensemble,
)
from bayesmargin.samplers.wide_watch import watch
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import workspace

KICK = 0.9  # momentum that a row may give when it changes state, before corners are cut
MORE_COLUMNS = 1200  # up to here a full covariance pays for dense rows,
TALL = 8  # if there are so many for every column
SPACING = 0.25  # relaxation times between draws: iterations are dear, and more are made if needed


def is_wide(problem: Problem) -> bool:
    """Whether a problem has too many columns for a full covariance.

    Somewhat more are affordable where one score is made of many dense rows: there steps by a full
    covariance, which are few, save more than finding it takes.
    """
    n_rows, n_columns = problem.source.n_rows, problem.source.n_columns
    if isinstance(problem.source, DenseSource) and problem.is_binary and n_rows >= TALL * n_columns:
        return n_columns > MORE_COLUMNS
    return n_columns > DENSE_COLUMNS


def start_wide(
    sampler: StochasticSettings, problem: Problem, generators: Sequence[np.random.Generator]
) -> Ensemble:
    """Chains of ``sampler`` on a wide problem, lazy where they can be and it pays."""
    if wants_lazy(sampler, problem):
        return start_lazy(sampler, problem, generators)
    step = sampler.step or sampler.wide_step()
    if not sampler.control_variates and sampler.preconditioner != "hessian":
        return _place(sampler, problem, generators, None, None, step)
    anchor = fit_wide_anchor(problem, generators[-1])
    if sampler.preconditioner != "hessian":
        anchor = unscaled(anchor)
    states = wide_states(problem, anchor)
    if sampler.step is None:
        if not problem.is_binary:
            found = stiffest(problem, anchor, wide_coordinates(anchor), generators[-1])
            step *= min(1.0, math.sqrt(STIFF / found))
        step = min(step, KICK / max(1e-12, states.roughness))
    return _place(sampler, problem, generators, anchor, states, step)


def _prepare(
    sampler: StochasticSettings,
    problem: Problem,
    anchor: WideAnchor | None,
    states: WideStates | None,
    step: float,
    rng: np.random.Generator,
) -> PreparedTarget:
    if anchor is None or states is None:
        return plain_target(problem, sampler.batch_size or 100, rng)
    return wide_target(
        problem,
        anchor,
        states,
        sampler.batch_size,
        step,
        rng,
        control_variates=sampler.control_variates,
    )


def _place(
    sampler: StochasticSettings,
    problem: Problem,
    generators: Sequence[np.random.Generator],
    anchor: WideAnchor | None,
    states: WideStates | None,
    step: float,
) -> Ensemble:
    prepared = _prepare(sampler, problem, anchor, states, step, generators[-1])
    dynamics = sampler.dynamics(step, problem.source.n_rows)
    dynamics = sampler.within_prior(dynamics, step, problem.prior)
    size = problem.n_weights
    interleaved = isinstance(prepared.target.hinge, InterleavedHinge | SeparateHinge)
    n_blocks = problem.n_blocks if interleaved else 1
    common = common_part(problem, prepared)
    joint = isinstance(prepared.target.hinge, InterleavedHinge)
    scale = getattr(prepared.coordinates, "scale", np.ones(size)) if joint else None
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
                watch=watch(size, n_blocks, scale),
                to_weights=weights_by_class(prepared, n_blocks),
                size=size,
                describe=str(dynamics),
                moving=(state, rng),
                at_once=1 if common else max(1, TOGETHER // size),
            )
        )
    info = description(sampler, prepared, anchor, step)
    place = partial(_place, sampler, problem, generators, anchor, states)
    return wide_ensemble(sampler, prepared, chains, n_blocks, step, SPACING, info, place)
