"""How the topics of an SSGRLD chain move: the flow of some words, or Langevin steps of all."""

import math

import numpy as np

from bayesmargin.foundation.threads import N_SHARES, cut
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.flow import absorb, catch_up, clear_counts
from bayesmargin.models.medlda.settings import Settings
from bayesmargin.models.medlda.tools import Aids, Tool, ToolPool
from bayesmargin.models.medlda.topics import step_sgrld


class MovingTopics:
    """Topics (V, P) of a chain, with the generators and clocks that move them.

    ``topics[word]`` is the state at the times ``moved[word]`` of a ``clock`` that adds up the steps
    (see :mod:`.flow`); ``deviation`` is the sum over words of expected topics less ``beta`` at the
    present time.
    """

    settings: Settings
    generators: list[np.random.Generator]
    streams: IntArray
    lanes: IntArray
    topics: np.ndarray[tuple[int, int], np.dtype[np.float32]]
    moved: FloatArray
    deviation: FloatArray
    time: int
    clock: float
    _aids: Aids | None

    @property
    def aids(self) -> Aids:
        """What the steps need beside the state; made when first used."""
        if self._aids is None:
            self._aids = Aids(self.settings.n_words, self.settings.beta)
        return self._aids

    def _measure(self) -> None:
        """Deviation of topics that are all up to date."""
        sums = self.topics.sum(axis=0, dtype=np.float64)
        self.deviation = sums - self.settings.n_words * self.settings.beta

    @property
    def sums(self) -> FloatArray:
        """Sum of every topic over the words (P,); words left behind enter by their mean."""
        sums = self.deviation + self.settings.n_words * self.settings.beta
        return np.maximum(sums, self.settings.beta)

    def _catch_up(self, words: IntArray, crew: ToolPool) -> None:
        """Bring these words to the present."""
        settings, shares = self.settings, cut(len(words))
        change = np.zeros((N_SHARES, self.topics.shape[1]))

        def move(share: int, _: Tool) -> None:
            catch_up(
                self.generators[share],
                self.streams[share],
                self.aids.table,
                self.topics,
                self.moved,
                words[shares[share]],
                settings.n_topics,
                settings.beta,
                self.clock,
                change[share],
            )

        crew.run(move, range(N_SHARES))
        self.deviation = self.deviation + change.sum(axis=0)

    def current_topics(self, crew: ToolPool) -> FloatArray:
        """The topics at the present time, every word up to date."""
        self._catch_up(np.arange(self.settings.n_words, dtype=np.int32), crew)
        return self.topics

    def _step_some(
        self, words: IntArray, counts: IntArray, inflation: float, share: float, crew: ToolPool
    ) -> None:
        """The exact flow, which renews this share: words of the minibatch move, others stay behind.

        At first its time is infinite, which draws the topics from their conditional.
        """
        settings, shares = self.settings, cut(len(words))
        step = -math.log1p(-share) if self.time > 0 else math.inf
        change = np.zeros((N_SHARES, self.topics.shape[1]))
        if self.time == 0:
            self.moved[:] = -np.inf
        else:
            self.clock += step

        def move(share: int, _: Tool) -> None:
            absorb(
                self.generators[share],
                self.streams[share],
                self.topics,
                self.moved,
                words[shares[share]],
                counts,
                settings.n_topics,
                settings.beta,
                inflation,
                step,
                self.clock,
                change[share],
            )

        crew.run(move, range(N_SHARES))
        self.deviation = self.deviation * np.exp(-step) + change.sum(axis=0)

    def _step_all(
        self,
        words: IntArray,
        counts: IntArray,
        totals: FloatArray,
        inflation: float,
        share: float,
        crew: ToolPool,
    ) -> None:
        r"""Langevin steps, whose drift reaches all words, and which renew this share.

        A step :math:`\epsilon` renews :math:`\epsilon (1 + N/S) / 2` of the topics, N the words of
        the corpus and S the sum of all topics. S falls with time from N to the sum under the prior,
        by the same steps; a corpus of millions would go beyond the limit of stability, were the
        step not to follow.
        """
        settings, width = self.settings, self.topics.shape[1]
        ratio = inflation * totals.sum() / self.sums.sum()
        step = 2.0 * share / (1.0 + ratio)
        rates = (1.0 + inflation * totals / self.sums).astype(np.float32)
        priors = np.zeros(width, dtype=np.float32)
        priors[: settings.n_topics] = settings.beta
        marks = self.aids.marks
        marks[words] = 1
        shares = cut(settings.n_words)
        sums = np.zeros((N_SHARES, width))

        def move(share: int, _: Tool) -> None:
            part = shares[share]
            low, high = np.searchsorted(words, [part.start, part.stop])
            step_sgrld(
                self.lanes[share],
                self.topics[part],
                marks[part],
                counts[part],
                rates,
                priors,
                inflation,
                step,
                np.zeros(width, dtype=np.float32),
                sums[share],
            )
            clear_counts(counts, words[low:high])

        crew.run(move, range(N_SHARES))
        marks[words] = 0
        self.deviation = sums.sum(axis=0) - settings.n_words * settings.beta
