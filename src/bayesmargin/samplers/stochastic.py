"""What the stochastic subgradient samplers share: anchor, coordinates, batches, placing chains.

The samplers themselves (``*_settings.py``) differ in little more than their dynamics.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesmargin.approximation import fit_close_anchor
from bayesmargin.approximation.common_axes import in_common_axes
from bayesmargin.approximation.contrasts import without_shared_part
from bayesmargin.approximation.gaussian import GaussianAnchor
from bayesmargin.approximation.row_states import RowStates, row_states
from bayesmargin.approximation.screening import (
    SCREEN,
    Screening,
    allocate,
    in_turns,
    quiet_batch,
    screen,
    without_idle_rows,
)
from bayesmargin.approximation.targets import (
    ROW_TYPE,
    PreparedTarget,
    anchored_target,
    plain_target,
    rows_can_be_whitened,
)
from bayesmargin.diagnostics.stein import gradient_variances
from bayesmargin.dynamics.base import initial_state
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.largest import MulticlassHinge
from bayesmargin.priors.shared import shared_part
from bayesmargin.running.chains import Chain
from bayesmargin.running.classes_side_by_side import ClassesInCompany
from bayesmargin.running.ensemble import Chains, Ensemble, Plan, Remedies, View
from bayesmargin.running.neighbour_lists import FARTHEST_MOVE, period_of
from bayesmargin.running.side_by_side import TURNS, ChainInCompany
from bayesmargin.samplers.again import Again, BesideAnchor
from bayesmargin.samplers.settings import StochasticSettings
from bayesmargin.samplers.sharing import (
    Blocks,
    SharedChain,
    SharedInCompany,
    shared_blocks,
)
from bayesmargin.samplers.wide_start import is_wide, start_wide
from bayesmargin.targets.coordinates import n_positions
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import workspace

SMOOTH = 1.2  # roughness up to which the default steps need no reduction
SMOOTH_WHOLE, SMOOTH_CLASSES = 4.0, 2.4  # in exact gradients: of one score, and of several
TRAJECTORY = 12  # passes that a trajectory which crosses kinks needs besides one for each of them
COSTLY = 1 << 18  # numbers in the rows of a batch from which on other ways are looked at
CHEAPER = 4  # times the rows of a batch that a step with exact gradients may read
CHEAPER_CLASSES = 8  # the same where products of matrices make the scores of several classes
LONG, CHEAPER_LONG = 256, 24  # the same for rows of so many columns, where products are nearly all
STEADIER = 40  # the same where chains have been too hot, or thrown off, with batches
CLOSER = 0.35  # relaxation times between draws where steps read all rows,
DEAR = 1 << 20  # products of a step of one chain beyond which every step makes a draw at first,
CLOSEST = 8  # or so many in the time that draws are expected to need,
AT_FIRST = 3  # fewer where rows are not all read at every step: agreement comes later there,
MORE = 2  # doublings of the spacing after that beyond what batches may have,
BRIEF = 0.0625  # steps of several classes that walls force so short may be
BOLD, LUKEWARM = 3.0, 0.01  # times longer, if they stay so cool
CROSSED = 1.5  # the time in which the kinks are crossed that row states tell of
LOOSE = (1.5, 6.0)  # tolerance of the anchor (see Plan) where rows are all read: starts are dear,
SHORTER = 30  # and relaxation times of their warm-up, in exact gradients and long steps
DEARER = 3  # times a pass of the thermostat that one of these takes, in double precision


@dataclass(frozen=True, kw_only=True)
class StochasticSampler(StochasticSettings):
    """What stochastic samplers share; :class:`~bayesmargin.samplers.SSGLD` has the parameters."""

    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Prepare the target and place one chain a generator on it."""
        if is_wide(problem):
            return start_wide(self, problem, generators)
        if not self.control_variates and self.preconditioner != "hessian":
            return self.place(problem, generators, None, 1.0)
        anchor = fit_close_anchor(problem, generators[-1])
        if self.preconditioner == "hessian":
            shared = shared_part(problem.prior, problem.n_blocks)
            anchor = in_common_axes(without_shared_part(anchor, shared))
        return self.place(problem, generators, anchor, 1.0)

    @property
    def _reads_all(self) -> bool:
        """Whether steps may read all rows: there is a step for it, and nothing else was chosen."""
        chosen = (self.step, self.batch_size, self.thin, self.burn_in)
        free = all(one is None for one in chosen) and self.control_variates
        return free and self.preconditioner == "hessian" and self.whole_step() is not None

    def _prepare(
        self,
        problem: Problem,
        anchor: GaussianAnchor | None,
        shrink: float,
        rng: np.random.Generator,
        steady: bool,
    ) -> tuple[PreparedTarget, float, dict[str, float], int | None]:
        """Target, the step that suits it times ``shrink``, and what is known about its kinks.

        Last, where chains read all rows side by side, how many of them at every step; ``steady``
        ones do so unless that takes far longer.
        """
        n_columns = problem.source.n_columns
        batch_size = self.batch_size or default_batch_size(n_columns)
        if anchor is None:
            step = self.step or self.default_step()
            return plain_target(problem, batch_size, rng), shrink * step, {}, None
        states = row_states(problem, anchor, SCREEN if self.control_variates else None)
        kinks = {"roughness": states.roughness(), "kinks_crossed": states.crossings()}
        gentle = min(1.0, SMOOTH / max(kinks["roughness"], 1e-12))
        step = shrink * (self.step or self.default_step() * gentle)
        screening, near, whole = None, None, None
        if self.control_variates:
            screening = screen(states.distance, states.reach, rng)
            whole = self._whole(problem, anchor, states, screening, step, steady)
            if whole is not None:
                batch_size = near = whole.index.size
                smooth = SMOOTH_WHOLE if problem.is_binary else SMOOTH_CLASSES
                longest = smooth * self.default_step() / max(kinks["roughness"], 1e-12)
                if not problem.is_binary and longest <= BRIEF:
                    longest = min(BOLD * longest, max(longest, _lukewarm(anchor, kinks)))
                step = shrink * min(self.whole_step() or step, longest)
                screening = whole
                if problem.is_binary:
                    far = states.distance, states.reach, step, anchor.n_directions
                    screening, near = in_turns(whole, *far, TURNS, rng)
        prepared = anchored_target(
            problem,
            anchor,
            states,
            batch_size,
            step,
            rng,
            control_variates=self.control_variates,
            whiten=self.preconditioner == "hessian",
            quiet=self.batch_size is None,
            screening=screening,
        )
        if whole is not None and not problem.is_binary and period_of(step, n_columns) > 1:
            width = states.reach[whole.index] / problem.cost[states.place[whole.index]]
            prepared = replace(prepared, stride=FARTHEST_MOVE * step * np.sqrt(0.5) * width)
        return prepared, step, kinks, near

    def _whole(
        self,
        problem: Problem,
        anchor: GaussianAnchor,
        states: RowStates,
        screening: Screening,
        step: float,
        steady: bool,
    ) -> Screening | None:
        """The rows of every step where it is cheaper to read all of them than large batches.

        Exact gradients bear longer steps, every second of which is a draw, and chains side by side
        read a row once; so batches have to be a good deal smaller to be worth their noise.
        """
        if not self._reads_all or (problem.is_binary and not rows_can_be_whitened(problem, anchor)):
            return None
        n_columns = problem.source.n_columns
        batch_size = default_batch_size(n_columns)
        batch_size = quiet_batch(screening, batch_size, step, anchor.n_directions, n_columns)
        taken = int(allocate(screening, batch_size, step).take.sum())
        if taken * n_columns * problem.n_blocks < COSTLY and not steady:
            return None
        whole = without_idle_rows(screening, states.distance)
        several = CHEAPER_LONG if n_columns >= LONG else CHEAPER_CLASSES
        cheaper = CHEAPER if problem.is_binary else several
        cheaper = STEADIER if steady else cheaper
        return whole if whole.index.size <= cheaper * taken else None

    def place(
        self,
        problem: Problem,
        generators: Sequence[np.random.Generator],
        anchor: GaussianAnchor | None,
        shrink: float,
        steady: bool = False,
    ) -> Ensemble:
        """Chains around an anchor, with ``shrink`` times the step that suits them.

        ``steady`` ones read all rows at every step, unless that takes far longer.
        """
        rng, n_columns = generators[-1], problem.source.n_columns
        prepared, step, kinks, near = self._prepare(problem, anchor, shrink, rng, steady)
        whole = near is not None
        chains, shared = [], shared_part(problem.prior, problem.n_blocks)
        size = n_positions(prepared.coordinates, problem.n_weights)
        known: FloatArray | None = None
        if self.preconditioner == "hessian":
            n_places, repeats = self.noise_looks(problem.source.n_rows * problem.source.n_columns)
            places = generators[-1].standard_normal((n_places, size))
            if whole:
                known = np.zeros(size)
            else:
                work = workspace(prepared.target, ROW_TYPE)
                noise = gradient_variances(prepared.target, places, work, generators[-1], repeats)
                known = self.typical_noise(noise)
        moving = self.with_exact_gradients() if whole else self
        dynamics = moving.dynamics(step, problem.source.n_rows, known)
        dynamics = moving.within_prior(dynamics, step, problem.prior)
        blocks = shared_blocks(prepared.coordinates, shared)
        for number, rng in enumerate(generators[:-1]):
            start = rng.standard_normal(size)
            if self.preconditioner != "hessian":
                start = start * anchor.variances() ** 0.5 + anchor.mean if anchor else 0.0 * start
            state = initial_state(start, rng, moving.diffusion_level)
            work = workspace(prepared.target, ROW_TYPE)
            parts = (dynamics, prepared.target, state, work, rng)
            chains.append(chain_of(parts, blocks, near, number))
            if prepared.stride is not None and isinstance(chains[-1], ClassesInCompany):
                chains[-1].take_lists(period_of(step, n_columns), prepared.stride)
        pace = self.relaxation(step) if self.preconditioner == "hessian" else 10.0

        whitened = self.preconditioner == "hessian"
        batch_size = int(prepared.target.strata.take.sum())
        spacing, settling = (CLOSER, SHORTER) if whole else (0.5, 50)
        usual, closer, first = max(1, round(spacing * pace)), 0, 1
        several = whole and not problem.is_binary
        if whole and batch_size * problem.n_weights > DEAR:
            first = max(1, usual // (CLOSEST if prepared.stride is None else AT_FIRST))
            closer = math.ceil(math.log2(usual / first)) + MORE
        return Ensemble(
            Chains(chains),
            Plan(
                thin=self.thin or (first if closer else usual),
                warmup=max(50, round(settling * pace)) if self.burn_in is None else self.burn_in,
                adaptive=self.thin is None and self.burn_in is None,
                step_is_given=self.step is not None,
                closer=closer,
                tolerance=LOOSE if whole else Plan.tolerance,
                slow=2 * batch_size > prepared.n_rows_used
                and step * DEARER * (TRAJECTORY + kinks.get("kinks_crossed", np.inf)) < 1.0,
            ),
            View(
                of=prepared,
                shared=shared,
                n_directions=None if blocks is None else blocks.n_directions,
                raw=not whitened,
            ),
            Again(self, problem, generators, anchor, prepared, shrink, not several, whole)
            if whitened
            else Remedies(),
            BesideAnchor(self, step, chains, known, whitened, target=prepared.target),
            info={
                "sampler": type(self).__name__,
                "step": step,
                "diffusion": getattr(moving, "diffusion", None),
                "batch_size": batch_size,
                "rows_at_every_step": near,
                "rows_in_reach": prepared.n_rows_used,
                "predicted_gradient_noise": prepared.noise,
                "anchor_passes": anchor.iterations if anchor else 0,
                **kinks,
            },
        )


def _lukewarm(anchor: GaussianAnchor, kinks: dict[str, float]) -> float:
    r"""The step at which kinks, cut short by steps, warm momenta by a share of :data:`LUKEWARM`.

    A kink of jump :math:`J` that is crossed at a random part of a step leaves an error of variance
    :math:`(hJ)^2/12` in one direction. A thermostat takes it away where directions are many beside
    kinks, and it takes that long until the mean is at all off.
    """
    jump = np.sqrt(0.5) * kinks["roughness"]  # whose width is a sum, of two that are about alike
    rate = kinks["kinks_crossed"] / (CROSSED * anchor.n_directions)
    return float(np.sqrt(12.0 * LUKEWARM / max(rate, 1e-12)) / max(jump, 1e-12))


def chain_of(parts: Any, blocks: Blocks | None, near: int | None, number: int) -> Chain:
    """A chain that reads all rows beside others or batches alone, and draws what blocks share."""
    if near is None:
        return Chain(*parts) if blocks is None else SharedChain(*parts, blocks=blocks)
    several = isinstance(parts[1].hinge, MulticlassHinge)
    chain: ChainInCompany = (ClassesInCompany if several else ChainInCompany)(*parts)
    if blocks is not None:
        chain = SharedInCompany(*parts, blocks=blocks)
    chain.side, chain.near = number % 2, near
    return chain


def default_batch_size(n_columns: int) -> int:
    """Rows a step: enough that gradient noise stays small beside the injected noise."""
    return max(16, 5 * n_columns)
