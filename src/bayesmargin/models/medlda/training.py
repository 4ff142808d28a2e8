"""The loop of a fit: what is held out, who learns from what, progress, what is kept at the end."""

from typing import Any

import numpy as np

from bayesmargin.calibration.slopes import ScoreLink
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.documents import Documents, join, keep_words, select
from bayesmargin.models.medlda.labels import LabelCode
from bayesmargin.models.medlda.learners import (
    BatchLearner,
    Learner,
    OnlineLearner,
    StreamLearner,
)
from bayesmargin.models.medlda.learning_link import MAX_HELD_OUT, learn_link
from bayesmargin.models.medlda.lessons import Lessons, minibatches
from bayesmargin.models.medlda.pace import one_pass
from bayesmargin.models.medlda.parameters import (
    MIN_STEPS,
    Resolved,
    stream_size,
    warn_if_few_topics,
)
from bayesmargin.models.medlda.prediction import infer
from bayesmargin.models.medlda.showing import describe, watched_documents
from bayesmargin.models.medlda.sorted_streams import warn_if_sorted
from bayesmargin.models.medlda.sparing import spare_last
from bayesmargin.models.medlda.tools import Minibatch, ToolPool
from bayesmargin.running.checkpoint import Checkpoint, NoCheckpoint
from bayesmargin.running.gibbs import Gibbs, run_sweeps
from bayesmargin.running.interrupts import Interruptible
from bayesmargin.running.progress import progress_for


class Training:
    """One fit, or a series of ``partial_fit`` calls: learners, held-out documents, generators.

    A chain has one learner; with one-vs-rest one a class, each with topics of its own. Chains are
    independent: they differ in their topics, and predictions average over them.
    """

    def __init__(
        self,
        model: Any,
        resolved: Resolved,
        code: LabelCode,
        n_words: int,
        n_threads: int,
        random_state: Any = None,
    ) -> None:
        self.resolved, self.code = resolved, code
        warn_if_few_topics(model.n_topics, resolved.rule, code)
        self.n_words, self.n_threads = n_words, n_threads
        self.n_seen = 0
        self.known = np.zeros(n_words, dtype=bool)
        self.n_labelled = np.zeros(code.n_classifiers)
        split = resolved.rule == "ovr"
        self.columns = [slice(i, i + 1) for i in range(code.n_classifiers)]
        if not split:
            self.columns = [slice(None)]
        self.n_chains = model.n_chains
        order, seeds, *self._generators = spawn_generators(
            model.random_state if random_state is None else random_state,
            2 + model.n_chains * len(self.columns),
        )
        self.order = order
        self.seed = int(seeds.integers(2**62))
        self.learners: list[Learner] = []
        self.held_out: tuple[Documents, IntArray] | None = None
        self._crew: ToolPool | None = None

    def start(self, model: Any, documents: Documents, signs: IntArray) -> None:
        """Make the learners."""
        for columns, rng in zip(self.columns * self.n_chains, self._generators, strict=True):
            part = np.ascontiguousarray(signs[:, columns])
            if model.method == "gibbs":
                learner: Learner = BatchLearner(
                    model, self.resolved, documents, part, self.n_words, rng
                )
            elif model.method == "pa":
                learner = StreamLearner(model, self.resolved, self.n_words, part.shape[1], rng)
            else:
                learner = OnlineLearner(model, self.resolved, self.n_words, part.shape[1], rng)
            self.learners.append(learner)

    def hold_out(self, documents: Documents, n_held: int) -> tuple[IntArray, IntArray]:
        """Split the documents at random into those to learn from and those held out."""
        n_held = min(MAX_HELD_OUT, n_held)
        mixed = self.order.permutation(documents.n_documents)
        return np.sort(mixed[n_held:]), np.sort(mixed[:n_held])

    def _part_held(self, n_documents: int, share: float) -> int:
        """Documents of a part of a stream to hold out, rounded at random: parts may be small.

        One at least of the first part, which also has one at least to learn from.
        """
        wanted = int(share * n_documents + self.order.random())
        if share > 0.0 and self.held_out is None:
            wanted = max(wanted, 1)
        return min(wanted, n_documents if self.learners else n_documents - 1)

    def run(
        self,
        model: Any,
        documents: Documents,
        signs: IntArray,
        checkpoint: Checkpoint | NoCheckpoint,
    ) -> None:
        """Fit: the whole plan of passes over the documents, or what a checkpoint left of it.

        Ctrl-C ends it after the step under way; without draws of the second half it ends the fit.
        """
        kept, held = self.hold_out(documents, int(model.validation_fraction * len(signs)))
        kept, held = spare_last(kept, held, signs)
        if held.size:
            self.held_out = (select(documents, held), signs[held])
            documents, signs = select(documents, kept), signs[kept]
        self.start(model, documents, signs)
        self.n_seen = documents.n_documents
        self.n_labelled = (signs > 0).sum(axis=0).astype(float)
        plan = self._plan(model)
        chains = self._chains(documents, signs, plan)
        side_by_side = self.n_threads if model.method == "gibbs" else 1
        with progress_for(model.verbose) as progress:
            shown = watched_documents(self.code) or self.held_out

            def show(step: int) -> None:
                detail = ""
                if progress.shown and (step % max(1, len(plan) // 10) == 0 or step == len(plan)):
                    self._hold(chains)
                    detail = describe(self, shown)
                progress.update("minibatch", step, len(plan), detail)

            cut_short = run_sweeps(chains, len(plan), side_by_side, checkpoint, show, fixed=1)
        self._hold(chains)
        if cut_short:
            for learner, chain in zip(self.learners, chains, strict=True):
                learner.posterior.stop(chain.sweeps)
        if self.held_out is None:
            some = self.hold_out(documents, MAX_HELD_OUT)[1]
            self.held_out = (select(documents, some), signs[some])

    def _plan(self, model: Any) -> list[IntArray]:
        """The minibatches of all passes over the documents."""
        if model.method == "gibbs":
            return [np.arange(self.n_seen)] * self.resolved.n_passes
        least = MIN_STEPS if model.method == "ssgrld" and model.n_passes is None else 1
        n_passes = self.resolved.n_passes
        return list(minibatches(self.n_seen, model.batch_size, n_passes, self.order, least))

    def _chains(self, documents: Documents, signs: IntArray, plan: list[IntArray]) -> list[Gibbs]:
        """A chain of the runner for every learner, which reads the minibatches of the plan."""
        if isinstance(self.learners[0], BatchLearner):
            self._meet(documents, plan[0])
        lessons, chains = self._lessons(documents, plan), []
        columns = self.columns * self.n_chains
        for own, learner, rng in zip(columns, self.learners, self._generators, strict=True):
            learner.read = lessons.reader(learner, np.ascontiguousarray(signs[:, own]), self.crew)
            chains.append(learner.gibbs(rng, len(plan)))
        return chains

    def _lessons(self, documents: Documents, plan: list[IntArray]) -> Lessons:
        return Lessons(documents, plan, self._meet)

    def _hold(self, chains: list[Gibbs]) -> None:
        """Let posteriors hold what the chains have drawn so far."""
        for learner, chain in zip(self.learners, chains, strict=True):
            learner.posterior.take(chain.draws)

    def learn(self, documents: Documents, signs: IntArray, chosen: IntArray, total: int) -> None:
        """Every learner takes in the chosen documents of a stream."""
        self._meet(documents, chosen)
        for columns, learner in zip(self.columns * self.n_chains, self.learners, strict=True):
            part, expected = np.ascontiguousarray(signs[:, columns]), learner.posterior.expected
            crew = self.crew(learner)
            learner.learn(Minibatch(documents, part, chosen, total, crew, expected))

    def crew(self, learner: Learner) -> ToolPool | None:
        """Threads with count buffers for those who need them, made when they first do.

        Learners take turns, and leave the buffers, words times topics each, empty.
        """
        if self._crew is None and isinstance(learner, OnlineLearner):
            self._crew = self._make_crew(learner)
        return self._crew

    def _make_crew(self, learner: OnlineLearner) -> ToolPool:
        return ToolPool(self.n_threads, learner.chain.make_tool)

    def _meet(self, documents: Documents, chosen: IntArray) -> None:
        """Note the words of the chosen documents as known."""
        everything = len(chosen) == documents.n_documents
        self.known[documents.words if everything else select(documents, chosen).words] = True

    def take_in(self, model: Any, documents: Documents, signs: IntArray) -> bool:
        """``partial_fit``: one pass over the documents in random order.

        Returns whether it is complete; Ctrl-C ends it after the minibatch under way.
        """
        if any(isinstance(learner, BatchLearner) for learner in self.learners):
            raise ValueError(
                "this model was fitted with sampler='gibbs', which samples all documents together "
                "and takes no more of them: begin a new model for partial_fit"
            )
        share, everything = model.validation_fraction, signs
        kept, held = self.hold_out(documents, self._part_held(len(signs), share))
        if held.size:
            self._remember(select(documents, held), signs[held])
            documents, signs = select(documents, kept), signs[kept]
        if not self.learners:
            self.start(model, documents, signs)
        order = self.order.permutation(documents.n_documents)  # they may come class by class
        with Interruptible().watching() as watch:
            for chosen in one_pass(order, self.n_seen, model.batch_size):
                self.n_seen += chosen.size
                self.n_labelled += (signs[chosen] > 0).sum(axis=0)
                self.learn(documents, signs, chosen, self._size(model))
                if watch.interrupted:
                    break
        if not self.code.several:
            warn_if_sorted(everything, self.n_labelled, self.n_seen)
        if self.held_out is None or share == 0.0:
            some = self.hold_out(documents, MAX_HELD_OUT)[1]
            self._remember(select(documents, some), signs[some])
        return not watch.interrupted

    def _size(self, model: Any) -> int:
        """Documents that the corpus is taken to have: after a fit those seen, else of a stream."""
        fitted = self.learners[0].posterior.length is not None
        if fitted and model.n_documents is None:
            return self.n_seen
        return stream_size(model, self.n_seen)

    def _remember(self, documents: Documents, signs: IntArray) -> None:
        """Keep the latest of the documents held out, :data:`MAX_HELD_OUT` at most."""
        if self.held_out is not None:
            old, old_signs = self.held_out
            documents, signs = join(old, documents), np.concatenate([old_signs, signs])
        last = np.arange(documents.n_documents)[-MAX_HELD_OUT:]
        self.held_out = (select(documents, last), signs[last])

    def infer(
        self, documents: Documents, n_draws: int | None, with_shares: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Topic shares (first chain) and scores (mean over chains), averaged over the posterior.

        Words that training has not met are left out: under the prior they would speak for topics
        with few words. The shares of all labels may be much to hold: without ``with_shares`` each
        is let go once its scores are known, and there are no columns.
        """
        documents = keep_words(documents, self.known)
        shares: list[FloatArray] = [np.zeros((documents.n_documents, 0))]
        scores: list[FloatArray] = []
        width = len(self.columns)
        for number, learner in enumerate(self.learners):
            own, score = infer(
                learner.posterior,
                documents,
                self.resolved.alpha,
                self.seed,
                n_draws,
                self.n_threads,
            )
            scores.append(score)
            if with_shares and number < width:
                shares.append(own)
        chains = [np.hstack(scores[i : i + width]) for i in range(0, len(scores), width)]
        return np.hstack(shares) / width, np.mean(chains, axis=0)

    def scores(self, documents: Documents, n_draws: int | None = None) -> FloatArray:
        """Scores of documents, averaged over chains and the posterior."""
        return self.infer(documents, n_draws, False)[1]

    def link(self) -> ScoreLink:
        """Learn probabilities and thresholds on the held-out documents, whole and shortened."""
        if self.held_out is None:
            raise RuntimeError("no documents were held out")
        held, signs = self.held_out
        return learn_link(self, keep_words(held, self.known), signs)

    def known_lengths(self, documents: Documents) -> IntArray:
        """Words of each document that training has met."""
        return keep_words(documents, self.known).lengths

    def close(self) -> None:
        """Let threads and documents go."""
        for learner in self.learners:
            learner.close()
        if self._crew is not None:
            self._crew.close()
            self._crew = None
