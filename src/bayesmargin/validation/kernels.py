"""One interface to everything that can be tested: ``kernel(weights, rng) -> weights``.

A kernel is a Markov transition on the weights alone. A sampler with auxiliary variables becomes one
by drawing them afresh: momentum from its normal law, the thermostat from the law it has when
gradients are exact. That leaves the weights' law invariant whenever the sampler does.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bayesmargin.approximation.exact import complete_target
from bayesmargin.approximation.targets import plain_target
from bayesmargin.augmentation.mixing import gibbs_work
from bayesmargin.augmentation.multiclass import record_sweeps, refresh_scores
from bayesmargin.augmentation.variates import new_lanes
from bayesmargin.dynamics.base import initial_state
from bayesmargin.dynamics.hamiltonian import hamiltonian_state
from bayesmargin.dynamics.random_walk import AusterityWalk, critical_values
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import TRACE_NAMES, record
from bayesmargin.samplers import (
    AugmentationGibbs,
    AusterityMetropolis,
    LangevinMC,
    Sampler,
    SubgradientHMC,
)
from bayesmargin.samplers.augmentation import GibbsChain, augmented, gibbs_state
from bayesmargin.samplers.stochastic import StochasticSampler
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import Target, working_type, workspace

Kernel = Callable[[FloatArray, np.random.Generator], FloatArray]
Transition = Callable[[Problem], Kernel]


def target_kernel(dynamics: Any, target: Target, thin: int, diffusion: float = 1.0) -> Kernel:
    """Kernel of a compiled dynamics on a target in raw coordinates: ``thin`` iterations."""
    size = target.drift.shape[0]
    work = workspace(target, working_type(target))
    draws, trace = np.empty((1, size)), np.empty((1, len(TRACE_NAMES)))

    def kernel(weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        state = initial_state(weights, rng, diffusion + rng.standard_normal() / np.sqrt(size))
        if not record(dynamics, target, state, work, rng, thin, draws, trace):
            return np.full(size, np.nan)
        return draws[0].copy()

    return kernel


def _stochastic(sampler: StochasticSampler, problem: Problem, thin: int) -> Kernel:
    if sampler.step is None:
        raise ValueError("give the sampler a step: a kernel runs in raw coordinates, untuned")
    n_rows = problem.source.n_rows
    batch = min(sampler.batch_size or n_rows, n_rows)
    target = plain_target(problem, batch, np.random.default_rng(0)).target
    dynamics = sampler.dynamics(sampler.step, n_rows)
    return target_kernel(dynamics, target, thin, sampler.diffusion_level)


def _hamiltonian(sampler: Any, problem: Problem, thin: int) -> Kernel:
    target = complete_target(problem).target
    work, dynamics = workspace(target, np.float64), sampler.dynamics(target)
    draws, trace = np.empty((1, problem.n_weights)), np.empty((1, len(TRACE_NAMES)))

    def kernel(weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        state = hamiltonian_state(weights, sampler.step or 0.5, tune=False)
        record(dynamics, target, state, work, rng, thin, draws, trace)
        return draws[0].copy()

    return kernel


def _gibbs(sampler: AugmentationGibbs, problem: Problem, thin: int) -> Kernel:
    form, start = sampler.chosen_form(problem), np.random.default_rng(0)
    target = augmented(problem, sampler.arithmetic if form == "joint" else "double")
    state = gibbs_state(problem, target, np.zeros(problem.n_weights), start)
    work, size = gibbs_work(target), 2 * state.lanes.shape[1]
    rows = np.asarray(problem.source.take(np.arange(problem.source.n_rows)), dtype=float)
    draws = np.empty((1, problem.n_weights))
    chain = GibbsChain(problem, target, state, work, start, form, rows)

    def kernel(weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        state.weights[:] = weights
        state.lanes[:] = new_lanes(rng, size)
        if target.n_classes > 1:  # a class reads the scores of the others
            for k in range(target.n_classes):
                refresh_scores(target, state, k)
        if form in ("joint", "coordinate"):
            record_sweeps(target, state, rng, work, form == "coordinate", thin, draws)
            return draws[0].copy()
        chain.rng = rng
        chain.run(1, thin)
        return chain.draws.pop()[0]

    return kernel


def _random_walk(sampler: AusterityMetropolis, problem: Problem, thin: int) -> Kernel:
    n_rows = problem.source.n_rows
    batch = min(sampler.batch_size, n_rows)
    critical = critical_values(n_rows, batch, sampler.epsilon)
    dynamics = AusterityWalk(sampler.step or 0.5, batch, critical, sampler.minimum)
    return target_kernel(dynamics, complete_target(problem).target, thin)


def repeated(kernel: Kernel, times: int) -> Kernel:
    """A kernel applied ``times`` times."""

    def several(weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        for _ in range(times):
            weights = kernel(weights, rng)
        return weights

    return several


def as_transition(tested: Sampler | Transition, thin: int = 1) -> Transition:
    """Transition of a sampler or of another transition, ``thin`` iterations at a time.

    Samplers run in raw coordinates without an anchor: what is tested is the kernel, and on small
    problems nothing is gained by preparing it.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.samplers import AugmentationGibbs
    >>> from bayesmargin.validation import as_transition
    >>> from bayesmargin.validation.problems import one_kink
    >>> kernel = as_transition(AugmentationGibbs())(one_kink())
    >>> kernel(np.zeros(1), np.random.default_rng(0)).shape
    (1,)
    """
    if not isinstance(tested, Sampler):
        return tested if thin == 1 else lambda problem: repeated(tested(problem), thin)
    builders: list[tuple[Any, Any]] = [
        (StochasticSampler, _stochastic),
        ((SubgradientHMC, LangevinMC), _hamiltonian),
        (AugmentationGibbs, _gibbs),
        (AusterityMetropolis, _random_walk),
    ]
    for kind, build in builders:
        if isinstance(tested, kind):
            return lambda problem: build(tested, problem, thin)
    raise TypeError(
        f"{type(tested).__name__} has no kernel here: pass a function that takes a problem and "
        "returns kernel(weights, rng)"
    )


def run_kernel(
    kernel: Kernel, start: FloatArray, n_draws: int, burn_in: int, rng: np.random.Generator
) -> FloatArray:
    """Draws of a kernel applied again and again, after ``burn_in`` applications."""
    weights = np.array(start, dtype=float)
    draws = np.empty((n_draws, weights.size))
    for k in range(-burn_in, n_draws):
        weights = kernel(weights, rng)
        if k >= 0:
            draws[k] = weights
    return draws


def with_label(problem: Problem, label: Any) -> Problem:
    """The same rows and prior with other labels."""
    return replace(problem, label=np.asarray(label, dtype=np.int64))
