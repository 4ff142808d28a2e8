r"""Convergence diagnostics, for many weights at once.

Split R-hat and effective sample sizes follow Vehtari, Gelman, Simpson, Carpenter and Buerkner
(2021): chains are split in halves, draws replaced by normal scores of their ranks (bulk), and the
autocorrelation summed by Geyer's initial monotone sequence. ArviZ computes the same numbers; here
they are vectorised over weights, since they steer the sampling while it runs.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import fft
from scipy.special import ndtri

from bayesmargin.foundation.types import BoolArray, FloatArray

ESS_PER_CHAIN = 100
SLICE = 32  # coordinates that a thread takes at a time


def split_chains(draws: FloatArray) -> FloatArray:
    """Halves of the chains as chains of their own: (chain, draw, ...) to (2 chain, draw/2, ...)."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def normal_scores(draws: FloatArray) -> FloatArray:
    """Ranks over all chains, mapped to quantiles of the normal distribution."""
    count = draws.shape[0] * draws.shape[1]
    flat = np.ascontiguousarray(draws.reshape(count, -1).T)
    order = np.argsort(flat, axis=1)
    tied = np.diff(np.take_along_axis(flat, order, axis=1), axis=1) == 0.0
    ranks = np.arange(1.0, count + 1)[None]
    if np.any(tied):  # else the scores are the same numbers for every weight
        ranks = _middle_ranks(tied)
    scores = np.empty(flat.shape)
    np.put_along_axis(scores, order, ndtri((ranks - 0.375) / (count + 0.25)), axis=1)
    return scores.T.reshape(draws.shape)


def _middle_ranks(tied: BoolArray) -> FloatArray:
    """Ranks in ascending order, ties given their mean; ``tied`` says who equals the one before."""
    place = np.arange(1.0, tied.shape[1] + 2)
    apart = np.pad(~tied, ((0, 0), (1, 1)), constant_values=True)
    first = np.maximum.accumulate(np.where(apart[:, :-1], place, 0.0), axis=1)
    last = np.minimum.accumulate(np.where(apart[:, 1:], place, np.inf)[:, ::-1], axis=1)[:, ::-1]
    return 0.5 * (first + last)


def _plain_rhat(draws: FloatArray) -> FloatArray:
    count = draws.shape[1]
    if count < 2:  # no variance within chains
        return np.full(draws.shape[2:], np.nan)
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((count - 1) / count + between / within)
    return np.where(within > 0, ratio, np.where(between > 0, np.inf, 1.0))


def rhat(draws: FloatArray) -> FloatArray:
    """Rank-normalised split R-hat, the larger of the bulk and the folded one.

    Parameters
    ----------
    draws : array of shape (chain, draw, ...)

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.diagnostics.convergence import rhat
    >>> draws = np.random.default_rng(0).standard_normal((4, 500, 2))
    >>> bool((rhat(draws) < 1.01).all())
    True
    """
    return _split_rhat(split_chains(draws))[0]


def _split_rhat(halves: FloatArray) -> tuple[FloatArray, FloatArray]:
    """R-hat of chains already split, and their normal scores."""
    scores = normal_scores(halves)
    folded = normal_scores(np.abs(halves - np.median(halves, axis=(0, 1))))
    return np.maximum(_plain_rhat(scores), _plain_rhat(folded)), scores


def _autocovariance(draws: FloatArray) -> FloatArray:
    """Autocovariance along axis 1, biased normalisation."""
    count = draws.shape[1]
    size = fft.next_fast_len(2 * count)
    centred = draws - draws.mean(axis=1, keepdims=True)
    spectrum = fft.rfft(centred, size, axis=1)
    return fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :count] / count


def effective_sample_size(draws: FloatArray) -> FloatArray:
    """Effective number of draws for the mean, from chains as given (no splitting, no ranks).

    NaN where chains are of a single draw, which shows no correlation.

    Parameters
    ----------
    draws : array of shape (chain, draw, ...)
    """
    n_chains, count = draws.shape[:2]
    if count < 2:
        return np.full(draws.shape[2:], np.nan)
    flat = draws.reshape(n_chains, count, -1)
    covariance = _autocovariance(flat)
    within = covariance[:, 0].mean(axis=0) * count / (count - 1.0)
    plus = within * (count - 1.0) / count
    if n_chains > 1:
        plus = plus + flat.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1.0 - (within - covariance.mean(axis=0)) / plus
    correlation[0] = 1.0
    even = correlation[: count // 2 * 2 : 2]
    pairs = even + correlation[1 : count // 2 * 2 : 2]
    positive = np.logical_and.accumulate(pairs > 0.0, axis=0)
    positive[max(1, (count - 4 + count % 2) // 2) :] = False
    # The first rejected pair still lends its even term, which tempers antithetic chains.
    rejected = np.argmin(positive, axis=0)
    last = np.maximum(np.take_along_axis(even, rejected[None], axis=0)[0], 0.0)
    pairs = np.minimum.accumulate(np.where(positive, pairs, np.inf), axis=0)
    time = -1.0 + 2.0 * np.where(positive, pairs, 0.0).sum(axis=0) + last
    total = n_chains * count
    time = np.maximum(time, 1.0 / np.log10(total))
    return np.where(plus > 0, total / time, total).reshape(draws.shape[2:])


def bulk_ess(draws: FloatArray) -> FloatArray:
    """Effective sample size of the bulk of the distribution (rank-normalised, split chains)."""
    return effective_sample_size(normal_scores(split_chains(draws)))


def rhat_and_bulk_ess(draws: FloatArray) -> FloatArray:
    """Both of :func:`rhat` and :func:`bulk_ess`, which share the ranking, their largest cost."""
    worst, scores = _split_rhat(split_chains(draws))
    return np.stack([worst, effective_sample_size(scores)])


def tail_ess(draws: FloatArray, probability: float = 0.05) -> FloatArray:
    """Smaller of the effective sample sizes of the two tail quantiles."""
    halves = split_chains(draws)
    lower, upper = np.quantile(draws, [probability, 1.0 - probability], axis=(0, 1))
    below = effective_sample_size((halves <= lower).astype(float))
    above = effective_sample_size((halves <= upper).astype(float))
    return np.minimum(below, above)


def by_slices(
    figure: Callable[[FloatArray], FloatArray], draws: FloatArray, threads: int
) -> FloatArray:
    """A figure of every coordinate of ``draws`` (the last axis of both), some at a time.

    Sorting and Fourier transforms hold no lock, so threads share the work; what comes out does not
    depend on their number.
    """
    parts = np.split(draws, range(SLICE, draws.shape[-1], SLICE), axis=-1)
    if threads == 1:
        return np.concatenate([figure(part) for part in parts], axis=-1)
    with ThreadPoolExecutor(threads) as pool:
        return np.concatenate(list(pool.map(figure, parts)), axis=-1)


@dataclass(frozen=True)
class Diagnostics:
    """What a fit says about itself; printed, it is a sentence for each figure.

    Attributes
    ----------
    max_rhat, min_bulk_ess, min_tail_ess : float
        Worst values over all directions in which the sampler moves; of one that moves weights as
        they are, over the principal axes of its draws.
    temperature : float
        Effective temperature of the sampled law; 1 is exact, and 1.1 is a variance 10% too large.
    thermostat_shift : float
        Mean friction of the thermostat above its setting: the gradient noise in units of friction.
    bias : float
        Mean over directions of the Stein identity minus one; the relative error of the variance.
    divergences : int
        Chains that had to be restarted with a smaller step.
    n_iterations : int
        Iterations of all chains, warm-up included.
    seconds : float
        Time spent sampling.
    converged : bool
        Whether R-hat and effective sample sizes are good enough.
    trustworthy : bool
        Whether every check passed, and the run was not cut short.
    interrupted : bool
        Whether the run was stopped by the user.
    contradiction : float
        How far ``partial_fit`` moved the mean of the weights, in standard deviations of the
        posterior before (root mean square), if that is farther than its summary reaches; else 0.
    """

    max_rhat: float
    min_bulk_ess: float
    min_tail_ess: float
    temperature: float
    thermostat_shift: float
    bias: float
    divergences: int
    n_iterations: int
    seconds: float
    converged: bool
    trustworthy: bool
    interrupted: bool = False
    contradiction: float = 0.0

    @property
    def reason(self) -> str:
        """Why the posterior should not be trusted, in words that follow "because"; else empty."""
        if self.trustworthy:
            return ""
        if self.interrupted:
            return "the run was interrupted"
        if not self.converged:
            return "the chains have not converged"
        if self.contradiction > 0.0:
            return "its rows contradict the summary of earlier ones"
        return "the sampled variances are off"

    def as_dict(self) -> dict[str, Any]:
        """Figures by name."""
        return asdict(self)

    def _repr_html_(self) -> str:
        from bayesmargin.report.cards import diagnostics_card

        return diagnostics_card(self)

    def __str__(self) -> str:
        reason = f"should NOT be trusted because {self.reason}"
        verdict = "can be trusted" if self.trustworthy else reason
        return (
            f"The posterior {verdict}: worst R-hat {self.max_rhat:.3f}, smallest ESS "
            f"{self.min_bulk_ess:.0f} (bulk) and {self.min_tail_ess:.0f} (tails), effective "
            f"temperature {self.temperature:.3f}, variance bias {self.bias:+.3f}, "
            f"{self.divergences} divergences, {self.n_iterations} iterations in "
            f"{self.seconds:.1f} s."
        )
