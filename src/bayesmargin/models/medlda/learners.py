"""The three methods behind one interface: learn from a part of the documents, give a draw."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.threads import N_SHARES
from bayesmargin.foundation.types import IntArray
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.expected import ExpectedTopics
from bayesmargin.models.medlda.gibbs import CollapsedChain
from bayesmargin.models.medlda.parameters import Resolved
from bayesmargin.models.medlda.passive_aggressive import PassiveAggressive
from bayesmargin.models.medlda.posterior import Draw, TopicPosterior, kept_steps
from bayesmargin.models.medlda.settings import REST_DECAY, TOPIC_DECAY, Settings
from bayesmargin.models.medlda.ssgrld import BLOCKS, Chain
from bayesmargin.models.medlda.tools import Minibatch
from bayesmargin.models.medlda.weights import LangevinMover, ThermostatMover
from bayesmargin.running.gibbs import Block, Gibbs, Move, sweep


class Learner(ABC):
    """One set of topics with its classifier: a model of blocks, its chain, and what it has drawn.

    In a fit a chain of the runner makes its sweeps, one a minibatch, which :attr:`read` gives it
    by their numbers. A stream hands them over one by one.
    """

    moves: tuple[Block, ...]  #: of which a sweep consists, once a minibatch was read

    def __init__(self, chain: Any, posterior: TopicPosterior, n_draws: int) -> None:
        self.chain, self.posterior, self._n_draws = chain, posterior, n_draws
        self.read: Callable[[int], Minibatch] | None = None
        self.taken = 0  # minibatches, or sweeps

    @property
    def blocks(self) -> tuple[Block, ...]:
        """A minibatch is read, then the state moves."""
        return (Move("reading", self._read), *self.moves)

    def _read(self, chain: Any) -> None:
        assert self.read is not None
        chain.minibatch = self.read(self.taken)
        self.taken += 1

    def begin(self, rng: np.random.Generator) -> Any:
        """The state, which was made with the learner."""
        return self.chain

    def traces(self, chain: Any) -> dict[str, float]:
        """Draws say it all."""
        return {}

    @abstractmethod
    def draw(self, chain: Any) -> Draw:
        """Topics and weights (copies), and the heat of a thermostat."""

    def moving(self, chain: Any) -> dict[str, Any]:
        """What a checkpoint keeps."""
        return {"chain": chain, "expected": self.posterior.expected, "taken": self.taken}

    def resume(self, moving: dict[str, Any]) -> Any:
        """The state that a checkpoint has kept."""
        self.posterior.expected, self.taken = moving["expected"], moving["taken"]
        self.chain = moving["chain"]
        return self.chain

    def gibbs(self, rng: np.random.Generator, length: int) -> Gibbs:
        """A chain of so many sweeps, whose second half is kept."""
        self.posterior.length = length
        keep = kept_steps(length, self._n_draws)
        return Gibbs(self, rng, length // 2, keep, self._n_draws)

    def learn(self, minibatch: Minibatch) -> None:
        """One step of a stream."""
        self.read = lambda _: minibatch
        sweep(self.blocks, self.chain)
        self._keep()

    def _keep(self) -> None:
        """Keep a draw of a stream, if one is due."""
        self.posterior.keep(self._time, self._n_draws, lambda: self.draw(self.chain))

    def close(self) -> None:
        """Let go of what is no part of the state: documents and threads."""
        self.read = self.chain.minibatch = None

    @property
    def _time(self) -> int:
        """Steps made so far."""
        return self.taken


class OnlineLearner(Learner):
    """SSGRLD: minibatches, draws kept along the second half of the chain."""

    moves = BLOCKS

    def __init__(
        self, model: Any, resolved: Resolved, n_words: int, n_classes: int, rng: Any
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
        chain = Chain(settings, mover, spawn_generators(rng, N_SHARES))
        expected = ExpectedTopics.nothing(*chain.topics.shape, settings.n_topics, settings.beta)
        posterior = TopicPosterior(model.n_topics, expected=expected)
        super().__init__(chain, posterior, resolved.n_draws)

    def _read(self, chain: Chain) -> None:
        if chain.time == 0:
            chain.mover.expect(self.posterior.length)
        super()._read(chain)

    def draw(self, chain: Chain) -> Draw:
        """Topics that are all up to date, and weights."""
        return Draw(chain.current_topics(chain.crew).copy(), chain.coef, chain.mover.heat())

    @property
    def _time(self) -> int:
        return self.chain.time


class BatchLearner(Learner):
    """Collapsed Gibbs: every step is a sweep over all documents."""

    moves = (
        Move("weights", CollapsedChain.draw_weights),
        Move("words", CollapsedChain.draw_words),
    )

    def __init__(
        self,
        model: Any,
        resolved: Resolved,
        documents: Documents,
        signs: IntArray,
        n_words: int,
        rng: np.random.Generator,
    ) -> None:
        chain = CollapsedChain(
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
        super().__init__(chain, TopicPosterior(model.n_topics), resolved.n_draws)

    def _read(self, chain: CollapsedChain) -> None:
        self.taken += 1  # all documents are drawn in every sweep

    def begin(self, rng: np.random.Generator) -> CollapsedChain:
        """Words drawn once, see :meth:`CollapsedChain.begin`."""
        self.chain.begin()
        return self.chain

    def close(self) -> None:
        """Nothing is held that is not the chain's."""
        self.read = None

    def draw(self, chain: CollapsedChain) -> Draw:
        """Counts with their prior, and weights."""
        return Draw(chain.topics(), chain.coef)

    def moving(self, chain: CollapsedChain) -> dict[str, Any]:
        """What sweeps change; documents and signs are those of the data."""
        return {"chain": chain.moving(), "taken": self.taken}

    def resume(self, moving: dict[str, Any]) -> CollapsedChain:
        """The same documents with the state that a checkpoint has kept."""
        vars(self.chain).update(moving["chain"])
        self.taken = moving["taken"]
        return self.chain


class StreamLearner(Learner):
    """Passive-aggressive: minibatches absorbed once; one draw, the posterior mean."""

    moves = (Move("absorbing", PassiveAggressive.absorb),)

    def __init__(
        self,
        model: Any,
        resolved: Resolved,
        n_words: int,
        n_classes: int,
        rng: np.random.Generator,
    ) -> None:
        chain = PassiveAggressive(
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
        super().__init__(chain, TopicPosterior(model.n_topics), 1)

    def gibbs(self, rng: np.random.Generator, length: int) -> Gibbs:
        """As if it were a chain: nothing is burn-in, and the latest state says it all."""
        self.posterior.length = length
        return Gibbs(self, rng, 0, range(length), 1)

    def draw(self, chain: PassiveAggressive) -> Draw:
        """Means of topics and weights."""
        return Draw(chain.topics(), chain.mean.copy())

    def _keep(self) -> None:
        self.posterior.take([self.draw(self.chain)])
