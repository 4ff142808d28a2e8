"""Simulation-based calibration: where the truth falls among the draws, over many data sets.

Weights and labels are drawn from their joint law; the rank of the weights among posterior draws
given those labels is then uniform. Drawing the weights from the prior instead would be wrong for a
pseudo-likelihood (:mod:`bayesmargin.validation.joint`).
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from bayesmargin.problem import Problem
from bayesmargin.samplers import Sampler
from bayesmargin.types import FloatArray, IntArray
from bayesmargin.validation.joint import draw_joint
from bayesmargin.validation.kernels import Transition, as_transition, run_kernel, with_label


@dataclass(frozen=True)
class CalibrationRanks:
    """Ranks (data set, weight), each from 0 to ``n_draws``."""

    ranks: IntArray
    n_draws: int

    def counts(self, n_bins: int = 10) -> IntArray:
        """Histogram (weight, bin) of the ranks."""
        place = self.ranks * n_bins // (self.n_draws + 1)
        return np.stack([np.bincount(column, minlength=n_bins) for column in place.T])

    def p_values(self, n_bins: int = 10) -> FloatArray:
        """Probability of histograms as uneven as these, a chi-square test a weight."""
        return np.array([stats.chisquare(row).pvalue for row in self.counts(n_bins)])

    def passes(self, level: float = 1e-4) -> bool:
        """Whether no histogram is too uneven, all weights together (Bonferroni)."""
        return bool(self.p_values().min() * self.ranks.shape[1] > level)


def calibration_ranks(
    tested: Sampler | Transition,
    problem: Problem,
    n_sets: int = 500,
    n_draws: int = 39,
    thin: int = 10,
    burn_in: int = 5,
    seed: int = 0,
) -> CalibrationRanks:
    """Ranks of the true weights among draws, over many simulated data sets.

    The chain starts at the truth, which is itself a draw of the posterior, so that no warm-up is
    needed for a kernel that is right; the ``burn_in`` draws give a wrong one time to leave it.

    Parameters
    ----------
    tested : Sampler or function
        A sampler, or a function that turns a problem into ``kernel(weights, rng) -> weights``.
    problem : Problem
        Rows and prior; its labels are not used.
    n_sets, n_draws : int
        Data sets, and draws for each; ``n_draws + 1`` should be a multiple of ten.
    thin, burn_in : int
        Transitions between draws, and draws dropped at the beginning.
    seed : int
        Seed of all randomness.
    """
    rng = np.random.default_rng(seed)
    transition = as_transition(tested, thin if isinstance(tested, Sampler) else 1)
    repeat = 1 if isinstance(tested, Sampler) else thin
    truths, labels = draw_joint(problem, n_sets, rng)
    kernels: dict[tuple[int, ...], object] = {}
    ranks = np.empty((n_sets, problem.n_weights), dtype=np.int64)
    for k in range(n_sets):
        key = tuple(labels[k].tolist())
        if key not in kernels:
            kernels[key] = transition(with_label(problem, labels[k]))
        draws = run_kernel(kernels[key], truths[k], n_draws * repeat, burn_in * repeat, rng)  # type: ignore[arg-type]
        ranks[k] = (draws[repeat - 1 :: repeat] < truths[k]).sum(axis=0)
    return CalibrationRanks(ranks, n_draws)
