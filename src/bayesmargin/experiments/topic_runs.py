"""Topic models followed while they learn, and the corpora of the topic experiments."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesmargin import MedLDAClassifier
from bayesmargin.datasets import fetch_20newsgroups_counts
from bayesmargin.experiments.clock import Stopwatch
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray, IntArray
from bayesmargin.models.medlda.documents import Documents, check_counts, to_documents
from bayesmargin.models.medlda.labels import learn_code
from bayesmargin.models.medlda.lessons import minibatches
from bayesmargin.models.medlda.parameters import Plan, check_parameters, resolve
from bayesmargin.models.medlda.training import Training

METHODS = {"ssgrld": "SSGRLD", "pa": "paMedLDA", "gibbs": "Gibbs MedLDA"}
WORDS_A_DOCUMENT = 60


@dataclass
class TopicRun:
    """A fit that can be looked at between minibatches (sweeps); looks are not on the clock.

    Like a stream, it does not know beforehand which class is rare.
    """

    model: MedLDAClassifier
    X: Any
    y: Any
    watch: Stopwatch = field(default_factory=Stopwatch)
    documents_seen: int = 0
    plan: Plan = field(init=False)
    training: Training = field(init=False)

    def __post_init__(self) -> None:
        code = learn_code(self.y)
        self.model.n_features_in_ = self.X.shape[1]
        plan = self.plan = check_parameters(self.model)
        resolved = resolve(plan, code.n_classifiers, self.X.shape[0])
        self.training = Training(plan, resolved, code, self.X.shape[1], 1)
        self.documents = to_documents(check_counts(self.X, "experiment"))
        self.signs = code.signs(self.y)

    def steps(self, n_passes: int) -> Iterator[int]:
        """Yield after every minibatch, or sweep of the batch method, how many there were."""
        total = self.documents.n_documents
        with self.watch.running():
            self.training.start(self.plan, self.documents, self.signs)
        if self.plan.method == "gibbs":
            plan: Any = [np.arange(total)] * n_passes
        else:
            plan = minibatches(total, self.plan.batch_size, n_passes, self.training.order, 1)
        for step, chosen in enumerate(plan, start=1):
            with self.watch.running():
                self.training.learn(self.documents, self.signs, chosen, total)
            self.documents_seen += len(chosen)
            yield step

    def scores(self, documents: Documents, draws: int | None = None) -> FloatArray:
        """Class scores of new documents, over the last ``draws`` or with topics integrated out."""
        return self.training.infer(documents, draws)[1]


def compile_methods(n_classes: int, rule: str) -> None:
    """Compile all methods on a few made-up documents, so that no clock sees the compiler."""
    (rng,) = spawn_generators(0, 1)
    X = sp.csr_matrix(rng.poisson(0.5, (4 * n_classes, 30)))
    y = np.arange(4 * n_classes) % n_classes
    for method in METHODS:
        model = MedLDAClassifier(
            n_topics=n_classes,
            sampler=method,
            multi_class=rule,
            n_chains=1,
            n_draws=2,
            random_state=0,
        )
        run = TopicRun(model, X, y)
        for _ in run.steps(1):
            pass
        run.scores(run.documents)
        run.training.close()


def newsgroups(subset: Any, classes: IntArray | None, n_words: int | None) -> tuple[Any, ...]:
    """Counts, labels, class names and vocabulary of 20 Newsgroups, or of some groups of it."""
    bunch = fetch_20newsgroups_counts(subset=subset)
    train = bunch if subset == "train" else fetch_20newsgroups_counts(subset="train")
    counts, target = bunch.data, np.asarray(bunch.target)
    words = np.asarray(bunch.feature_names, dtype=object)
    if n_words is not None:
        frequency = np.asarray(train.data.sum(axis=0)).ravel()
        kept = np.sort(np.argsort(-frequency, kind="stable")[:n_words])
        counts, words = counts[:, kept], words[kept]
    if classes is not None:
        own = np.isin(target, classes)
        counts, target = counts[np.flatnonzero(own)], target[own]
    return counts, target, list(bunch.target_names), words


class DrawnCorpus:
    """Documents drawn from a fitted model: proportions and label of a training document, words."""

    def __init__(self, n_words: int, n_topics: int, n_training: int | None, seed: int) -> None:
        counts, target, _, _ = newsgroups("train", None, n_words)
        self.rng, mixing = spawn_generators(seed, 2)
        some = mixing.permutation(len(target))[:n_training]
        counts, self.labels = counts[some], target[some]
        model = MedLDAClassifier(
            n_topics=n_topics, n_chains=1, sampler__n_passes=1, random_state=seed
        ).fit(counts, self.labels)
        self.shares = model.transform(counts)
        self.cumulative = np.cumsum(model.topics_, axis=1)

    def draw(self, n_documents: int) -> tuple[sp.csr_matrix, IntArray]:
        """Counts and labels of fresh documents."""
        rng, n_words = self.rng, self.cumulative.shape[1]
        models = rng.integers(len(self.labels), size=n_documents)
        y, steps = self.labels[models], np.cumsum(self.shares[models], axis=1)
        rows = np.repeat(np.arange(n_documents), 1 + rng.poisson(WORDS_A_DOCUMENT, n_documents))
        levels = rng.random(rows.size)
        topics = np.empty(rows.size, dtype=np.int64)
        for part in range(0, rows.size, 500_000):
            span = slice(part, part + 500_000)
            topics[span] = (steps[rows[span]] < levels[span, None]).sum(axis=1)
        topics = np.minimum(topics, steps.shape[1] - 1)
        words = np.empty(rows.size, dtype=np.int64)
        for k in range(steps.shape[1]):
            here = topics == k
            found = np.searchsorted(self.cumulative[k], rng.random(int(here.sum())))
            words[here] = np.minimum(found, n_words - 1)
        ones = np.ones(rows.size, dtype=np.int64)
        return sp.csr_matrix((ones, (rows, words)), shape=(n_documents, n_words)), y
