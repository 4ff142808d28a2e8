"""Sampling a problem from start to finish: warm-up, re-anchoring, length, checks.

A run that its user did not fix (no ``thin``, no ``burn_in``) is steered by its own diagnostics
(:mod:`bayesmargin.running.supervisor`). A sampler that names a fallback hands over to it when
that, or the bias check, fails.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.diagnostics.assessment import Watched, biased, diagnose, lacking, lopsided, warn_of
from bayesmargin.diagnostics.convergence import Diagnostics
from bayesmargin.diagnostics.stein import (
    FEW,
    SteinCheck,
    gradient_noise,
    spread_draws,
    stein_check,
)
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import equally_weighted
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import Progress
from bayesmargin.running.supervisor import Supervisor, exact_is_cheap
from bayesmargin.samplers.base import Ensemble, Sampler
from bayesmargin.targets.problem import Problem, slacks
from bayesmargin.targets.rows import working_type, workspace

LARGEST_KICK = 0.5  # rms in one coordinate that a step gives a momentum of sd one: corners are cut
LARGEST_EXACT_KICK = 0.65  # the same of exact gradients, without whose noise steps bear more


@dataclass
class Run:
    """Draws of the weights with what is known about them."""

    weights: FloatArray
    diagnostics: Diagnostics
    info: dict[str, Any]
    moments: tuple[FloatArray, FloatArray] | None = None
    """Mean and variance of the weights over all draws, where not all of them are kept."""


def _attempt(
    supervisor: Supervisor, ensemble: Ensemble, rng: np.random.Generator
) -> tuple[Ensemble, Watched, FloatArray, float, SteinCheck] | None:
    """Sample and check; None when the draws are poor and the ensemble has a fallback."""
    fallback = ensemble.fallback
    supervisor.begin(ensemble)
    try:
        ensemble, watched, trace = supervisor.sample(supervisor.warm_up(ensemble))
    except DivergenceError as error:
        if fallback is None:
            raise
        supervisor.notes.append(f"handed over to the exact sampler ({error.args[0]})")
        return None
    noise, stein = _checked(supervisor.problem, ensemble, watched, rng)
    may_hand_over = fallback is not None and not supervisor.interrupted
    step = float(ensemble.info["step"]) if may_hand_over else 0.0
    kick = step * np.sqrt(stein.force)
    largest = LARGEST_KICK if noise > 0.0 else LARGEST_EXACT_KICK
    poor = biased(stein) or lacking(watched) or kick > largest
    cheap = exact_is_cheap(ensemble)
    if may_hand_over and (poor or lopsided(watched, step, noise, cheap)):
        found = (
            f"bias {stein.bias:+.2f}, in one direction {stein.worst:+.2f}, kicks {kick:.2f}, "
            f"skewness {watched.skewness:.1f}"
        )
        supervisor.notes.append(f"handed over to the exact sampler ({found})")
        return None
    return ensemble, watched, trace, noise, stein


def _checked(
    problem: Problem, ensemble: Ensemble, watched: Watched, rng: np.random.Generator
) -> tuple[float, SteinCheck]:
    """Gradient noise and bias of the draws, as far as there is a target to measure them with."""
    if ensemble.checks is not None:
        return ensemble.checks(watched.positions, rng)
    if ensemble.target is None:
        return 0.0, SteinCheck(0.0, np.inf)
    work = workspace(ensemble.target, working_type(ensemble.target))
    draws, centre = ensemble.kept.checked() if ensemble.kept else (watched.positions, None)
    noise = gradient_noise(ensemble.target, draws, work, rng)
    stein = stein_check(ensemble.target, draws, work, rng, centre, ensemble.n_directions)
    if ensemble.exact and biased(stein):
        seen = spread_draws(draws, min(FEW, stein.n_draws))
        slack = slacks(problem, ensemble.weights(seen))
        stein = stein.beside_walls(slack, problem.cost, problem.n_weights)
    return noise, stein


def sample(
    problem: Problem,
    sampler: Sampler,
    generators: Sequence[np.random.Generator],
    n_draws: int,
    n_jobs: int | None,
    progress: Progress,
    journal: Journal | None = None,
    glance: Callable[[FloatArray], str] | None = None,
) -> Run:
    """Sample a problem and say how far the draws can be trusted.

    One chain runs for each generator but the last, which serves the preparation. A ``journal``
    keeps what is needed to go on after a crash; ``glance`` says something about the mean weights
    for the display.
    """
    began = time.perf_counter()
    journal = journal or Journal()
    journal.begin_run()
    supervisor = Supervisor(problem, n_draws, n_jobs, progress, journal, glance)
    ensemble = supervisor.prepare(sampler, generators)
    outcome = _attempt(supervisor, ensemble, generators[-1])
    if outcome is None:
        assert ensemble.fallback is not None
        outcome = _attempt(supervisor, ensemble.fallback(), generators[-1])
        assert outcome is not None
    ensemble, watched, trace, noise, stein = outcome
    diagnostics = diagnose(
        watched,
        trace,
        stein,
        interrupted=supervisor.interrupted,
        level=ensemble.info.get("diffusion"),
        temperature=ensemble.temperature(noise, trace),
        step_error=ensemble.step_error() if ensemble.step_is_given else 0.0,
        divergences=supervisor.restarts,
        n_iterations=supervisor.iterations,
        seconds=time.perf_counter() - began,
    )
    info = {**ensemble.info, **ensemble.facts(trace), "gradient_noise": noise}
    info["notes"] = "; ".join(supervisor.notes)
    warn_of(diagnostics, stein, supervisor.interrupted)
    positions = watched.positions
    if ensemble.draw_weights is not None:
        weight = ensemble.draw_weights(positions.shape[1], ensemble.info["thin"])
        if ensemble.kept is not None:
            ensemble.kept.weigh(weight)
        else:
            positions = positions[:, equally_weighted(weight)]
    moments = ensemble.kept.moments() if ensemble.kept else None
    weights = ensemble.weights(positions)
    if ensemble.complete is not None:
        weights = ensemble.complete(weights, generators[-1])
    return Run(weights, diagnostics, info, moments)
