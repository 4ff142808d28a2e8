"""Sampling a problem from start to finish: warm-up, re-anchoring, length, checks.

A run that its user did not fix (no ``thin``, no ``burn_in``) is steered by its own diagnostics: a
step that diverges or overheats the thermostat is halved; an anchor that the warm-up contradicts is
replaced by one estimated from the warm-up; chains that disagree, or hold too few effective draws,
go on twice as long. A sampler that names a fallback hands over to it when all this, or the bias
check, fails.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesmargin.anchor.listening import listening
from bayesmargin.chains import collected, run_chains
from bayesmargin.checks import SteinCheck, gradient_noise, stein_check
from bayesmargin.diagnostics import Diagnostics, rhat
from bayesmargin.errors import DivergenceError, StepSizeWarning
from bayesmargin.problem import Problem
from bayesmargin.progress import Progress
from bayesmargin.samplers.base import Ensemble, Sampler
from bayesmargin.saving.journal import Journal
from bayesmargin.target import working_type, workspace
from bayesmargin.types import FloatArray, IntArray
from bayesmargin.verdict import Watched, biased, diagnose, lacking, warn_of

ROUND_SECONDS = 0.3
LONGEST_WARMUP = 200_000  # iterations of a warm-up that passes without a remark
MAX_RESTARTS = 6  # halvings of the step; one when there is a fallback
MAX_EXTENSIONS = 4  # doublings of the length; one when there is a fallback
MAX_SHIFT = 0.4  # of the thermostat, in units of its diffusion: beyond it the variance suffers
POOR_SHIFT = 0.75  # of the mean, in posterior standard deviations
POOR_SPREAD = 3.0  # ratio of variances


@dataclass
class Run:
    """Draws of the weights with what is known about them."""

    weights: FloatArray
    diagnostics: Diagnostics
    info: dict[str, Any]
    moments: tuple[FloatArray, FloatArray] | None = None
    """Mean and variance of the weights over all draws, where not all of them are kept."""


@dataclass
class _Supervisor:
    """Carries out one run and remembers what had to be corrected."""

    problem: Problem
    n_draws: int
    n_jobs: int | None
    progress: Progress
    journal: Journal
    glance: Callable[[FloatArray], str] | None = None
    """What else to show, from the mean weights so far."""
    max_restarts: int = MAX_RESTARTS
    max_extensions: int = MAX_EXTENSIONS
    restarts: int = 0
    anchors: int = 0
    iterations: int = 0
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)

    def advance(self, ensemble: Ensemble, stage: str, n_draws: int, thin: int) -> None:
        """Let all chains make ``n_draws`` draws, in rounds short enough to watch.

        Draws that the journal holds from before a crash are taken from there.
        """
        stretch = self.journal.stretch(ensemble.chains, n_draws)
        done, size, resumed, counted = stretch.done, 8, stretch.done, self.iterations
        fixed = ensemble.round_draws(thin) if ensemble.round_draws else None
        began = time.perf_counter()
        while done < n_draws:
            size = min(fixed or size, n_draws - done)
            start = time.perf_counter()
            try:
                with stretch.round(size):
                    if ensemble.advance is not None:
                        ensemble.advance(size, thin)
                    else:
                        run_chains(ensemble.chains, size, thin, self.n_jobs)
            except DivergenceError:
                self.iterations = counted  # how many there were depends on the clock
                raise
            seconds = time.perf_counter() - start
            done += size
            self.iterations = counted + done * thin * len(ensemble.chains)
            made = (done - resumed) * len(ensemble.chains)
            speed = made / max(1e-9, time.perf_counter() - began)
            if self.progress.shown:
                detail = (
                    _glance(ensemble, self.glance) if stage == "sampling" and done >= 16 else ""
                )
                self.progress.update(stage, done, n_draws, f"{detail}{speed:.0f} draws/s")
            size = int(np.clip(size * ROUND_SECONDS / max(seconds, 1e-6), 1, 4 * size))
            stretch.pause()
        stretch.end()
        self.iterations = counted + n_draws * thin * len(ensemble.chains)

    def prepare(self, sampler: Sampler, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Lay out the rows and find the anchor, with signs of life where that takes long."""
        steps = 0

        def show(mean: FloatArray) -> None:
            nonlocal steps
            steps += 1
            self.progress.update("preparing", steps, steps, "")

        with listening(show if self.progress.shown else None):
            ensemble = sampler.start(self.problem, generators)
        if ensemble.step_is_given and ensemble.adaptive and ensemble.warmup > LONGEST_WARMUP:
            warnings.warn(
                f"with step={ensemble.info['step']:g} a chain needs {ensemble.thin:,} iterations "
                f"from one draw to the next and {ensemble.warmup:,} to warm up: choose a larger "
                "step, leave the step out, or set burn_in and thin",
                StepSizeWarning,
                stacklevel=2,
            )
        return ensemble

    def warm_up(self, ensemble: Ensemble) -> Ensemble:
        """Run and drop the warm-up; mend step and anchor when it shows that they are poor."""
        while True:
            marks = max(20, min(100, ensemble.warmup))
            thin = max(1, ensemble.warmup // marks)
            try:
                if ensemble.warmup > 0:
                    self.advance(ensemble, "warm-up", min(marks, ensemble.warmup), thin)
            except DivergenceError:
                if not _may_shrink(ensemble):
                    raise
                ensemble = self._smaller_step(ensemble, "a chain diverged")
                continue
            better = self._mended(ensemble) if ensemble.adaptive and ensemble.restart else None
            for chain in ensemble.chains:
                chain.forget()
            if better is None:
                return ensemble
            ensemble = better

    def _mended(self, ensemble: Ensemble) -> Ensemble | None:
        """A better ensemble, when the warm-up speaks against this one."""
        positions, trace = collected(ensemble.chains)
        half = positions.shape[1] // 2
        diffusion = ensemble.info.get("diffusion")
        if diffusion is not None and _may_shrink(ensemble):
            shift = float(trace[:, half:, 1].mean()) / diffusion - 1.0
            if shift > MAX_SHIFT:
                return self._smaller_step(ensemble, f"the thermostat ran {shift:.0%} hot")
        late = positions[:, half:].reshape(-1, positions.shape[-1])
        off = float(np.abs(late.mean(axis=0)).max())
        spread = late.var(axis=0)
        ratio = float(max(spread.max(), 1.0 / max(spread.min(), 1e-12)))
        poor = off > POOR_SHIFT or ratio > POOR_SPREAD
        if poor and ensemble.movable and self.anchors < 2:
            self.anchors += 1
            self.notes.append(f"re-anchored (mean off by {off:.1f} sd, variance by {ratio:.1f})")
            assert ensemble.restart is not None
            return ensemble.restart(late, False)
        return None

    def _smaller_step(self, ensemble: Ensemble, reason: str) -> Ensemble:
        self.restarts += 1
        if self.restarts > self.max_restarts or ensemble.restart is None:
            raise DivergenceError(
                f"{reason} (step halved {self.max_restarts} times): rescale the features, for "
                "instance with StandardScaler, or choose another sampler"
            )
        self.notes.append(f"step halved ({reason})")
        return ensemble.restart(None, True)

    def sample(self, ensemble: Ensemble) -> tuple[Ensemble, Watched, FloatArray]:
        """Make the draws; go on for longer while they do not suffice.

        Chains that agree and only move slowly keep every second draw. Otherwise their first draws
        were still on the way, and all are dropped.
        """
        thin, made = ensemble.thin, 0
        for extension in range(self.max_extensions + 1):
            if ensemble.kept is not None and made == 0:
                ensemble.kept.reserve(self.n_draws)
            try:
                self.advance(ensemble, "sampling", self.n_draws - made, thin)
            except KeyboardInterrupt:
                if not all(chain.draws for chain in ensemble.chains):
                    raise
                self.interrupted = True
            except DivergenceError:
                if not _may_shrink(ensemble):
                    raise
                ensemble = self.warm_up(self._smaller_step(ensemble, "a chain diverged"))
                made = 0
                continue
            positions, trace = collected(ensemble.chains)
            watched = Watched(positions, self.n_jobs)
            if self.interrupted or not ensemble.adaptive or extension == self.max_extensions:
                break
            missing = lacking(watched)
            if not missing:
                break
            thin *= 2
            self.notes.append(f"draws taken {thin} iterations apart")
            useful = missing == "draws" and ensemble.draw_weights is None
            for chain in ensemble.chains:
                if useful:
                    chain.halve()
                else:
                    chain.forget()
            made = -(-self.n_draws // 2) if useful else 0
        ensemble.info["thin"] = thin
        return ensemble, watched, trace


def _may_shrink(ensemble: Ensemble) -> bool:
    """Whether the step is ours to change."""
    return ensemble.adaptive and ensemble.restart is not None and not ensemble.step_is_given


def _glance(ensemble: Ensemble, more: Callable[[FloatArray], str] | None) -> str:
    """Worst R-hat so far over a few coordinates, cheap enough to show at every round."""
    positions, _ = collected(ensemble.chains)
    few = np.linspace(0, positions.shape[-1] - 1, min(16, positions.shape[-1])).astype(int)
    seen = f"worst R-hat {rhat(positions[..., few]).max():.3f}  "
    if more is None:
        return seen
    if ensemble.kept is not None:
        return f"{seen}{more(ensemble.kept.moments()[0])}  "
    return f"{seen}{more(ensemble.weights(positions.mean(axis=(0, 1))[None, None])[0, 0])}  "


def equally_weighted(weight: FloatArray) -> IntArray:
    """Indices that repeat or drop draws so that those left count the same (systematic sampling).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.sampling import equally_weighted
    >>> equally_weighted(np.array([3.0, 1.0, 1.0, 1.0]))
    array([0, 0, 1, 3])
    """
    share = np.cumsum(weight) / np.sum(weight)
    return np.searchsorted(share, (np.arange(weight.size) + 0.5) / weight.size)


def _attempt(
    supervisor: _Supervisor, ensemble: Ensemble, rng: np.random.Generator
) -> tuple[Ensemble, Watched, FloatArray, float, SteinCheck] | None:
    """Sample and check; None when the draws are poor and the ensemble has a fallback."""
    fallback = ensemble.fallback
    try:
        ensemble, watched, trace = supervisor.sample(supervisor.warm_up(ensemble))
    except DivergenceError as error:
        if fallback is None:
            raise
        supervisor.notes.append(f"handed over to the exact sampler ({error.args[0]})")
        return None
    noise, stein = 0.0, SteinCheck(0.0, np.inf)
    if ensemble.checks is not None:
        noise, stein = ensemble.checks(watched.positions, rng)
    elif ensemble.target is not None:
        work = workspace(ensemble.target, working_type(ensemble.target))
        checked, centre = ensemble.kept.checked() if ensemble.kept else (watched.positions, None)
        noise = gradient_noise(ensemble.target, checked, work, rng)
        stein = stein_check(ensemble.target, checked, work, rng, centre)
    may_hand_over = fallback is not None and not supervisor.interrupted
    if may_hand_over and (biased(stein) or lacking(watched)):
        supervisor.notes.append(f"handed over to the exact sampler (bias {stein.bias:+.2f})")
        return None
    return ensemble, watched, trace, noise, stein


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
    supervisor = _Supervisor(problem, n_draws, n_jobs, progress, journal, glance)
    ensemble = supervisor.prepare(sampler, generators)
    if ensemble.fallback is not None:
        supervisor.max_restarts = supervisor.max_extensions = 1
    outcome = _attempt(supervisor, ensemble, generators[-1])
    if outcome is None:
        assert ensemble.fallback is not None
        supervisor.max_restarts, supervisor.max_extensions = MAX_RESTARTS, MAX_EXTENSIONS
        supervisor.restarts = 0
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
        positions = positions[:, equally_weighted(weight)]
    moments = ensemble.kept.moments() if ensemble.kept else None
    return Run(ensemble.weights(positions), diagnostics, info, moments)
