"""How SSGLD starts lazily: which problems allow it, and with which kind of jump."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesmargin.anchor.targets import PreparedTarget
from bayesmargin.anchor.wide import WideAnchor, by_class, fit_wide_anchor, interleaved
from bayesmargin.anchor.wide_targets import wide_target
from bayesmargin.beliefs import GaussianBelief
from bayesmargin.problem import Problem
from bayesmargin.rows.layout import SparseRows
from bayesmargin.samplers.base import Ensemble
from bayesmargin.samplers.lazy import LazyDynamics, LazyState, lazy_record, lazy_state
from bayesmargin.samplers.lazy_jumps import Flow, OwnEuler, SharedEuler
from bayesmargin.samplers.wide import (
    Advance,
    WideChain,
    WideDraws,
    description,
    unscaled,
    watched_coordinates,
)
from bayesmargin.steps import Constant
from bayesmargin.types import FloatArray

if TYPE_CHECKING:
    from bayesmargin.samplers.stochastic import StochasticSampler


def wants_lazy(sampler: "StochasticSampler", problem: Problem) -> bool:
    """Whether a sampler can run lazily on a problem, and gains from it.

    Raises
    ------
    ValueError
        If lazy updates were asked for and are not possible.
    """
    wish = getattr(sampler, "lazy", False)
    if wish is False:
        return False
    obstacle = _obstacle(sampler, problem)
    if obstacle is not None:
        if wish:
            raise ValueError(f"lazy=True is not allowed here: {obstacle}")
        return False
    if wish:
        return True
    if sampler.batch_size is None:
        return False
    rows = problem.source.take(np.arange(min(1000, problem.source.n_rows)))
    entries = float(np.mean(rows.end - rows.begin))
    return sampler.batch_size * entries * problem.n_blocks < 0.5 * problem.n_weights


def _obstacle(sampler: "StochasticSampler", problem: Problem) -> str | None:
    """Why lazy updates are not possible, or None."""
    if not isinstance(problem.source.take(np.arange(1)), SparseRows):
        return "rows are dense"
    prior = problem.prior
    if not isinstance(prior, GaussianBelief) or prior.precision.ndim != 1:
        return "only a Gaussian prior of independent weights has an exact jump"
    if sampler.preconditioner == "rmsprop":
        return "the metric of RMSprop changes while a weight is not touched"
    if sampler.preconditioner == "adagrad" and sampler.control_variates:
        return "AdaGrad with control variates learns from every weight at every step"
    return None


def start_lazy(
    sampler: Any, problem: Problem, generators: Sequence[np.random.Generator]
) -> Ensemble:
    """Lazy chains of SSGLD on a sparse problem."""
    if sampler.control_variates or sampler.preconditioner == "hessian":
        anchor = fit_wide_anchor(problem, generators[-1])
    else:
        size, ones = problem.n_weights, np.ones(problem.n_weights)
        nothing = np.zeros((0, size))
        rows = np.ones(problem.source.n_rows)
        anchor = WideAnchor(np.zeros(size), ones, nothing, np.zeros(0), rows, 0)
    stiffest = float(anchor.eigenvalues.max(initial=1.0))
    step = sampler.step or sampler.default_step() / np.sqrt(stiffest)
    if sampler.preconditioner != "hessian":
        anchor = unscaled(anchor)
    return _place(sampler, problem, generators, anchor, float(step))


def _place(
    sampler: Any,
    problem: Problem,
    generators: Sequence[np.random.Generator],
    anchor: WideAnchor,
    step: float,
) -> Ensemble:
    diagonal = replace(anchor, directions=anchor.directions[:0], eigenvalues=np.zeros(0))
    prepared = wide_target(
        problem,
        diagonal,
        sampler.batch_size,
        step,
        generators[-1],
        control_variates=sampler.control_variates,
    )
    size, blocks, prior = problem.n_weights, problem.n_blocks, problem.prior
    assert isinstance(prior, GaussianBelief)
    metric, precision = anchor.scale**2, interleaved(prior.precision, blocks)
    rest = interleaved(prior.mean, blocks) - prepared.target.drift / precision
    dynamics = lazy_dynamics(sampler, metric * precision, step, problem.source.n_rows)
    chains = []
    for number, rng in enumerate(generators[:-1]):
        start = anchor.mean + 0.1 * anchor.scale * rng.standard_normal(size)
        state = lazy_state(start, rest, metric, precision, blocks, _capacity(prepared))
        chains.append(
            WideChain(
                number=number,
                advance=_recorder(dynamics, prepared, state, rng),
                watched=watched_coordinates(size),
                to_weights=partial(by_class, n_blocks=blocks),
                size=size,
                describe=f"SSGLD of step {step:g}",
                moving=(state, rng),
            )
        )
    pace = sampler.relaxation(step) if sampler.preconditioner == "hessian" else 10.0
    draws = WideDraws(chains, prepared.coordinates, blocks)

    def restart(positions: FloatArray | None, smaller: bool) -> Ensemble:
        return _place(sampler, problem, generators, anchor, 0.5 * step if smaller else step)

    return Ensemble(
        chains=chains,
        weights=draws.weights,
        thin=sampler.thin or max(1, round(0.5 * pace)),
        warmup=sampler.burn_in if sampler.burn_in is not None else round(15 * pace),
        adaptive=sampler.thin is None and sampler.burn_in is None,
        info={**description(sampler, prepared, anchor, step), "lazy": True},
        target=prepared.target,
        temperature=partial(sampler.temperature, step),
        restart=restart if sampler.preconditioner == "hessian" else None,
        step_is_given=sampler.step is not None,
        movable=False,
        kept=draws,
    )


def lazy_dynamics(sampler: Any, curvature: FloatArray, step: float, n_rows: int) -> LazyDynamics:
    """Compiled form of SSGLD with lazy updates; ``curvature`` is metric times prior precision."""
    langevin = sampler.dynamics(step, n_rows)
    if sampler.preconditioner != "adagrad" and step**2 * curvature.max() >= 2.0:
        raise ValueError(
            f"step={step:g} is not allowed: with this prior it must be below "
            f"{np.sqrt(2.0 / curvature.max()):g}"
        )
    jump: Any = Flow()
    if sampler.preconditioner != "adagrad":
        if np.ptp(curvature) <= 1e-12 * curvature[0]:
            jump = SharedEuler(float(curvature[0]))
        elif isinstance(langevin.schedule, Constant):
            jump = OwnEuler(step)
    return LazyDynamics(langevin.schedule, jump, langevin.preconditioner, float(curvature[0]))


def _capacity(prepared: PreparedTarget) -> int:
    """Entries that a batch can touch."""
    rows, take = prepared.target.rows, prepared.target.strata.take
    longest = int((rows.end - rows.begin).max(initial=0)) + 1
    return int(take.sum()) * longest * 2


def _recorder(
    dynamics: LazyDynamics, prepared: PreparedTarget, state: LazyState, rng: np.random.Generator
) -> Advance:
    def advance(position: FloatArray, trace: FloatArray, thin: int) -> int:
        trace[0] = (1.0, 0.0, 0.0)
        return int(lazy_record(dynamics, prepared.target, state, rng, thin, position[0]))

    return advance
