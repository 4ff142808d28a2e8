"""The Gaussian around which the other samplers run, alone, as a posterior of its own."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesmargin.approximation import fit_close_anchor
from bayesmargin.approximation.contrasts import without_shared_part
from bayesmargin.approximation.row_states import row_states
from bayesmargin.approximation.screening import SCREEN
from bayesmargin.approximation.targets import ROW_TYPE, PreparedTarget, anchored_target
from bayesmargin.approximation.wide import fit_wide_anchor
from bayesmargin.approximation.wide_targets import wide_states, wide_target
from bayesmargin.diagnostics.gaussian import energies, gaps, pareto_k
from bayesmargin.diagnostics.stein import affordable, full_gradients, spread_draws
from bayesmargin.dynamics.base import initial_state
from bayesmargin.errors import BiasWarning
from bayesmargin.foundation.types import FloatArray
from bayesmargin.likelihoods.each_score import SeparateHinge
from bayesmargin.likelihoods.largest import InterleavedHinge
from bayesmargin.priors.shared import SharedPart, shared_part
from bayesmargin.running.chains import TRACE_NAMES, Chain
from bayesmargin.running.ensemble import Account, Chains, Ensemble, KeptDraws, Plan, View
from bayesmargin.samplers.base import Sampler
from bayesmargin.samplers.sharing import Blocks, shared_blocks
from bayesmargin.samplers.wide import TOGETHER, WideChain, WideDraws, weights_by_class
from bayesmargin.samplers.wide_start import is_wide
from bayesmargin.samplers.wide_watch import watch
from bayesmargin.targets.coordinates import n_positions
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import workspace

FAR = 0.25  # deviations, root mean square, by which the mean may be off without a warning

AT_ONCE = Plan(thin=1, warmup=0, adaptive=False)


@dataclass(frozen=True)
class Anchor(Sampler):
    r"""Independent draws of the Gaussian that approximates the posterior; no chain runs.

    Two classes have the Gaussian of least divergence :math:`KL(q\,\|\,p)`, several that of a
    smoothed hinge; more than 800 features have one deviation each and a few directions. A fit takes
    some passes over the rows. The draws are as good as the posterior is Gaussian, which the
    attributes of the posterior tell, measured with gradients and energies of all rows at up to 400
    draws: ``mean_off`` and ``worst_mean`` (deviations), ``variance_ratio`` of the posterior beside
    the draws, ``skewness``, and ``pareto_k`` of the importance weights: above 0.7, as it always is
    with many weights, reweighting would not help. ``diagnostics_.bias`` is Stein's identity.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin import BayesianLinearSVC
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> model = BayesianLinearSVC(sampler="anchor", random_state=0).fit(X, X[:, 0] > 0.1)
    >>> model.posterior_.attrs["mean_off"] < 0.5
    True
    """

    def start(self, problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
        """Chains of independent draws, and the target that they are measured by."""
        return (_wide if is_wide(problem) else _whitened)(problem, generators)


@dataclass(kw_only=True)
class GaussianChain(Chain):
    """A chain whose draws are independent."""

    blocks: Blocks | None

    def run(self, n_draws: int, thin: int) -> None:
        """Append ``n_draws`` draws."""
        draws = self.rng.standard_normal((n_draws, self.state.position.size))
        self.draws.append(draws if self.blocks is None else self.blocks.contrasts(draws))
        self.trace.append(np.ones((n_draws, len(TRACE_NAMES))))
        self.state.clock[0] += n_draws


def _whitened(problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
    shared = shared_part(problem.prior, problem.n_blocks)
    anchor = without_shared_part(fit_close_anchor(problem, generators[-1]), shared)
    states = row_states(problem, anchor, SCREEN)
    prepared = anchored_target(problem, anchor, states, 1, 1.0, generators[-1])
    size = n_positions(prepared.coordinates, problem.n_weights)
    blocks = shared_blocks(prepared.coordinates, shared)
    work = workspace(prepared.target, ROW_TYPE)
    chains = [
        GaussianChain(
            None, prepared.target, initial_state(np.zeros(size), rng, 0.0), work, rng, blocks=blocks
        )
        for rng in generators[:-1]
    ]

    directions = None if blocks is None else blocks.n_directions
    return Ensemble(
        Chains(chains),
        AT_ONCE,
        View(of=prepared, shared=shared, n_directions=directions),
        account=_Measured(
            chains, None, generators[-1], tied=blocks is not None, target=prepared.target
        ),
        info=_info(prepared, anchor.iterations),
    )


def _wide(problem: Problem, generators: Sequence[np.random.Generator]) -> Ensemble:
    anchor = fit_wide_anchor(problem, generators[-1])
    states = wide_states(problem, anchor)
    prepared = wide_target(problem, anchor, states, 1, 1.0, generators[-1])
    hinge, size = prepared.target.hinge, problem.n_weights
    several = isinstance(hinge, InterleavedHinge | SeparateHinge)
    n_blocks = problem.n_blocks if several else 1
    joint = isinstance(hinge, InterleavedHinge)
    shared = shared_part(problem.prior, n_blocks) if joint else None
    scale = getattr(prepared.coordinates, "scale", np.ones(size)) if joint else None
    chains = []
    for number, rng in enumerate(generators[:-1]):
        state = initial_state(np.zeros(1), rng, 0.0)
        chain = WideChain(
            number=number,
            advance=_independent(state, rng),
            watch=watch(size, n_blocks, scale),
            to_weights=_redrawn(weights_by_class(prepared, n_blocks), shared, rng),
            size=size,
            describe="the Gaussian alone",
            moving=(state, rng),
            at_once=max(1, TOGETHER // size),
        )
        chains.append(chain)
    kept = WideDraws(chains, prepared.coordinates, n_blocks)
    return Ensemble(
        Chains(chains),
        AT_ONCE,
        View(of=kept, kept=kept),
        account=_Measured(chains, kept, generators[-1], tied=joint, target=prepared.target),
        info=_info(prepared, anchor.passes),
    )


def _independent(state: Any, rng: np.random.Generator) -> Callable[..., int]:
    def advance(positions: FloatArray, trace: FloatArray, thin: int) -> int:
        rng.standard_normal(out=positions)
        trace[...] = 1.0
        state.clock[0] += len(positions)
        return len(positions)

    return advance


def _redrawn(
    weights: Callable[[FloatArray], FloatArray],
    shared: SharedPart | None,
    rng: np.random.Generator,
) -> Callable[[FloatArray], FloatArray]:
    """Weights of a position, what the classes share drawn from its own law."""
    if shared is None:
        return weights
    return lambda position: shared.redrawn(weights(position), rng)


def _info(prepared: PreparedTarget, passes: int) -> dict[str, object]:
    return {
        "sampler": "Anchor",
        "step": 0.0,
        "rows_in_reach": prepared.n_rows_used,
        "anchor_passes": passes,
    }


@dataclass(frozen=True)
class _Measured(Account):
    """How far the Gaussian is from the posterior; coordinates that are ``tied`` have no weights."""

    chains: Sequence[Any]
    kept: KeptDraws | None
    rng: np.random.Generator
    tied: bool

    def _draws(self) -> FloatArray:
        if self.kept is not None:
            return self.kept.checked()[0]
        return np.stack([np.concatenate(chain.draws) for chain in self.chains])

    def facts(self, trace: FloatArray) -> dict[str, Any]:
        target, draws = self.target, self._draws()
        assert target is not None
        count = affordable(target, draws.shape[0] * draws.shape[1])
        chosen = spread_draws(draws, count)
        work = workspace(target, ROW_TYPE)
        found = gaps(chosen, full_gradients(target, chosen, work, self.rng))
        result: dict[str, Any] = dict(found._asdict())
        if not self.tied:
            energy = np.empty(count)
            energies(target, chosen, work, energy)
            result["pareto_k"] = pareto_k(0.5 * np.square(chosen).sum(axis=1) - energy)
        if found.mean_off > FAR:
            warnings.warn(
                f"the mean of the Gaussian is about {found.mean_off:.2f} posterior standard "
                'deviations off (root mean square over directions): use sampler="auto"',
                BiasWarning,
                stacklevel=6,
            )
        return result
