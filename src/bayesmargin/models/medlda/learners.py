"""The three methods behind one interface: learn from a part of the documents, give a draw."""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.threads import N_SHARES
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.expected import ExpectedTopics
from bayesmargin.models.medlda.gibbs import CollapsedChain
from bayesmargin.models.medlda.pace import one_pass
from bayesmargin.models.medlda.parameters import MIN_STEPS, Resolved
from bayesmargin.models.medlda.passive_aggressive import PassiveAggressive
from bayesmargin.models.medlda.posterior import TopicPosterior
from bayesmargin.models.medlda.settings import REST_DECAY, TOPIC_DECAY, Settings
from bayesmargin.models.medlda.ssgrld import Chain
from bayesmargin.models.medlda.tools import Crew
from bayesmargin.models.medlda.weights import LangevinMover, ThermostatMover


class Learner(Protocol):
    """One set of topics with its classifier while it is learned."""

    posterior: TopicPosterior

    def learn(self, documents: Documents, signs: IntArray, chosen: IntArray, total: int) -> None:
        """Take in the chosen documents, which stand for ``total`` of them."""

    def stop(self, time: int) -> None:
        """End after so many calls, which are fewer than were planned."""

    def close(self) -> None:
        """Let threads go."""


class OnlineLearner:
    """SSGRLD: minibatches, draws kept along the second half of the chain."""

    def __init__(
        self, model: Any, resolved: Resolved, n_words: int, n_classes: int, n_threads: int, rng: Any
    ) -> None:
        settings = Settings(
            hinge=resolved.hinge,
            n_topics=model.n_topics,
            n_words=n_words,
            n_classes=n_classes,
            alpha=resolved.alpha,
            beta=float(model.beta),
            prior_variance=resolved.prior_scale**2,
            n_sweeps=model.n_sweeps,
            n_discarded=model.n_sweeps // 3,
            topic_sampler=model.topics,
            topic_step=float(model.topic_step),
            topic_decay=REST_DECAY if resolved.rule == "ovr" else TOPIC_DECAY,
            follow_size=model.weight_step is None,
            batch_size=model.batch_size,
        )
        step = 0.0 if model.weight_step is None else float(model.weight_step)
        mover = LangevinMover(step) if model.weights == "ssgld" else ThermostatMover(step)
        self.chain = Chain(settings, mover, spawn_generators(rng, N_SHARES))
        expected = ExpectedTopics.nothing(
            *self.chain.topics.shape, settings.n_topics, settings.beta
        )
        self.posterior = TopicPosterior(model.n_topics, expected=expected)
        self._n_draws, self._n_threads = resolved.n_draws, n_threads
        self._crew: Crew | None = None

    def learn(self, documents: Documents, signs: IntArray, chosen: IntArray, total: int) -> None:
        """One minibatch."""
        if self.chain.time == 0:
            self.chain.mover.expect(self.posterior.length)
        self.chain.step(documents, signs, chosen, total, self.crew(), self.posterior.expected)
        self.posterior.keep(self.chain.time, self._n_draws, self._draw)

    def _draw(self) -> tuple[FloatArray, FloatArray, float | None]:
        return self.chain.current_topics(self.crew()), self.chain.coef, self.chain.mover.heat()

    def stop(self, time: int) -> None:
        """Keep the draws of the second half."""
        self.posterior.stop_sampling(time, self._n_draws, self._draw)

    def crew(self) -> Crew:
        """Threads with their count buffers, made when they are first needed."""
        if self._crew is None:
            self._crew = Crew(self._n_threads, self.chain.make_tool)
        return self._crew

    def borrow(self, other: "OnlineLearner") -> None:
        """Work with the threads of another learner of the same kind, unless there are some here.

        Learners take turns, and leave the buffers of counts, words times topics each, empty.
        """
        if self._crew is None:
            self._crew = other.crew()

    def send_to(self, crew: Crew) -> None:
        """Let another crew do the work until :meth:`close`."""
        self._crew = crew

    def close(self) -> None:
        """Let threads and their count buffers go."""
        if self._crew is not None:
            self._crew.close()
            self._crew = None


class BatchLearner:
    """Collapsed Gibbs: every call is a sweep over all documents."""

    def __init__(
        self,
        model: Any,
        resolved: Resolved,
        documents: Documents,
        signs: IntArray,
        n_words: int,
        rng: np.random.Generator,
    ) -> None:
        self.chain = CollapsedChain(
            documents,
            signs,
            resolved.hinge,
            model.n_topics,
            n_words,
            resolved.alpha,
            float(model.beta),
            resolved.prior_scale**2,
            rng,
        )
        self.posterior = TopicPosterior(model.n_topics)
        self._n_draws, self._time = resolved.n_draws, 0

    def learn(self, documents: Documents, signs: IntArray, chosen: IntArray, total: int) -> None:
        """One sweep over the documents that the chain holds."""
        self.chain.sweep()
        self._time += 1
        self.posterior.keep(self._time, self._n_draws, self._draw)

    def _draw(self) -> tuple[FloatArray, FloatArray, float | None]:
        return self.chain.topics(), self.chain.coef, None

    def stop(self, time: int) -> None:
        """Keep the draws of the second half."""
        self.posterior.stop_sampling(time, self._n_draws, self._draw)

    def close(self) -> None:
        """Nothing to let go."""


class StreamLearner:
    """Passive-aggressive: minibatches absorbed once; one draw, the posterior mean."""

    def __init__(
        self,
        model: Any,
        resolved: Resolved,
        n_words: int,
        n_classes: int,
        rng: np.random.Generator,
    ) -> None:
        self.state = PassiveAggressive(
            resolved.hinge,
            model.n_topics,
            n_words,
            n_classes,
            resolved.alpha,
            float(model.beta),
            resolved.prior_scale**2,
            rng,
            n_sweeps=model.n_sweeps,
        )
        self.posterior = TopicPosterior(model.n_topics)

    def learn(self, documents: Documents, signs: IntArray, chosen: IntArray, total: int) -> None:
        """One minibatch."""
        self.state.absorb(documents, signs, chosen)
        self.posterior.add(self.state.topics(), self.state.mean)
        self.posterior.drop_oldest(1)

    def stop(self, time: int) -> None:
        """Keep what was absorbed."""
        self.posterior.stop(time)

    def close(self) -> None:
        """Nothing to let go."""


def minibatches(
    n_documents: int,
    batch_size: int,
    n_passes: int,
    rng: np.random.Generator,
    least: int = MIN_STEPS,
) -> Iterator[IntArray]:
    """Random minibatches without replacement within a pass, ``least`` of them at least."""
    step = done = 0
    while done < n_passes or step < least:
        for chosen in one_pass(rng.permutation(n_documents), done * n_documents, batch_size):
            yield chosen
            step += 1
        done += 1
