"""One run of all chains, and what its own diagnostics make of it on the way.

A step that diverges, overheats the thermostat or throws a chain off is halved, unless an exact
sampler that costs little stands ready; where that does not help, every row is read. An anchor that
the warm-up contradicts is replaced by one estimated from the warm-up; chains that disagree, or hold
too few effective draws, go on for longer.
"""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from bayesmargin.diagnostics.assessment import Watched, enough_draws, lacking
from bayesmargin.diagnostics.convergence import rhat
from bayesmargin.diagnostics.stein import full_cost
from bayesmargin.errors import DivergenceError, StepSizeWarning
from bayesmargin.foundation.observers import listening
from bayesmargin.foundation.types import FloatArray
from bayesmargin.running.chains import collected
from bayesmargin.running.ensemble import Ensemble
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import Progress
from bayesmargin.running.rounds import in_rounds
from bayesmargin.running.signs import MAX_SHIFT, doubtfully_hot, may_shrink, shift, thrown
from bayesmargin.samplers.base import Sampler
from bayesmargin.targets.problem import Problem

LONGEST_WARMUP = 200_000  # iterations of a warm-up that passes without a remark
MAX_RESTARTS = 6  # halvings of the step; one when there is a fallback, none when that is cheap
MORE_RESTARTS = 2  # of exact gradients in the place of batches
MAX_EXTENSIONS = 4  # doublings of the length; one when there is a fallback
SECOND_LOOK = 4  # times the warm-up that is added where chance may have shifted the thermostat
CHEAP = 1e5  # products of a gradient of all rows with which HMC takes a second or two
MARGIN = 1.1  # times as many draws are made as seem to be needed


def exact_is_cheap(ensemble: Ensemble) -> bool:
    """Whether HMC, which reads all rows in reach, takes no more than a second or two."""
    target = ensemble.account.target
    return target is not None and full_cost(target) <= CHEAP


@dataclass
class Supervisor:
    """Carries out one run and remembers what had to be corrected."""

    problem: Problem
    n_draws: int
    n_jobs: int | None
    progress: Progress
    journal: Journal
    glance: Callable[[FloatArray], str] | None = None
    """What else to show, from the mean weights so far."""
    may_hand_over: bool = False
    """Whether another sampler stands ready for the case that this one's steps are too short."""
    max_restarts: int = MAX_RESTARTS
    max_extensions: int = MAX_EXTENSIONS
    restarts: int = 0
    anchors: int = 0
    iterations: int = 0
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)

    def begin(self, ensemble: Ensemble) -> None:
        """Set how often chains are mended: once where another sampler stands ready instead.

        Where that one costs little, a step that is too long is not mended at all.
        """
        self.restarts, self.may_hand_over = 0, ensemble.remedies.fallback is not None
        self.max_restarts = MAX_RESTARTS
        if self.may_hand_over:
            self.max_restarts = 0 if exact_is_cheap(ensemble) else 1
        self.max_extensions = (1 if self.may_hand_over else MAX_EXTENSIONS) + ensemble.plan.closer

    def advance(self, ensemble: Ensemble, stage: str, n_draws: int, thin: int) -> None:
        """Let all chains make ``n_draws`` draws, in rounds short enough to watch.

        Draws that the journal holds from before a crash are taken from there.
        """
        stretch = self.journal.stretch(ensemble.chains, n_draws)
        resumed, counted = stretch.done, self.iterations
        began = time.perf_counter()

        def run(size: int) -> None:
            try:
                with stretch.round(size):
                    ensemble.chains.advance(size, thin, self.n_jobs)
            except DivergenceError:
                self.iterations = counted  # how many there were depends on the clock
                raise

        def after(made: int) -> None:
            done = resumed + made
            self.iterations = counted + done * thin * len(ensemble.chains)
            speed = made * len(ensemble.chains) / max(1e-9, time.perf_counter() - began)
            if self.progress.shown:
                detail = (
                    _glance(ensemble, self.glance) if stage == "sampling" and done >= 16 else ""
                )
                self.progress.update(stage, done, n_draws, f"{detail}{speed:.0f} draws/s")
            stretch.pause()

        fixed = ensemble.chains.round_draws(thin)
        with self.journal.checkpoint.watching():
            in_rounds(run, n_draws - resumed, after, fixed=fixed)
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
        plan = ensemble.plan
        if plan.step_is_given and plan.adaptive and plan.warmup > LONGEST_WARMUP:
            warnings.warn(
                f"with step={ensemble.info['step']:g} a chain needs {plan.thin:,} iterations "
                f"from one draw to the next and {plan.warmup:,} to warm up: choose a larger "
                "step, leave the step out, or set burn_in and thin",
                StepSizeWarning,
                stacklevel=2,
            )
        return ensemble

    def warm_up(self, ensemble: Ensemble) -> Ensemble:
        """Run and drop the warm-up; mend step and anchor when it shows that they are poor."""
        while True:
            plan = ensemble.plan
            if self.may_hand_over and plan.slow:
                raise DivergenceError(f"kinks allow steps of {ensemble.info['step']:.1g} only")
            marks = max(20, min(100, plan.warmup))
            thin = max(1, plan.warmup // marks)
            try:
                if plan.warmup > 0:
                    self.advance(ensemble, "warm-up", min(marks, plan.warmup), thin)
                rest = plan.warmup - min(marks, plan.warmup) * thin
                if rest > 0 and not plan.adaptive:  # a length that was asked for
                    self.advance(ensemble, "warm-up", 1, rest)
                if doubtfully_hot(ensemble):
                    self.advance(ensemble, "warm-up", SECOND_LOOK * marks, thin)
            except DivergenceError:
                if not may_shrink(ensemble):
                    raise
                ensemble = self._smaller_step(ensemble, "a chain diverged")
                continue
            mends = plan.adaptive and ensemble.remedies.can_restart
            better = self._mended(ensemble) if mends else None
            for chain in ensemble.chains:
                chain.forget()
            if better is None:
                return ensemble
            ensemble = better

    def _mended(self, ensemble: Ensemble) -> Ensemble | None:
        """A better ensemble, when the warm-up speaks against this one."""
        repaired = ensemble.remedies.repaired()
        if repaired is not None:
            self.notes.append("watched all options (some won that were not watched)")
            return repaired
        positions, trace = collected(ensemble.chains)
        half = positions.shape[1] // 2
        hot = shift(ensemble, trace)
        if hot > MAX_SHIFT:
            return self._smaller_step(ensemble, f"the thermostat ran {hot:.0%} hot")
        late = positions[:, half:].reshape(-1, positions.shape[-1])
        off = float(np.abs(late.mean(axis=0)).max())
        spread = late.var(axis=0)
        ratio = float(max(spread.max(), 1.0 / max(spread.min(), 1e-12)))
        most = ensemble.plan.tolerance
        poor = off > most[0] or ratio > most[1]
        if poor and ensemble.remedies.can_move and self.anchors < 2:
            self.anchors += 1
            self.notes.append(f"re-anchored (mean off by {off:.1f} sd, variance by {ratio:.1f})")
            return ensemble.remedies.around(late)
        return None

    def _smaller_step(self, ensemble: Ensemble, reason: str) -> Ensemble:
        self.restarts += 1
        if self.restarts > self.max_restarts > 0:
            steadier = ensemble.remedies.steadier()
            if steadier is not None:
                self.notes.append(f"every row read ({reason})")
                self.max_extensions += steadier.plan.closer - ensemble.plan.closer
                self.max_restarts += MORE_RESTARTS
                return steadier
        if self.may_hand_over and self.restarts > self.max_restarts:
            raise DivergenceError(reason)
        if self.restarts > self.max_restarts or not ensemble.remedies.can_restart:
            raise DivergenceError(
                f"{reason} (step halved {self.max_restarts} times): rescale the features, for "
                "instance with StandardScaler, or choose another sampler"
            )
        self.notes.append(f"step halved ({reason})")
        return ensemble.remedies.smaller()

    def shorter(self, ensemble: Ensemble, reason: str, times: float) -> Ensemble | None:
        """Chains for a finished run whose steps were so many times too long, if it is worth that.

        It is not where the exact sampler costs little, or takes no more than steps so short.
        """
        halvings = max(1, int(np.ceil(np.log2(times))))
        most = self.max_restarts + MORE_RESTARTS
        if self.max_restarts == 0 or self.restarts + halvings > most or not may_shrink(ensemble):
            return None
        for _ in range(halvings):
            ensemble = ensemble.remedies.smaller()
        self.restarts += halvings
        self.notes.append(f"step halved {halvings} times ({reason})")
        return ensemble

    def sample(self, ensemble: Ensemble) -> tuple[Ensemble, Watched, FloatArray]:
        """Make the draws; go on for longer while they do not suffice.

        Chains that agree and only move slowly keep every second draw; those of dear steps go on for
        as long as seems to be needed, and keep evenly spread draws. Otherwise their first draws
        were still on the way, and all are dropped.
        """
        thin, made, length, extension = ensemble.plan.thin, 0, self.n_draws, 0
        while True:
            if ensemble.view.kept is not None and made == 0:
                ensemble.view.kept.reserve(self.n_draws)
            try:
                self.advance(ensemble, "sampling", length - made, thin)
            except KeyboardInterrupt:
                if not all(chain.draws for chain in ensemble.chains):
                    raise
                self.interrupted = True
            except DivergenceError:
                if not may_shrink(ensemble):
                    raise
                ensemble = self.warm_up(self._smaller_step(ensemble, "a chain diverged"))
                thin, made, length = ensemble.plan.thin, 0, self.n_draws
                continue
            positions, trace = self._spread(*collected(ensemble.chains))
            if not self.interrupted and may_shrink(ensemble) and thrown(ensemble, trace):
                ensemble = self.warm_up(self._smaller_step(ensemble, "a chain was thrown off"))
                thin, made, length = ensemble.plan.thin, 0, self.n_draws
                continue
            watched = Watched(positions, self.n_jobs, ensemble.view.raw)
            fixed = self.interrupted or not ensemble.plan.adaptive
            if fixed or extension == self.max_extensions:
                break
            missing = lacking(watched)
            if not missing:
                break
            equal = ensemble.account.draw_weights(1, thin) is None
            useful = missing == "draws" and equal
            if useful and ensemble.plan.closer and ensemble.view.kept is None:
                wanted = int(np.ceil(MARGIN * length * enough_draws(watched) / watched.worst[1]))
                if wanted < 2 * self.n_draws:
                    made, length = length, wanted
                    self.notes.append(f"spread over {length * thin} iterations")
                    continue
            extension += 1
            thin *= 2
            self.notes.append(f"draws taken {thin} iterations apart")
            for chain in ensemble.chains:
                if useful:
                    chain.halve()
                else:
                    chain.forget()
            made = -(-length // 2) if useful else 0
            length = self.n_draws
        ensemble.info["thin"] = thin
        return ensemble, watched, trace

    def _spread(self, draws: FloatArray, trace: FloatArray) -> tuple[FloatArray, FloatArray]:
        """As many draws as are to be kept, evenly spread over those made."""
        count = draws.shape[1]
        if count <= self.n_draws:
            return draws, trace
        chosen = np.arange(self.n_draws) * count // self.n_draws
        return draws[:, chosen], trace[:, chosen]


def _glance(ensemble: Ensemble, more: Callable[[FloatArray], str] | None) -> str:
    """Worst R-hat so far over a few coordinates, cheap enough to show at every round."""
    positions, _ = collected(ensemble.chains)
    few = np.linspace(0, positions.shape[-1] - 1, min(16, positions.shape[-1])).astype(int)
    seen = f"worst R-hat {rhat(positions[..., few]).max():.3f}  "
    if more is None:
        return seen
    if ensemble.view.kept is not None:
        return f"{seen}{more(ensemble.view.kept.moments()[0])}  "
    return f"{seen}{more(ensemble.weights(positions.mean(axis=(0, 1))[None, None])[0, 0])}  "
