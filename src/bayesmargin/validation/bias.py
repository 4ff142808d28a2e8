"""Bias against step: long runs at several steps, and the order that the errors show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bayesmargin.dynamics.base import initial_state
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import TRACE_NAMES, record
from bayesmargin.samplers import Sampler
from bayesmargin.samplers.stochastic import StochasticSampler
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import working_type, workspace
from bayesmargin.validation.agreement import monte_carlo_error
from bayesmargin.validation.kernels import Transition, as_transition, plain_target, run_kernel
from bayesmargin.validation.quadrature import quadrature

Function = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True)
class BiasCurve:
    """Errors of one expectation at several steps.

    Attributes
    ----------
    steps, bias, error : array
        Steps, error of the expectation and Monte Carlo error of that.
    order, order_error : float
        Exponent of the step that fits the errors best, and its standard error.
    """

    steps: FloatArray
    bias: FloatArray
    error: FloatArray
    order: float
    order_error: float


def fitted_order(steps: FloatArray, bias: FloatArray, error: FloatArray) -> tuple[float, float]:
    """Slope of log absolute bias against log step, weighted by the Monte Carlo errors."""
    weight = (bias / error) ** 2  # inverse variance of log |bias|
    x, y = np.log(steps), np.log(np.abs(bias))
    centre = np.average(x, weights=weight)
    spread = float(np.sum(weight * (x - centre) ** 2))
    slope = float(np.sum(weight * (x - centre) * (y - np.average(y, weights=weight))) / spread)
    return slope, float(1.0 / np.sqrt(spread))


def _draws(
    tested: Sampler | Transition, problem: Problem, n_draws: int, thin: int, seed: int
) -> FloatArray:
    """Draws (1, draw, weight) of one long chain; a stochastic sampler keeps its momenta."""
    if isinstance(tested, StochasticSampler):
        return long_run(tested, problem, n_draws, thin, seed)[0]
    kernel, start = as_transition(tested, thin)(problem), np.zeros(problem.n_weights)
    rng = np.random.default_rng(seed)
    draws = run_kernel(kernel, start, n_draws, _warm_up(n_draws), rng)[None]
    if not np.isfinite(draws).all():
        raise ArithmeticError("the chain did not stay finite: take smaller steps")
    return draws


def _warm_up(n_draws: int) -> int:
    return max(100, n_draws // 50)


def long_run(
    sampler: StochasticSampler, problem: Problem, n_draws: int, thin: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """Draws (1, draw, weight) and trace of one long chain in raw coordinates."""
    rng = np.random.default_rng(seed)
    n_rows = problem.source.n_rows
    batch = min(sampler.batch_size or n_rows, n_rows)
    target = plain_target(problem, batch, rng).target
    assert sampler.step is not None
    dynamics = sampler.dynamics(sampler.step, n_rows)
    state = initial_state(np.zeros(problem.n_weights), rng, sampler.diffusion_level)
    work = workspace(target, working_type(target))
    warm = _warm_up(n_draws)
    draws = np.empty((warm + n_draws, problem.n_weights))
    trace = np.empty((warm + n_draws, len(TRACE_NAMES)))
    done = record(dynamics, target, state, work, rng, thin, draws, trace)
    if done < len(draws):
        raise ArithmeticError(f"the chain diverged at step {sampler.step}")
    return draws[None, warm:], trace[None, warm:]


def bias_curve(
    make: Callable[[float], Sampler | Transition],
    problem: Problem,
    function: Function,
    steps: Sequence[float],
    n_draws: int = 200_000,
    thin: int | Sequence[int] = 10,
    seed: int = 0,
    truth: float | None = None,
) -> BiasCurve:
    """Error of one expectation at several steps.

    Parameters
    ----------
    make : function
        Sampler or transition for a step, such as
        ``lambda step: SSGLD(step=step, preconditioner=None)``.
    problem : Problem
        A posterior of one to three weights, or one whose ``truth`` is known.
    function : function
        Turns weights (..., weight) into the values (...) whose expectation is followed.
    steps : sequence of float
        Steps, largest bias first or last; errors should stand out of the Monte Carlo error.
    n_draws, thin : int
        Draws at each step, iterations apart (one number, or one a step).
    seed : int
        Seed of all randomness.
    truth : float, optional
        The expectation under the posterior; left out, it is found by quadrature.
    """
    if truth is None:
        reference = quadrature(problem)
        truth = float(reference.expectation(function(reference.points)))
    gaps = [thin] * len(steps) if isinstance(thin, int) else list(thin)
    bias, error = np.empty(len(steps)), np.empty(len(steps))
    for k, (step, gap) in enumerate(zip(steps, gaps, strict=True)):
        draws = _draws(make(step), problem, n_draws, gap, seed + k)
        mean, error[k] = monte_carlo_error(function(draws))
        bias[k] = mean - truth
    order, order_error = fitted_order(np.asarray(steps), bias, error)
    return BiasCurve(np.asarray(steps), bias, error, order, order_error)
