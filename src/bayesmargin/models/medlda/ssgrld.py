r"""Stochastic subgradient Riemannian Langevin dynamics for MedLDA: one minibatch at a time.

One step, from a minibatch of B documents out of D:

1. sample the topics of their words given :math:`\Phi, \eta` (:mod:`.batches`),
2. move :math:`\eta` with the averaged subgradient (:mod:`.weights`),
3. move :math:`\Phi` with the averaged counts (:mod:`.topics`).

The chain is a handful of arrays and generators, so that it can stop after any minibatch.
"""

from typing import Any, NamedTuple

import numpy as np

from bayesmargin.models.medlda.batches import sample_documents
from bayesmargin.models.medlda.conditionals import make_workspace, padded
from bayesmargin.models.medlda.crew import N_SHARES, Crew, cut
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.hinges import LabelSetHinge
from bayesmargin.models.medlda.posterior import inverse_sums
from bayesmargin.models.medlda.topics import step_scir, step_sgrld
from bayesmargin.models.medlda.weights import LangevinMover, ThermostatMover
from bayesmargin.types import FloatArray, IntArray


class Settings(NamedTuple):
    """What stays the same along a chain."""

    hinge: Any
    n_topics: int
    n_words: int
    n_classes: int
    alpha: float
    beta: float
    prior_variance: float
    n_sweeps: int
    n_discarded: int
    topic_sampler: str
    topic_step: float


# The topics average over about as many minibatches as were seen: step * (1 + t)^-TOPIC_DECAY.
TOPIC_DECAY = 0.6


def starting_weights(hinge: Any, n_classes: int, n_topics: int) -> FloatArray:
    """Weights that give every class topics of its own, in turn.

    From zero weights all topics look alike to the hinge, and the chain spends its first passes on
    breaking that symmetry. A chain may start anywhere; this start breaks it in the first minibatch.
    """
    rows = np.arange(max(2, n_classes))[:, None]
    own = np.arange(n_topics)[None, :] % rows.shape[0] == rows
    other = 0.0 if isinstance(hinge, LabelSetHinge) else -hinge.margin
    return np.where(own, hinge.margin, other)[-n_classes:]


class Chain:
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
        self.time = 0
        rng = generators[0]
        width = padded(settings.n_topics)
        self.topics = np.zeros((settings.n_words, width), dtype=np.float32)
        # A flat start: the first documents break the symmetry between topics, not this noise.
        shape = (settings.n_words, settings.n_topics)
        start = settings.beta * rng.standard_exponential(shape, dtype=np.float32)
        self.topics[:, : settings.n_topics] = start + np.float32(0.1 * settings.beta)
        self.sums = self.topics.sum(axis=0, dtype=np.float64)
        self.coef = starting_weights(settings.hinge, settings.n_classes, settings.n_topics)
        if isinstance(mover, ThermostatMover):
            mover.start(self.coef.shape, rng)

    def make_tool(self) -> "Tool":
        """Work space of one thread."""
        return Tool(self.settings, self.topics.shape[1])

    def step(
        self, documents: Documents, signs: IntArray, chosen: IntArray, n_total: float, crew: Crew
    ) -> None:
        """One minibatch: the ``chosen`` documents stand for ``n_total`` of them."""
        settings = self.settings
        n_kept = settings.n_sweeps - settings.n_discarded
        inflation = n_total / chosen.shape[0] / n_kept
        coef = self.mover.before(self.coef)
        gradient, totals = self._sample(documents, signs, chosen, coef, crew)
        slope = coef / settings.prior_variance - inflation * gradient
        self.coef = self.mover.after(coef, slope, self.generators[0])
        self._move_topics(totals, inflation, crew)
        self.time += 1

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
        longest = int(documents.lengths[chosen].max(initial=0))

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

        crew.run(sample, range(N_SHARES))
        return gradients.sum(axis=0)[:, : settings.n_topics], totals.sum(axis=0)

    def _move_topics(self, totals: FloatArray, inflation: float, crew: Crew) -> None:
        settings = self.settings
        # The first minibatch forgets the start: the flow over an infinite time draws the topics
        # from their conditional.
        first = self.time == 0
        step = np.inf if first else settings.topic_step * (1.0 + self.time) ** -TOPIC_DECAY
        pull = inflation * totals / np.maximum(self.sums, 1e-300)
        shares = cut(settings.n_words)
        sums = np.zeros((N_SHARES, self.topics.shape[1]))
        counts = tuple(tool.counts for tool in crew.tools)

        def move(share: int, _: Tool) -> None:
            part = shares[share]
            kept = np.stack([c[part] for c in counts]) if len(counts) > 1 else counts[0][None, part]
            rng, block = self.generators[share], self.topics[part]
            if first or settings.topic_sampler == "scir":
                step_scir(
                    rng, block, kept, settings.n_topics, settings.beta, inflation, step, sums[share]
                )
            else:
                step_sgrld(
                    rng,
                    block,
                    kept,
                    pull,
                    settings.n_topics,
                    settings.beta,
                    inflation,
                    step,
                    sums[share],
                )
            for c in counts:
                c[part] = 0

        crew.run(move, range(N_SHARES))
        self.sums = sums.sum(axis=0)


class Tool:
    """What one thread needs: counts of its own and a work space that grows with the documents."""

    def __init__(self, settings: Settings, width: int) -> None:
        self._settings, self._width = settings, width
        self.counts = np.zeros((settings.n_words, width), dtype=np.int32)
        self._workspace = make_workspace(settings.n_classes, width, 1024)

    def workspace(self, longest: int) -> Any:
        """Work space for documents of at most ``longest`` words."""
        if longest > self._workspace.assigned.shape[0]:
            self._workspace = make_workspace(self._settings.n_classes, self._width, 2 * longest)
        return self._workspace
