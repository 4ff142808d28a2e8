r"""Stochastic subgradient Riemannian Langevin dynamics for MedLDA: one minibatch at a time.

One step, from a minibatch of B documents out of D:

1. bring the topics of their words up to date (:mod:`.flow`),
2. sample the topics of their words given :math:`\Phi, \eta` (:mod:`.batches`),
3. move :math:`\eta` with the averaged subgradient (:mod:`.weights`),
4. move :math:`\Phi` with the averaged counts (:mod:`.flow` or :mod:`.topics`), which also enter
   the topics expected of new documents (:mod:`.expected`).

The chain is a handful of arrays and generators, so that it can stop after any minibatch.
"""

import math

import numpy as np

from bayesmargin.models.medlda.batches import sample_documents
from bayesmargin.models.medlda.conditionals import padded
from bayesmargin.models.medlda.crew import N_SHARES, Crew, cut
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.expected import ExpectedTopics, add_counts
from bayesmargin.models.medlda.flow import (
    absorb,
    catch_up,
    clear_counts,
    list_words,
    merge_counts,
)
from bayesmargin.models.medlda.posterior import inverse_sums
from bayesmargin.models.medlda.settings import Settings
from bayesmargin.models.medlda.tools import Aids, Tool
from bayesmargin.models.medlda.topics import step_sgrld
from bayesmargin.models.medlda.weights import (
    LangevinMover,
    ThermostatMover,
    default_step,
    starting_weights,
)
from bayesmargin.types import FloatArray, IntArray


class Chain:
    """State of an SSGRLD chain: topics (V, P), weights (L, K), generators, time.

    ``topics[word]`` is the state at the times ``moved[word]`` of a ``clock`` that adds up the steps
    (see :mod:`.flow`); ``deviation`` is the sum over words of expected topics less ``beta`` at the
    present time.
    """

    def __init__(
        self,
        settings: Settings,
        mover: LangevinMover | ThermostatMover,
        generators: list[np.random.Generator],
    ) -> None:
        self.settings = settings
        self.mover = mover
        self.generators = generators
        # Streams of bits for the flow and for Langevin noise, one a share as the generators are.
        self.streams = np.stack(
            [rng.integers(2**63, size=1, dtype=np.uint64) for rng in generators]
        )
        self.time, self.clock = 0, 0.0
        rng = generators[0]
        width = padded(settings.n_topics)
        self.lanes = np.stack(
            [rng.integers(1, 2**32, size=width, dtype=np.uint32) for rng in generators]
        )
        self.topics = np.zeros((settings.n_words, width), dtype=np.float32)
        # A flat start: the first documents break the symmetry between topics, not this noise.
        shape = (settings.n_words, settings.n_topics)
        start = settings.beta * rng.standard_exponential(shape, dtype=np.float32)
        self.topics[:, : settings.n_topics] = start + np.float32(0.1 * settings.beta)
        self.moved = np.zeros((settings.n_words, 2))
        self._aids: Aids | None = None
        self._measure()
        self.coef = starting_weights(settings.hinge, settings.n_classes, settings.n_topics, rng)
        if isinstance(mover, ThermostatMover):
            mover.start(self.coef.shape, rng)

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

    def make_tool(self) -> Tool:
        """Work space of one thread."""
        return Tool(self.settings.n_words, self.settings.n_classes, self.topics.shape[1])

    def step(
        self,
        documents: Documents,
        signs: IntArray,
        chosen: IntArray,
        n_total: float,
        crew: Crew,
        expected: ExpectedTopics | None = None,
    ) -> None:
        """One minibatch: the ``chosen`` documents stand for ``n_total`` of them.

        Their counts also enter ``expected``, if given.
        """
        settings = self.settings
        n_kept = settings.n_sweeps - settings.n_discarded
        inflation = n_total / chosen.shape[0] / n_kept
        words = self._words_of(documents, chosen)
        if settings.topic_sampler == "scir":
            self._catch_up(words, crew)
        elif self.time == 1:
            self.current_topics(crew)
        if settings.follow_size:
            self.mover.step = default_step(settings.hinge, settings.prior_variance, n_total)
        coef = self.mover.before(self.coef)
        gradient, totals = self._sample(documents, signs, chosen, coef, crew)
        slope = coef / settings.prior_variance - inflation * gradient
        self.coef = self.mover.after(coef, slope, self.generators[0])
        factor = 0.0
        if expected is not None:
            factor = inflation * expected.fade(settings.renewed(self.time), chosen.shape[0])
        counts = self._gather(words, factor, crew, expected)
        if settings.topic_sampler == "sgrld" and self.time > 0:
            self._step_all(words, counts, totals, inflation, crew)
        else:
            self._step_some(words, counts, inflation, crew)
        self.time += 1

    def _words_of(self, documents: Documents, chosen: IntArray) -> IntArray:
        aids = self.aids
        n_found = list_words(documents.words, documents.offsets, chosen, aids.marks, aids.found)
        return np.sort(aids.found[:n_found])

    def _catch_up(self, words: IntArray, crew: Crew) -> None:
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

    def current_topics(self, crew: Crew) -> FloatArray:
        """The topics at the present time, every word up to date."""
        self._catch_up(np.arange(self.settings.n_words, dtype=np.int32), crew)
        return self.topics

    def _sample(
        self, documents: Documents, signs: IntArray, chosen: IntArray, coef: FloatArray, crew: Crew
    ) -> tuple[FloatArray, FloatArray]:
        """Sampled documents: summed subgradients (L, K) and topic totals (P,)."""
        if crew.elsewhere is not None:
            return crew.elsewhere(self, documents, signs, chosen, coef)
        settings, width = self.settings, self.topics.shape[1]
        by_topic = np.zeros((width, settings.n_classes))
        by_topic[: settings.n_topics] = coef.T
        scale = inverse_sums(self.sums, settings.n_topics)
        gradients = np.zeros((N_SHARES, settings.n_classes, width))
        totals = np.zeros((N_SHARES, width))
        shares = cut(chosen.shape[0])
        lengths = documents.lengths[chosen]
        longest = int(lengths.max(initial=0))
        work = [int(lengths[share].sum()) for share in shares]

        def sample(share: int, tool: Tool) -> None:
            sample_documents(
                self.generators[share],
                settings.hinge,
                by_topic,
                documents.words,
                documents.offsets,
                signs,
                chosen[shares[share]],
                self.topics,
                scale,
                settings.alpha,
                settings.n_sweeps,
                settings.n_discarded,
                tool.counts,
                totals[share],
                gradients[share],
                tool.workspace(longest),
            )

        crew.run(sample, np.argsort(work, kind="stable")[::-1])
        return gradients.sum(axis=0)[:, : settings.n_topics], totals.sum(axis=0)

    def _gather(
        self, words: IntArray, factor: float, crew: Crew, expected: ExpectedTopics | None
    ) -> IntArray:
        """The counts of all threads in one array; times ``factor`` they enter ``expected``."""
        shares = cut(len(words))
        counts, *others = [tool.counts for tool in crew.tools]

        def gather(share: int, _: Tool) -> None:
            part = words[shares[share]]
            for other in others:
                merge_counts(counts, other, part)
            if expected is not None:
                add_counts(expected.counts, counts, part, factor)

        crew.run(gather, range(N_SHARES))
        return counts

    def _step_some(self, words: IntArray, counts: IntArray, inflation: float, crew: Crew) -> None:
        """The exact flow: words of the minibatch move, the others stay behind.

        At first its time is infinite, which draws the topics from their conditional.
        """
        settings, shares = self.settings, cut(len(words))
        step = -math.log1p(-settings.renewed(self.time)) if self.time > 0 else math.inf
        change = np.zeros((N_SHARES, self.topics.shape[1]))
        if self.time == 0:
            self.moved[:] = -np.inf
        else:
            self.clock += step

        def move(share: int, _: Tool) -> None:
            absorb(
                self.generators[share],
                self.streams[share],
                self.aids.table,
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
        self, words: IntArray, counts: IntArray, totals: FloatArray, inflation: float, crew: Crew
    ) -> None:
        r"""Langevin steps, whose drift reaches all words.

        A step :math:`\epsilon` renews :math:`\epsilon (1 + N/S) / 2` of the topics, N the words of
        the corpus and S the sum of all topics. S falls with time from N to the sum under the prior,
        by the same steps; a corpus of millions would go beyond the limit of stability, were the
        step not to follow.
        """
        settings, width = self.settings, self.topics.shape[1]
        ratio = inflation * totals.sum() / self.sums.sum()
        step = 2.0 * settings.renewed(self.time) / (1.0 + ratio)
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
