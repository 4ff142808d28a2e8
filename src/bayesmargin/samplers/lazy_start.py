"""How SSGLD starts lazily: which problems allow it, and with which kind of jump."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from bayesmargin.approximation.stiffness import stiffest
from bayesmargin.approximation.targets import PreparedTarget
from bayesmargin.approximation.wide import WideAnchor, fit_wide_anchor
from bayesmargin.approximation.wide_order import by_class, interleaved
from bayesmargin.approximation.wide_targets import wide_states, wide_target
from bayesmargin.dynamics.lazy import LazyDynamics, LazyState, lazy_record, lazy_state
from bayesmargin.dynamics.lazy_jumps import Flow, OwnEuler, SharedEuler
from bayesmargin.dynamics.steps import Constant
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows.layout import SparseRows
from bayesmargin.running.ensemble import Ensemble
from bayesmargin.samplers.settings import StochasticSettings
from bayesmargin.samplers.wide import Advance, WideChain, description, unscaled, wide_ensemble
from bayesmargin.samplers.wide_watch import watch
from bayesmargin.targets.coordinates import Scaled
from bayesmargin.targets.problem import Problem

FAINT = 1e-9  # pull of the prior in a step, below which sums of it over many steps lose it


def wants_lazy(sampler: StochasticSettings, problem: Problem) -> bool:
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


def _obstacle(sampler: StochasticSettings, problem: Problem) -> str | None:
    """Why lazy updates are not possible, or None."""
    if not isinstance(problem.source.take(np.arange(1)), SparseRows):
        return "rows are dense"
    if problem.separate:
        return "every class has a hinge of its own"
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
    step = sampler.step or sampler.default_step() / np.sqrt(_stiffness(problem, anchor, generators))
    if sampler.preconditioner != "hessian":
        anchor = unscaled(anchor)
    return _place(sampler, problem, generators, anchor, float(step))


def _stiffness(
    problem: Problem, anchor: WideAnchor, generators: Sequence[np.random.Generator]
) -> float:
    """Largest eigenvalue of the Hessian in the scale of the anchor, with nothing else undone."""
    if problem.is_binary or anchor.passes == 0:
        return float(anchor.eigenvalues.max(initial=1.0))
    scaled = Scaled(anchor.mean, anchor.scale)
    return max(1.0, stiffest(problem, anchor, scaled, generators[-1]))


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
        wide_states(problem, diagonal),
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
                watch=watch(size, blocks, np.ones(size)),
                to_weights=partial(by_class, n_blocks=blocks),
                size=size,
                describe=f"SSGLD of step {step:g}",
                moving=(state, rng),
            )
        )
    info = {**description(sampler, prepared, anchor, step), "lazy": True}
    place = partial(_place, sampler, problem, generators, anchor)
    return wide_ensemble(sampler, prepared, chains, blocks, step, 0.5, info, place)


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
        common = np.ptp(curvature) <= 1e-12 * curvature[0]
        if common and step**2 * curvature[0] > FAINT:
            jump = SharedEuler(float(curvature[0]))
        elif isinstance(langevin.schedule, Constant):
            jump = OwnEuler(step)
    return LazyDynamics(langevin.schedule, jump, langevin.scaling, float(curvature[0]))


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
