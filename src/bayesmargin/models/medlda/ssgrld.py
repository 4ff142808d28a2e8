r"""Stochastic subgradient Riemannian Langevin dynamics for MedLDA: one minibatch at a time.

One step, from a minibatch of B documents out of D:

1. bring the topics of their words up to date (:mod:`.flow`),
2. sample the topics of their words given :math:`\Phi, \eta` (:mod:`.batches`),
3. move :math:`\eta` with the averaged subgradient (:mod:`.weights`),
4. move :math:`\Phi` with the averaged counts (:mod:`.moving`), which also enter the topics
   expected of new documents (:mod:`.expected`).

These are three blocks: words (1 and 2), weights, topics. The chain is a handful of arrays and
generators, so that it can stop after any minibatch.
"""

from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.threads import N_SHARES, cut
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.batches import sample_documents
from bayesmargin.models.medlda.conditionals import padded
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.expected import ExpectedTopics, add_counts
from bayesmargin.models.medlda.flow import (
    list_words,
    merge_counts,
)
from bayesmargin.models.medlda.moving import MovingTopics
from bayesmargin.models.medlda.pace import part_of_minibatch
from bayesmargin.models.medlda.posterior import inverse_sums
from bayesmargin.models.medlda.settings import Settings
from bayesmargin.models.medlda.tools import Aids, Minibatch, Tool, ToolPool
from bayesmargin.models.medlda.weights import (
    LangevinMover,
    ThermostatMover,
    require_bounded,
    starting_weights,
)
from bayesmargin.running.gibbs import Move, sweep


class SampledWords(NamedTuple):
    """What sampling the words of a minibatch gives the other blocks."""

    slope: FloatArray  #: subgradient of the energy where the weights are
    words: IntArray  #: that occur, sorted
    totals: FloatArray  #: words by topic


class Chain(MovingTopics):
    """State of an SSGRLD chain: topics (V, P), weights (L, K), generators, time."""

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
        self.minibatch: Minibatch | None = None
        self.sampled: SampledWords | None = None
        self._measure()
        self.coef = starting_weights(settings.hinge, settings.n_classes, settings.n_topics, rng)
        mover.start(self.coef.shape, rng)

    def make_tool(self) -> Tool:
        """Work space of one thread."""
        return Tool(self.settings.n_words, self.settings.n_classes, self.topics.shape[1])

    def step(self, minibatch: Minibatch) -> None:
        """One minibatch, by itself."""
        self.minibatch = minibatch
        sweep(BLOCKS, self)

    def draw_words(self) -> None:
        """The words' topics, and with them the subgradient of the weights."""
        settings, chosen = self.settings, self._present.chosen
        documents, signs, crew = self._present.documents, self._present.signs, self.crew
        words = self._words_of(documents, chosen)
        if settings.topic_sampler == "scir":
            self._catch_up(words, crew)
        elif self.time == 1:
            self.current_topics(crew)
        if settings.follow_size:
            self.mover.follow(settings, self._present.total)
        with np.errstate(over="ignore", invalid="ignore"):  # of weights that are refused then
            require_bounded(self.coef, settings, self._present.total, self.mover.told)
            gradient, totals = self._sample(documents, signs, chosen, self.coef, crew)
            slope = self.coef / settings.prior_variance - self._inflation * gradient
        self.sampled = SampledWords(slope, words, totals)

    def move_weights(self) -> None:
        """Weights, by the subgradient; documents that are less than a minibatch move them less."""
        usual, told = self.mover.step, self.mover.told
        self.mover.step = self._pace()[0] * usual
        with np.errstate(over="ignore", invalid="ignore"):
            self.coef = self.mover.after(self.coef, self._found.slope, self.generators[0])
        require_bounded(self.coef, self.settings, self._present.total, told)
        self.mover.step = usual

    def move_topics(self) -> None:
        """Topics, by the counts, which also enter those expected of new documents."""
        part, share = self._pace()
        chosen, crew, expected = self._present.chosen, self.crew, self._present.expected
        factor, inflation = 0.0, self._inflation
        if expected is not None:
            factor = inflation * expected.fade(share, chosen.shape[0])
            expected.short += 1.0 - part
        _, words, totals = self._found
        counts = self._gather(words, factor, crew, expected)
        if self.settings.topic_sampler == "sgrld" and self.time > 0:
            self._step_all(words, counts, totals, inflation, share, crew)
        else:
            self._step_some(words, counts, inflation, share, crew)
        self.time += 1

    @property
    def _present(self) -> Minibatch:
        assert self.minibatch is not None
        return self.minibatch

    @property
    def crew(self) -> ToolPool:
        """Threads of the present minibatch."""
        assert self._present.crew is not None
        return self._present.crew

    @property
    def _found(self) -> "SampledWords":
        assert self.sampled is not None
        return self.sampled

    @property
    def _inflation(self) -> float:
        """Documents of the corpus for every sampled state of a document."""
        n_kept = self.settings.n_sweeps - self.settings.n_discarded
        return self._present.total / self._present.chosen.shape[0] / n_kept

    def _pace(self) -> tuple[float, float]:
        """What part of a minibatch so many documents are, and the share of topics they renew.

        The first of a stream have no less weight than their share of the documents so far.
        """
        settings, expected = self.settings, self._present.expected
        if expected is None or settings.batch_size is None:
            return 1.0, settings.renewed(self.time)
        n_chosen, n_seen = self._present.chosen.shape[0], expected.n_seen
        part = part_of_minibatch(n_chosen, n_seen, settings.batch_size, self._present.total)
        share = settings.renewed(self.time - expected.short)
        if part < 1.0 and self.time > 0:
            share = max(part * share, n_chosen / (n_seen + n_chosen))
        return part, share

    def _words_of(self, documents: Documents, chosen: IntArray) -> IntArray:
        aids = self.aids
        n_found = list_words(documents.words, documents.offsets, chosen, aids.marks, aids.found)
        return np.sort(aids.found[:n_found])

    def _sample(
        self,
        documents: Documents,
        signs: IntArray,
        chosen: IntArray,
        coef: FloatArray,
        crew: ToolPool,
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
        self, words: IntArray, factor: float, crew: ToolPool, expected: ExpectedTopics | None
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


BLOCKS = (
    Move("words", Chain.draw_words),
    Move("weights", Chain.move_weights),
    Move("topics", Chain.move_topics),
)
