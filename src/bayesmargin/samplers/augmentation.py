"""Settings and chains of augmentation Gibbs sampling."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesmargin.approximation.exact import complete_target, require_finite
from bayesmargin.augmentation.blocks import blocked, blocks_of
from bayesmargin.augmentation.mixing import Augmented, GibbsState, GibbsWork, gibbs_work
from bayesmargin.augmentation.multiclass import record_sweeps, refresh_scores
from bayesmargin.augmentation.single import (
    heavy_limit,
    in_single,
    loses_digits,
    single_is_enough,
)
from bayesmargin.augmentation.variates import new_lanes
from bayesmargin.augmentation.wide import frozen_argmax_sweep, sweep_by_rows
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.arguments import require_choice, require_flag, require_length
from bayesmargin.foundation.types import FloatArray
from bayesmargin.priors.moments import GaussianBelief, Prior
from bayesmargin.rows.blocks import as_dense
from bayesmargin.running.chains import TRACE_NAMES, Recorded
from bayesmargin.running.ensemble import Account, Chains, Ensemble, Plan, View
from bayesmargin.samplers.base import Sampler
from bayesmargin.targets.problem import Problem

FORMS = ("auto", "joint", "wide", "coordinate")
ARITHMETIC = ("auto", "double", "single")
JOINT_LIMIT = 4000  # columns up to which a Cholesky factorisation a sweep is affordable
WARMUP = 200


def augmented(problem: Problem, arithmetic: str = "double") -> Augmented:
    """What the compiled sweep reads of a problem."""
    problem.require_one_hinge()
    blocks, cost = blocks_of(problem), problem.cost.astype(float)
    if arithmetic == "single" or (arithmetic == "auto" and single_is_enough(problem, blocks)):
        blocks = in_single(blocks)
    label = problem.sign.astype(np.int32) if problem.is_binary else problem.label.astype(np.int32)
    if isinstance(problem.prior, Prior):
        raise ValueError(
            f"augmentation does not know the prior {type(problem.prior).__name__}, only Gaussian "
            "and Laplace ones: choose a sampler that moves by gradients, such as SSGNHT or "
            "SubgradientHMC"
        )
    prior, size, real = problem.prior, problem.n_weights, blocks.values.dtype
    kink: FloatArray = np.zeros((1, 0), real)
    if problem.is_binary:
        kink = blocked(blocks, (problem.hinges.level * label).astype(real))
    matrix: FloatArray = np.empty((0, 0))
    inverse_scale: FloatArray = np.empty(0)
    if isinstance(prior, GaussianBelief):
        mean = np.array(prior.mean, dtype=float)
        if prior.precision.ndim == 2:
            matrix = np.ascontiguousarray(prior.precision)
    else:
        mean, inverse_scale = np.zeros(size), 1.0 / np.broadcast_to(prior.scale, (size,))
    return Augmented(
        blocks=blocks,
        label=blocked(blocks, label),
        cost=blocked(blocks, cost.astype(real)),
        heavy=heavy_limit(blocks),
        margin=float(problem.margin),
        kink=kink,
        tilt=problem.tilt if np.any(problem.tilt) else np.empty(0),
        n_classes=problem.n_blocks,
        mean=mean,
        matrix=matrix,
        inverse_scale=inverse_scale,
    )


def gibbs_state(
    problem: Problem, target: Augmented, weights: FloatArray, rng: np.random.Generator
) -> GibbsState:
    """State at ``weights`` with scores in place."""
    count, _, size = target.blocks.values.shape
    in_lanes = target.blocks.values.dtype == np.float32
    prior = problem.prior
    precision: FloatArray = np.ones(problem.n_weights)
    if isinstance(prior, GaussianBelief) and prior.precision.ndim == 1:
        precision = prior.precision
    state = GibbsState(
        weights=np.array(weights, dtype=float),
        precision=np.array(precision, dtype=float),
        scores=np.zeros((count, target.n_classes, size), target.blocks.values.dtype),
        lanes=new_lanes(rng, size if in_lanes else 0),
        clock=np.zeros(1, dtype=np.int64),
    )
    for k in range(target.n_classes):
        refresh_scores(target, state, k)
    return state


@dataclass
class GibbsChain(Recorded):
    """One chain of sweeps."""

    problem: Problem
    target: Augmented
    state: GibbsState
    work: GibbsWork
    rng: np.random.Generator
    form: str
    rows: FloatArray
    draws: list[FloatArray] = field(default_factory=list)
    trace: list[FloatArray] = field(default_factory=list)

    def run(self, n_draws: int, thin: int) -> None:
        """Append ``n_draws`` draws, ``thin`` sweeps apart."""
        draws = np.empty((n_draws, self.state.weights.size))
        try:
            self._fill(draws, thin)
        except np.linalg.LinAlgError as error:
            raise DivergenceError(
                f"the Gibbs sampler met a precision matrix that has no factor ({error}): columns "
                "are nearly multiples of one another and the prior is very wide; leave such "
                'columns out, choose a smaller prior_scale, or arithmetic="double"'
            ) from error
        if not np.isfinite(draws).all():
            raise DivergenceError(
                "the Gibbs sampler met weights that are not finite: scale the features"
            )
        trace = np.ones((n_draws, len(TRACE_NAMES)))
        trace[:, 2] = np.sqrt(np.einsum("ij,ij->i", draws, draws))
        self.draws.append(draws)
        self.trace.append(trace)

    def _fill(self, draws: FloatArray, thin: int) -> None:
        if self.form in ("joint", "coordinate"):
            by_coordinate = self.form == "coordinate"
            record_sweeps(self.target, self.state, self.rng, self.work, by_coordinate, thin, draws)
        else:
            for draw in draws:
                for _ in range(thin):
                    self._sweep()
                draw[:] = self.state.weights

    def _sweep(self) -> None:
        if self.form != "frozen":
            orthogonal = self.form == "orthogonal"
            sweep_by_rows(self.target, self.rows, self.state, self.work, self.rng, orthogonal)
            return
        problem = self.problem
        prior = self.target.mean, self.state.precision
        self.state.weights[:] = frozen_argmax_sweep(
            problem.label,
            problem.cost,
            problem.margin,
            self.rows,
            *prior,
            self.state.weights,
            self.rng,
        )
        self.state.clock[0] += 1


@dataclass(frozen=True, kw_only=True)
class AugmentationGibbs(Sampler):
    r"""Gibbs sampling with the hinge as a scale mixture of Gaussians; exact, nothing to tune.

    Polson and Scott (2011) for two classes; for more, class by class, with the component common to
    all classes redrawn from its own conditional. See :mod:`bayesmargin.augmentation.multiclass`.

    Parameters
    ----------
    form : {"auto", "joint", "wide", "coordinate"}
        How the weights of a class are drawn: jointly from the Gram matrix
        (:math:`D n^2 + n^3`), jointly by a system in the rows (:math:`D^2 n + D^3`, for more
        columns than rows), or one after another (:math:`D n`, slower mixing). Where columns are so
        nearly alike that the Gram matrix has lost its digits, a QR factorisation of the rows takes
        its place, and several times as long.
    arithmetic : {"auto", "double", "single"}
        Precision of the rows and of sums over 256 of them in the joint form; all else is double.
        Single precision sweeps twice as fast. "auto" takes it for large problems where it
        changes the precision matrix of the weights by less than one part in 10^5 in any direction
        (:mod:`bayesmargin.augmentation.single`).
    legacy_frozen_argmax : bool
        For more than two classes, the shortcut of the literature that takes the runner-up class of
        each row for granted and draws all classes jointly. It does **not** sample the posterior
        (variances off by half and more) and exists to reproduce published baselines.
    burn_in, thin : int, optional
        Sweeps discarded, and between draws. Left out, chosen from R-hat and ESS.

    Examples
    --------
    >>> from bayesmargin.samplers import AugmentationGibbs
    >>> AugmentationGibbs(form="coordinate").legacy_frozen_argmax
    False
    """

    form: str = "auto"
    arithmetic: str = "auto"
    legacy_frozen_argmax: bool = False
    burn_in: int | None = None
    thin: int | None = None

    def __post_init__(self) -> None:
        require_choice("form", self.form, FORMS)
        require_choice("arithmetic", self.arithmetic, ARITHMETIC)
        require_length(self.burn_in, self.thin)
        require_flag("legacy_frozen_argmax", self.legacy_frozen_argmax)

    def chosen_form(self, problem: Problem) -> str:
        """Form of the sweep that suits the shape of a problem."""
        prior = problem.prior
        diagonal = not (isinstance(prior, GaussianBelief) and prior.precision.ndim == 2)
        if self.legacy_frozen_argmax:
            if problem.is_binary or not isinstance(prior, GaussianBelief) or not diagonal:
                raise ValueError(
                    "legacy_frozen_argmax=True needs more than two classes and a Gaussian prior "
                    "with a diagonal precision"
                )
            return "frozen"
        if self.form == "wide" and not diagonal:
            raise ValueError("form='wide' needs a diagonal prior precision")
        if self.form != "auto":
            return self.form
        n_rows, n_columns = problem.source.n_rows, problem.source.n_columns
        if diagonal and n_columns > n_rows and n_rows <= JOINT_LIMIT:
            return "wide"
        return "joint" if n_columns <= JOINT_LIMIT else "coordinate"

    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Lay out the rows and place one chain a generator at the origin."""
        require_finite(problem)
        form = self.chosen_form(problem)
        target = augmented(problem, self.arithmetic if form == "joint" else "double")
        in_double = target.blocks.values.dtype == np.float64
        if form == "joint" and in_double and loses_digits(problem, target.blocks):
            form = "orthogonal"
        by_rows = form in ("wide", "orthogonal", "frozen")
        index = np.arange(problem.source.n_rows if by_rows else 0)
        rows = as_dense(problem.source.take(index), problem.source.n_columns).astype(
            float, copy=False
        )
        chains = []
        for rng in generators[:-1]:
            state = gibbs_state(problem, target, np.zeros(problem.n_weights), rng)
            work = gibbs_work(target)
            chains.append(GibbsChain(problem, target, state, work, rng, form, rows))
        checked = target.matrix.size == 0
        info: dict[str, Any] = {
            "sampler": type(self).__name__,
            "form": form,
            "arithmetic": target.blocks.values.dtype.name,
        }
        return Ensemble(
            Chains(chains),
            Plan(
                thin=self.thin or 1,
                warmup=WARMUP if self.burn_in is None else self.burn_in,
                adaptive=self.thin is None and self.burn_in is None,
            ),
            View(raw=True),
            account=Account(
                target=complete_target(problem).target if checked else None,
                exact=form != "frozen",
            ),
            info=info,
        )
