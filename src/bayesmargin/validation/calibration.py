"""Simulation-based calibration: where the truth falls among the draws, over many data sets.

Weights and labels are drawn from their joint law; the rank of the weights among posterior draws
given those labels is then uniform. Drawing the weights from the prior instead would be wrong for a
pseudo-likelihood (:mod:`bayesmargin.validation.joint`).

Ranks among draws that hang together are not uniform, even for a kernel that is right: they crowd at
both ends. The correlation of successive draws tells.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

from bayesmargin.errors import ConvergenceWarning
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.samplers import Sampler
from bayesmargin.targets.problem import Problem
from bayesmargin.validation.joint import draw_joint
from bayesmargin.validation.kernels import (
    Kernel,
    Transition,
    as_transition,
    run_kernel,
    with_label,
)

#: Correlation of successive draws beyond which uneven ranks are no evidence: up to here a right
#: kernel fails less than once in a hundred times.
MOST_CORRELATED = 0.5


@dataclass(frozen=True)
class CalibrationRanks:
    """Outcome of simulation-based calibration.

    Attributes
    ----------
    ranks : array of shape (n_sets, n_weights)
        Ranks of the true weights, each from 0 to ``n_draws``.
    n_draws : int
        Draws for each data set.
    correlation : array of shape (n_weights,), optional
        Correlation of successive draws. Where it is above one half, ranks are uneven for a right
        kernel as well, and more thinning is needed.
    """

    ranks: IntArray
    n_draws: int
    correlation: FloatArray | None = None

    def counts(self, n_bins: int = 10) -> IntArray:
        """Histogram (weight, bin) of the ranks."""
        place = self.ranks * n_bins // (self.n_draws + 1)
        return np.stack([np.bincount(column, minlength=n_bins) for column in place.T])

    def expected(self, n_bins: int = 10) -> FloatArray:
        """Histogram (bin,) of uniform ranks; bins are equal if ``n_bins`` divides n_draws + 1."""
        if not 2 <= n_bins <= self.n_draws + 1:
            raise ValueError(
                f"n_bins={n_bins} is not allowed: ranks among {self.n_draws} draws have "
                f"{self.n_draws + 1} values, and fill 2 to {self.n_draws + 1} bins"
            )
        size = np.bincount(np.arange(self.n_draws + 1) * n_bins // (self.n_draws + 1))
        return size * (len(self.ranks) / (self.n_draws + 1))

    def p_values(self, n_bins: int = 10) -> FloatArray:
        """Probability of histograms as uneven as these, a chi-square test a weight."""
        expected = self.expected(n_bins)
        return np.array([stats.chisquare(row, expected).pvalue for row in self.counts(n_bins)])

    def passes(self, level: float = 1e-4) -> bool:
        """Whether no histogram is too uneven, all weights together (Bonferroni)."""
        n_bins = min(10, self.n_draws + 1)
        return bool(self.p_values(n_bins).min() * self.ranks.shape[1] > level)


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
        Data sets, and draws for each; the ten bins of a histogram are equal if ``n_draws + 1`` is
        a multiple of ten.
    thin, burn_in : int
        Transitions between draws, and draws dropped at the beginning.
    seed : int
        Seed of all randomness.
    """
    rng = np.random.default_rng(seed)
    transition = as_transition(tested, thin)
    truths, labels = draw_joint(problem, n_sets, rng)
    kernels: dict[tuple[int, ...], Kernel] = {}
    ranks = np.empty((n_sets, problem.n_weights), dtype=np.int64)
    together = np.zeros((2, problem.n_weights))
    for k in range(n_sets):
        key = tuple(labels[k].tolist())
        if key not in kernels:
            kernels[key] = transition(with_label(problem, labels[k]))
        draws = run_kernel(kernels[key], truths[k], n_draws, burn_in, rng)
        if not np.isfinite(draws).all():
            raise ArithmeticError(f"the chain on data set {k} of {n_sets} did not stay finite")
        ranks[k] = (draws < truths[k]).sum(axis=0)
        centred = np.where(np.ptp(draws, axis=0) > 0.0, draws - draws.mean(axis=0), 0.0)
        together += (centred[1:] * centred[:-1]).sum(axis=0), (centred**2).sum(axis=0)
    result = CalibrationRanks(ranks, n_draws, _correlation(together, n_draws))
    _warn_if_correlated(result)
    return result


def _correlation(together: FloatArray, n_draws: int) -> FloatArray:
    """Correlation from sums of products and squares, without what centring takes from it."""
    products, squares = together
    still = squares == 0.0
    found = products / np.where(still, 1.0, squares) + 1.0 / max(n_draws, 1)
    return np.where(still, 1.0, np.minimum(found, 0.999))


def _warn_if_correlated(result: CalibrationRanks) -> None:
    """Warn that uneven ranks may be due to the correlation of draws."""
    assert result.correlation is not None
    worst = float(result.correlation.max())
    if worst <= MOST_CORRELATED or result.n_draws == 1 or result.passes():
        return
    message = (
        f"the ranks are uneven, but successive draws have a correlation of {worst:.2f}, which "
        "makes the ranks of a right kernel uneven as well: increase thin until it is below "
        f"{MOST_CORRELATED}, and look again"
    )
    if worst == 1.0:
        message = "the kernel under test never moved one of the weights: it is no sampler of them"
    warnings.warn(message, ConvergenceWarning, stacklevel=3)
