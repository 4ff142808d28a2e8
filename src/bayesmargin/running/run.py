"""Sampling a problem from start to finish: warm-up, re-anchoring, length, checks.

A run that its user did not fix (no ``thin``, no ``burn_in``) is steered by its own diagnostics
(:mod:`bayesmargin.running.supervisor`). A sampler that names a fallback hands over to it when
that, or the bias check, fails.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesmargin.diagnostics.assessment import Watched, biased, diagnose, lacking, lopsided, warn_of
from bayesmargin.diagnostics.convergence import Diagnostics
from bayesmargin.diagnostics.stein import SteinCheck
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import equally_weighted
from bayesmargin.running.ensemble import Ensemble
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import Progress
from bayesmargin.running.statistics import statistics_of
from bayesmargin.running.supervisor import Supervisor, exact_is_cheap
from bayesmargin.samplers.base import Sampler
from bayesmargin.targets.problem import Problem

LARGEST_KICK = 0.5  # rms in one coordinate that a step gives a momentum of sd one: corners are cut
LARGEST_EXACT_KICK = 1.0  # the same of exact gradients, without whose noise steps bear more


@dataclass
class Run:
    """Draws of the weights with what is known about them."""

    weights: FloatArray
    diagnostics: Diagnostics
    info: dict[str, Any]
    moments: tuple[FloatArray, FloatArray] | None = None
    """Mean and variance of the weights over all draws, where not all of them are kept."""
    statistics: dict[str, FloatArray] = field(default_factory=dict)
    """What is told of every draw: arrays (chain, draw)."""


def _attempt(
    supervisor: Supervisor, ensemble: Ensemble, rng: np.random.Generator
) -> tuple[Ensemble, Watched, FloatArray, float, SteinCheck] | None:
    """Sample and check; None when the draws are poor and the ensemble has a fallback."""
    fallback = ensemble.remedies.fallback
    supervisor.begin(ensemble)
    while True:
        try:
            ensemble, watched, trace = supervisor.sample(supervisor.warm_up(ensemble))
        except DivergenceError as error:
            if fallback is None:
                raise
            supervisor.notes.append(f"handed over to the exact sampler ({error.args[0]})")
            return None
        problem, view = supervisor.problem, ensemble.view
        noise, stein = ensemble.account.check(problem, view, watched.positions, rng)
        may_hand_over = fallback is not None and not supervisor.interrupted
        step = float(ensemble.info["step"]) if may_hand_over else 0.0
        kick = step * np.sqrt(stein.force)
        largest = LARGEST_KICK if noise > 0.0 else LARGEST_EXACT_KICK
        # A handful of draws says nothing of a bias; what it lacks is not asked for either.
        poor = (watched.enough and biased(stein)) or lacking(watched) or kick > largest
        cheap = exact_is_cheap(ensemble)
        if not may_hand_over or not (poor or lopsided(watched, step, noise, cheap)):
            return ensemble, watched, trace, noise, stein
        found = (
            f"bias {stein.bias:+.2f}, in one direction {stein.worst:+.2f}, kicks {kick:.2f}, "
            f"skewness {watched.skewness:.1f}"
        )
        shorter = None
        if kick > largest and not (lacking(watched) or lopsided(watched, 0.0, 0.0, False)):
            shorter = supervisor.shorter(ensemble, found, kick / largest)
        if shorter is None:
            supervisor.notes.append(f"handed over to the exact sampler ({found})")
            return None
        ensemble = shorter


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
        safer = ensemble.remedies.fallback
        assert safer is not None
        outcome = _attempt(supervisor, safer.start(problem, generators), generators[-1])
        assert outcome is not None
    ensemble, watched, trace, noise, stein = outcome
    account, view = ensemble.account, ensemble.view
    diagnostics = diagnose(
        watched,
        trace,
        stein,
        interrupted=supervisor.interrupted,
        level=account.diffusion,
        temperature=account.temperature(noise, trace),
        step_error=account.step_error() if ensemble.plan.step_is_given else 0.0,
        divergences=supervisor.restarts,
        n_iterations=supervisor.iterations,
        seconds=time.perf_counter() - began,
    )
    facts = account.facts(trace)
    info = {**ensemble.info, **facts, "gradient_noise": noise}
    info["notes"] = "; ".join(supervisor.notes)
    warn_of(diagnostics, stein, supervisor.interrupted)
    positions = watched.positions
    weight = account.draw_weights(positions.shape[1], ensemble.info["thin"])
    if weight is not None:
        if view.kept is not None:
            view.kept.weigh(weight)
        else:
            index = equally_weighted(weight)
            positions, trace = positions[:, index], trace[:, index]
    moments = view.kept.moments() if view.kept else None
    weights = view.complete(view.weights(positions), generators[-1])
    statistics = statistics_of(account, facts, trace, weights.shape[1])
    return Run(weights, diagnostics, info, moments, statistics)
