"""MedLDA over documents on a cluster: minibatches sampled on the workers, topics moved once.

Documents stay in their shards. For every minibatch the driver fetches its documents (some hundred,
a few hundred kilobytes), sends every worker some of them with the topics of the words that occur
in them, and adds up what comes back: counts and subgradients. The work is cut into the same shares
with the same generators as on one machine, and counts are integers, so the topics are those of one
machine to the last bit, whatever the number of workers.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bayesmargin.distributed.cluster import Cluster, active_cluster, share
from bayesmargin.distributed.columns import common_columns
from bayesmargin.distributed.partitions import open_partitions
from bayesmargin.distributed.shards import Shard
from bayesmargin.errors import PartitionError
from bayesmargin.foundation.threads import N_SHARES, cut, n_threads
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.inputs.names import learn_columns
from bayesmargin.models.medlda.batches import sample_documents
from bayesmargin.models.medlda.conditionals import make_workspace
from bayesmargin.models.medlda.documents import (
    Documents,
    check_counts,
    refuse_wordless,
    select,
    to_documents,
)
from bayesmargin.models.medlda.labels import learn_code
from bayesmargin.models.medlda.learners import OnlineLearner
from bayesmargin.models.medlda.lessons import Lessons, Rows
from bayesmargin.models.medlda.parameters import check_parameters, resolve
from bayesmargin.models.medlda.posterior import inverse_sums
from bayesmargin.models.medlda.settings import Settings
from bayesmargin.models.medlda.ssgrld import Chain
from bayesmargin.models.medlda.tools import ToolPool
from bayesmargin.models.medlda.training import Training
from bayesmargin.saving.fingerprint import data_fingerprint

GROUPS = 4  # tasks of a minibatch; the result does not depend on it


class DocumentFacts(NamedTuple):
    """What the driver knows of a shard of documents."""

    n_documents: int
    n_words: int
    label: Any
    names: tuple[str, ...] | None
    has_words: bool


def _documents(shard: Shard, number: int) -> Documents:
    try:
        return to_documents(check_counts(shard.values, "MedLDAClassifier"))
    except ValueError as error:
        raise PartitionError(f"partition {number} (counted from 0): {error}") from error


def _facts(shard: Shard) -> DocumentFacts:
    n_documents, n_words = shard.values.shape
    has_words = bool(shard.values.sum() != 0)
    return DocumentFacts(n_documents, n_words, shard.label, shard.names, has_words)


def _words(documents: Documents, chosen: IntArray) -> IntArray:
    return np.unique(select(documents, chosen).words)


class DocumentShards:
    """Documents on a cluster, numbered through all shards; ``index`` selects some of them."""

    def __init__(self, cluster: Cluster, shards: list[Any], starts: IntArray, index: IntArray):
        self.cluster, self.shards, self.starts, self.index = cluster, shards, starts, index
        self.n_documents = len(index)

    def select(self, chosen: IntArray) -> "DocumentShards":
        """Some of the documents; nothing moves."""
        return DocumentShards(self.cluster, self.shards, self.starts, self.index[chosen])

    def fetch(self, chosen: IntArray) -> Documents:
        """The chosen documents themselves, in the order of ``chosen``."""
        shard, used, parts = self._ask(select, chosen)
        lengths = [part.lengths for part in parts]
        words = np.concatenate([part.words for part in parts])
        ends = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int64)
        order = np.empty(len(chosen), dtype=np.int64)
        order[np.concatenate([np.flatnonzero(shard == k) for k in used])] = np.arange(len(chosen))
        return select(Documents(words, ends), order)

    def vocabulary(self, chosen: IntArray) -> IntArray:
        """The words of the chosen documents, which stay where they are."""
        return np.concatenate(self._ask(_words, chosen)[2])

    def _ask(self, task: Callable[..., Any], chosen: IntArray) -> tuple[IntArray, IntArray, Any]:
        """Shard of every chosen document, the shards there are, and their answers to the task."""
        places = self.index[chosen]
        shard = np.searchsorted(self.starts, places, side="right") - 1
        used = np.unique(shard)
        handles = [
            self.cluster.submit(
                "documents", task, self.shards[k], places[shard == k] - self.starts[k]
            )
            for k in used
        ]
        return shard, used, self.cluster.gather(handles)


def open_documents(cluster: Cluster, X: Any, y: Any) -> tuple[DocumentShards, Any, int, Any]:
    """Documents of a collection, their labels, the number of words and the columns' names."""
    parts, _ = open_partitions(X, y, None, label_sets=True)
    handles = cluster.read(parts)
    facts = cluster.gather([cluster.submit("look", _facts, handle) for handle in handles])
    widths, names = [fact.n_words for fact in facts], [fact.names for fact in facts]
    n_words, known = common_columns(widths, names, range(len(facts)))
    kinds = {fact.label.shape[1:] for fact in facts}
    if len(kinds) > 1:
        shapes = sorted(fact.label.shape for fact in facts)
        raise ValueError(f"partitions differ in the columns of y, which has the shapes {shapes}")
    refuse_wordless(sum(fact.n_documents for fact in facts), any(f.has_words for f in facts))
    shards = [cluster.submit("documents", _documents, h, k) for k, h in enumerate(handles)]
    counts = [fact.n_documents for fact in facts]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
    labels = np.concatenate([fact.label for fact in facts])
    documents = DocumentShards(cluster, shards, starts, np.arange(sum(counts)))
    return documents, labels, n_words, known


class Common(NamedTuple):
    """What all tasks of a minibatch read: settings, weights, topics of the words that occur."""

    settings: Settings
    by_topic: FloatArray
    topics: FloatArray
    scale: FloatArray


class SampledShares(NamedTuple):
    """What a task sends back: generators moved on, counts, and by share totals and gradients."""

    generators: list[np.random.Generator]
    counts: IntArray
    totals: FloatArray
    gradients: FloatArray


def sample_shares(
    common: Common, parts: list[tuple[Documents, IntArray]], generators: list[np.random.Generator]
) -> SampledShares:
    """Sample the words of some shares of a minibatch, on a worker."""
    settings, width = common.settings, common.topics.shape[1]
    generators = copy.deepcopy(generators)
    counts = np.zeros((len(common.topics), width), dtype=np.int32)
    totals = np.zeros((len(parts), width))
    gradients = np.zeros((len(parts), settings.n_classes, width))
    longest = max(int(documents.lengths.max(initial=0)) for documents, _ in parts)
    work = make_workspace(settings.n_classes, width, max(1024, longest))
    for k, (documents, signs) in enumerate(parts):
        sample_documents(
            generators[k],
            settings.hinge,
            common.by_topic,
            documents.words,
            documents.offsets,
            signs,
            np.arange(documents.n_documents),
            common.topics,
            common.scale,
            settings.alpha,
            settings.n_sweeps,
            settings.n_discarded,
            counts,
            totals[k],
            gradients[k],
            work,
        )
    return SampledShares(generators, counts, totals, gradients)


class ClusterCrew(ToolPool):
    """Workers of a cluster that share the work of a minibatch; topics are moved by this process."""

    def __init__(self, cluster: Cluster, chain: Chain) -> None:
        super().__init__(1, chain.make_tool)
        self.cluster = cluster
        self.elsewhere = self.sample

    def sample(
        self,
        chain: Chain,
        documents: Documents,
        signs: IntArray,
        chosen: IntArray,
        coef: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Summed subgradients and topic totals; counts go to the tool of this process."""
        settings, width = chain.settings, chain.topics.shape[1]
        by_topic = np.zeros((width, settings.n_classes))
        by_topic[: settings.n_topics] = coef.T
        # Words are renumbered in their order, so that sorted words stay sorted.
        present, compact = np.unique(documents.words, return_inverse=True)
        renumbered = documents._replace(words=compact.ravel().astype(documents.words.dtype))
        scale = inverse_sums(chain.sums, settings.n_topics)
        handle = share(self.cluster, Common(settings, by_topic, chain.topics[present], scale))
        sent = []
        for group in np.array_split(np.arange(N_SHARES), GROUPS):
            own = [chosen[cut(chosen.shape[0])[s]] for s in group]
            parts = [(select(renumbered, places), signs[places]) for places in own]
            mine = [chain.generators[s] for s in group]
            sent.append(self.cluster.submit("minibatch", sample_shares, handle, parts, mine))
        found: list[SampledShares] = self.cluster.gather(sent)
        moved = [rng for part in found for rng in part.generators]
        for here, there in zip(chain.generators, moved, strict=True):
            here.bit_generator.state = there.bit_generator.state
        for part in found:
            self.tools[0].counts[present] += part.counts
        totals = np.concatenate([part.totals for part in found]).sum(axis=0)
        gradients = np.concatenate([part.gradients for part in found]).sum(axis=0)
        return gradients[:, : settings.n_topics], totals


class FetchedLessons(Lessons):
    """Minibatches whose documents lie on a cluster, and come once for all learners."""

    _fetched: tuple[int, Documents] | None = None

    def read(self, step: int) -> tuple[Documents, Rows, IntArray]:
        """The documents of a step, all of which are chosen; words of earlier ones are noted."""
        chosen = self.plan[step]
        if self._fetched is None and step > 0:
            self.meet(self.documents, np.unique(np.concatenate(self.plan[:step])))
        if self._fetched is None or self._fetched[0] != step:
            self._fetched = step, self.documents.fetch(chosen)
            self.meet(self._fetched[1], np.arange(len(chosen)))
        return self._fetched[1], chosen, np.arange(len(chosen))


class ShardedTraining(Training):
    """A fit whose documents lie on a cluster."""

    def _make_crew(self, learner: OnlineLearner) -> ToolPool:
        return ClusterCrew(active_cluster(), learner.chain)

    def _lessons(self, documents: Any, plan: list[IntArray]) -> Lessons:
        return FetchedLessons(documents, plan, self._meet)

    def _meet(self, documents: Any, chosen: IntArray) -> None:
        """Note words as known, also those of documents on the cluster, learned from before."""
        if isinstance(documents, DocumentShards):
            self.known[documents.vocabulary(chosen)] = True
        else:
            super()._meet(documents, chosen)

    def infer(
        self, documents: Any, n_draws: int | None, with_shares: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Topic shares and scores; documents on the cluster (those held out) are fetched."""
        if isinstance(documents, DocumentShards):
            documents = documents.fetch(np.arange(documents.n_documents))
        return super().infer(documents, n_draws, with_shares)

    def settled(self) -> Training:
        """The same training without the cluster, which what is fitted no longer needs."""
        if self.held_out is not None:
            held: Any = self.held_out[0]
            self.held_out = (held.fetch(np.arange(held.n_documents)), self.held_out[1])
        plain = Training.__new__(Training)
        plain.__dict__.update(self.__dict__)
        return plain


def fit_documents(model: Any, X: Any, y: Any) -> Training:
    """Train a :class:`MedLDAClassifier` on a Dask collection of counts."""
    plan = check_parameters(model)
    if plan.method != "ssgrld":
        raise ValueError(
            f'sampler={plan.method!r} does not run on Dask collections: choose "ssgrld", or pass '
            'the partitions one by one to partial_fit (sampler="pa")'
        )
    cluster = active_cluster()
    documents: Any
    documents, labels, n_words, names = open_documents(cluster, X, y)
    learn_columns(model, n_words, names)
    code = learn_code(labels)
    signs = code.signs(labels, all_of_them=True)
    resolved = resolve(plan, code.n_classifiers, len(labels), signs)
    digests = []
    if model.checkpoint is not None:
        digests = cluster.gather([cluster.submit("look", digest, s) for s in documents.shards])
    with model._checkpointing(digests, labels) as checkpoint:
        threads = n_threads(model.n_jobs, N_SHARES)
        seed = checkpoint.random_state
        training = ShardedTraining(plan, resolved, code, n_words, threads, seed)
        try:
            training.run(plan, documents, signs, checkpoint)
        finally:
            training.close()
        return training.settled()


def digest(documents: Documents) -> str:
    """Hash of the documents of a shard."""
    return data_fingerprint(documents)


def partition_pairs(X: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """Partitions ``(counts, labels)`` one after another, the next being read meanwhile."""
    cluster = active_cluster()
    parts, _ = open_partitions(X, y, None, label_sets=True)
    waiting = cluster.read(parts[:1])
    for number in range(len(parts)):
        shard: Shard = cluster.gather(waiting)[0]
        waiting = cluster.read(parts[number + 1 : number + 2])
        yield shard.values, shard.label
