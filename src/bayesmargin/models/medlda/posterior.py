"""Draws of topics and weights, and the mean of both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy import linalg

from bayesmargin.diagnostics.convergence import rhat
from bayesmargin.foundation.types import FloatArray
from bayesmargin.models.medlda.expected import ExpectedTopics

FEWEST = 4  # draws of a chain from which R-hat says something


class Draw(NamedTuple):
    """What a chain gives for its posterior."""

    topics: FloatArray
    coef: FloatArray
    heat: float | None = None  #: of a thermostat, on the way to this draw


@dataclass(repr=False)
class TopicPosterior:
    """Posterior draws of one set of topics with its classifier.

    Attributes
    ----------
    topics : list of ndarray (V, P)
        Unnormalised topic weights of each draw, single precision, P topics with padding.
    coef : list of ndarray (L, K)
        Classifier weights of the same draws.
    length : int or None
        Steps that the chain will make, where that is known.
    expected : ExpectedTopics or None
        The topics given the counts along the chain, without the noise of a draw. None where the
        draws themselves have none, being the means given the topics of all words, and in models
        saved before there were expected topics.
    heat : list of float
        Mean square of the momentum of the weights on the way to each draw, where a thermostat moves
        them.
    planned : int or None
        Steps that a chain was to make which was stopped before, after ``length`` of them.
    """

    n_topics: int
    topics: list[FloatArray] = field(default_factory=list)
    coef: list[FloatArray] = field(default_factory=list)
    last: int = 0
    length: int | None = None
    expected: ExpectedTopics | None = None
    heat: list[float] = field(default_factory=list)
    planned: int | None = None

    def __repr__(self) -> str:
        words = len(self.topics[0]) if self.topics else 0
        return f"TopicPosterior({len(self.topics)} draws of {self.n_topics} topics, {words} words)"

    @property
    def interrupted(self) -> bool:
        """Whether the chain was stopped before its end, and no stream has followed."""
        return self.planned is not None and not self.streamed

    @property
    def streamed(self) -> bool:
        """Whether the last draw came from ``partial_fit``, and not from a chain of known length."""
        return self.length is None or self.last > self.length

    def add(self, topics: FloatArray, coef: FloatArray, heat: float | None = None) -> None:
        """Keep one draw (copied)."""
        if heat is not None:
            self.heat.append(heat)
        self.topics.append(np.array(topics, dtype=np.float32))
        self.coef.append(np.array(coef, dtype=np.float64))

    def take(self, draws: Sequence[Draw]) -> None:
        """Hold the draws of a chain, which nobody changes, in the place of those held before."""
        self.topics = [topics for topics, _, _ in draws]
        self.coef = [coef for _, coef, _ in draws]
        self.heat = [heat for _, _, heat in draws if heat is not None]

    def keep(self, time: int, n_draws: int, draw: Callable[[], Draw]) -> None:
        """Keep the draw of this time of a stream if it is due, and no more than ``n_draws``.

        They cover its second half, or so: the longer it is, the farther they are apart.
        """
        if self.topics and time - self.last < max(1, time // (2 * n_draws)):
            return
        self.last = time
        self.add(*draw())
        self.drop_oldest(n_draws)

    def stop(self, time: int) -> None:
        """Let the chain end after so many steps, fewer than it was to make."""
        self.length, self.planned = time, self.length

    def drop_oldest(self, n_kept: int) -> None:
        """Keep the last ``n_kept`` draws only."""
        for kept in (self.topics, self.coef, self.heat):
            del kept[: max(0, len(kept) - n_kept)]

    def states(self, n_draws: int | None) -> list[tuple[int, FloatArray, FloatArray]]:
        """Number, topics (V, P) and weights of the states that predictions average over.

        The last ``n_draws`` draws; for None the expected topics with the mean weights, or all
        draws where topics have no noise to integrate out.
        """
        if n_draws is None and self.expected is not None:
            return [(0, self.expected.topics(), self.mean_coef())]
        some = range(len(self.topics))[-(n_draws or len(self.topics)) :]
        return [(draw, self.topics[draw], self.coef[draw]) for draw in some]

    def mean_topics(self, n_draws: int | None = None) -> FloatArray:
        """Posterior mean of the topics (K, V), from the same states; rows sum to 1."""
        width = self.n_topics
        total = np.zeros((self.topics[0].shape[0], width))
        for _, topics, _ in self.states(n_draws):
            scale = inverse_sums(topics.sum(axis=0, dtype=np.float64), width)
            total += topics[:, :width] * scale[:width].astype(np.float64)
        return np.ascontiguousarray((total / total.sum(axis=0)).T)

    def mean_coef(self) -> FloatArray:
        """Posterior mean of the weights (L, K)."""
        return np.mean(self.coef, axis=0)


def kept_steps(length: int, n_draws: int) -> list[int]:
    """Numbers, from 0, of the steps of a chain after which a draw is made.

    Of its first half about five, for those who watch. Of the second half as many as are to be kept,
    one more maybe, or all, where it has fewer.

    Examples
    --------
    >>> from bayesmargin.models.medlda.posterior import kept_steps
    >>> kept_steps(20, 3)
    [1, 3, 5, 7, 9, 13, 16, 19]
    """
    early = [k for k in range(length // 2) if (k + 1) % max(1, length // 10) == 0]
    late = [
        k
        for k in range(length // 2, length)
        if (passed := 2 * (k + 1) - length) * n_draws // length > (passed - 2) * n_draws // length
    ]
    return early + late


def weight_rhat(chains: Sequence[Sequence[TopicPosterior]]) -> float:
    """R-hat of the size of the weights, which does not depend on how topics are numbered.

    A chain is one posterior, or with one-vs-rest one a class. NaN for fewer than two chains or
    :data:`FEWEST` draws.
    """
    length = min(len(part.coef) for chain in chains for part in chain)
    if len(chains) < 2 or length < FEWEST:
        return float("nan")
    sizes = [
        [sum(float(np.sum(part.coef[-k] ** 2)) for part in chain) for k in range(length, 0, -1)]
        for chain in chains
    ]
    return float(rhat(np.array(sizes)))


def inverse_sums(sums: FloatArray, n_topics: int) -> FloatArray:
    """``1 / sums`` in single precision, zero beyond the first ``n_topics``."""
    scale = np.zeros(sums.shape[0], dtype=np.float32)
    scale[:n_topics] = 1.0 / np.maximum(sums[:n_topics], 1e-300)
    return scale


def stack_coef(posteriors: list[TopicPosterior]) -> FloatArray:
    """Mean weights of one model, or of several (one-vs-rest) side by side in blocks."""
    if len(posteriors) == 1:
        return posteriors[0].mean_coef()
    # Shares of the models side by side are divided by their number; the weights make up for it.
    blocks = [len(posteriors) * posterior.mean_coef() for posterior in posteriors]
    stacked: FloatArray = linalg.block_diag(*blocks)
    return stacked
