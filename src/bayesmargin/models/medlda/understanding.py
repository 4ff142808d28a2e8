r"""What the topics mean: top words, coherence, class pictures, held-out words."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from bayesmargin.foundation.arguments import require_count
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.types import FloatArray
from bayesmargin.inputs.names import names_of
from bayesmargin.models.medlda.diagnostics import TopicDiagnostics, diagnose, topic_traces
from bayesmargin.models.medlda.documents import to_documents
from bayesmargin.models.medlda.posterior import TopicPosterior

if TYPE_CHECKING:
    import pandas as pd


def top_words(topics: FloatArray, vocabulary: Any, n: int = 10) -> list[list[str]]:
    """The ``n`` most probable words of every topic (K, V), best first.

    ``vocabulary`` is a list or array of words, a mapping of words to columns, or a vectorizer.
    """
    if hasattr(vocabulary, "get_feature_names_out"):
        vocabulary = vocabulary.get_feature_names_out()
    if len(vocabulary) != topics.shape[1]:
        raise ValueError(
            f"vocabulary holds {len(vocabulary)} words, but the topics have {topics.shape[1]}"
        )
    require_count("n", n, 0)
    words = np.array(names_of(vocabulary, topics.shape[1], "vocabulary"), dtype=object)
    return [
        [str(word) for word in words[np.argsort(-topic, kind="stable")[:n]]] for topic in topics
    ]


def coherence(topics: FloatArray, counts: Any, n: int = 10) -> FloatArray:
    r"""Normalised pointwise mutual information of the top words of every topic.

    The mean over pairs of the ``n`` top words of
    :math:`\log\frac{p(a, b)}{p(a) p(b)} / (-\log p(a, b))`, probabilities being shares of the
    documents of ``counts`` that hold the words. From -1 (never together) to 1 (always together).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmargin.models.medlda import coherence
    >>> together = np.array([[1, 1, 0, 0], [2, 1, 0, 0], [0, 0, 1, 1], [0, 0, 3, 1]])
    >>> coherence(np.array([[0.5, 0.5, 0.0, 0.0], [0.5, 0.0, 0.5, 0.0]]), together, n=2)
    array([ 1., -1.])
    """
    require_count("n", n, 0)
    topics = np.asarray(topics)
    presence = sp.csc_matrix(counts, copy=True)
    if presence.shape[1] != topics.shape[1]:
        raise ValueError(
            f"counts has {presence.shape[1]} columns, but the topics have {topics.shape[1]} words"
        )
    presence.eliminate_zeros()
    presence.data = np.ones_like(presence.data, dtype=np.float64)
    n_documents = presence.shape[0]
    values = np.empty(topics.shape[0])
    for k, topic in enumerate(topics):
        columns = presence[:, np.argsort(-topic, kind="stable")[:n]]
        joint = (columns.T @ columns).toarray() / n_documents
        single = np.diag(joint)
        pairs = np.triu_indices(len(single), 1)
        both, apart = joint[pairs], np.outer(single, single)[pairs]
        scores = np.full(len(both), -1.0)
        seen = (both > 0.0) & (both < 1.0)
        scores[seen] = np.log(both[seen] / apart[seen]) / -np.log(both[seen])
        scores[both >= 1.0] = 1.0
        values[k] = scores.mean() if len(scores) else np.nan
    return values


def class_topics(shares: FloatArray, y: Any, classes: np.ndarray) -> FloatArray:
    """Mean topic proportions of every class (L, K); a class without documents gets NaN."""
    labels = np.asarray(y.toarray() if sp.issparse(y) else y)
    if labels.ndim == 2 and labels.shape[1] != len(classes):
        raise ValueError(
            f"y has {labels.shape[1]} columns, but an indicator matrix of these classes has "
            f"{len(classes)}"
        )
    if len(labels) != len(shares):
        raise ValueError(f"y holds {len(labels)} labels, but there are {len(shares)} documents")
    members = labels > 0 if labels.ndim == 2 else labels[:, None] == classes
    unknown = ~members.any(axis=1)
    if labels.ndim == 1 and unknown.any():
        raise ValueError(
            f"y holds the label {labels[unknown].tolist()[0]!r}, which is not among the classes "
            f"{classes.tolist()}"
        )
    means = np.full((len(classes), shares.shape[1]), np.nan)
    for i in np.flatnonzero(members.any(axis=0)):
        means[i] = shares[members[:, i]].mean(axis=0)
    return means


def plot_class_topics(
    means: FloatArray,
    class_names: Sequence[str],
    topic_names: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Heat map of :func:`class_topics`; topics in the order of the class that uses them most.

    Classes without documents stay blank. Returns the matplotlib axes.
    """
    import matplotlib.pyplot as plt

    class_names = names_of(class_names, means.shape[0], "class_names")
    if topic_names is not None:
        topic_names = names_of(topic_names, means.shape[1], "topic_names")
    known = np.nan_to_num(means, nan=-1.0)
    order = np.lexsort((-known.max(axis=0), known.argmax(axis=0)))
    names = [str(k) for k in order] if topic_names is None else [topic_names[k] for k in order]
    if ax is None:  # room for the map and its scale, and for the names beside and below
        beside, below = (max(map(len, part)) for part in (class_names, names))
        size = (
            max(0.22 * len(names), 1.2) + 0.09 * beside + 1.5,
            max(0.22 * len(class_names), 1.8) + 0.07 * below + 0.6,
        )
        _, ax = plt.subplots(figsize=size, layout="constrained")
    image = ax.imshow(means[:, order], aspect="auto", cmap="magma_r", vmin=0.0)
    ax.set_yticks(range(len(class_names)), class_names)
    ax.set_xticks(range(len(order)), names, rotation=90, fontsize=7)
    ax.set_xlabel("topic")
    ax.figure.colorbar(image, ax=ax, label="mean share of words")
    return ax


def split_words(
    counts: sp.csr_matrix, rng: np.random.Generator
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Divide the words of every document at random into two halves."""
    given = counts.copy()
    given.data = rng.binomial(counts.data.astype(np.int64), 0.5)
    return given, (counts - given).tocsr()


def perplexity(model: Any, counts: sp.csr_matrix, random_state: Any = 0) -> float:
    r"""Perplexity :math:`\exp(-\frac1N \sum \log \sum_k \bar\theta_{dk} \Phi_{kw})` of new words.

    Proportions come from one half of the words of a document, :math:`\bar\theta_d = (\alpha +
    N_d \bar z_d) / (K\alpha + N_d)`, :math:`N_d` being the words that training has met; the other
    half is judged under the mean topics.
    """
    (rng,) = spawn_generators(random_state, 1)
    given, judged = split_words(counts, rng)
    n_judged = judged.sum()
    if n_judged == 0:
        raise ValueError("perplexity needs documents of two words or more")
    documents = to_documents(given)
    lengths = model._training.known_lengths(documents)[:, None]
    alpha, n_topics = model._training.resolved.alpha, model._first[0].n_topics
    blocks = len(model._training.columns)
    # Through the training, because ``transform`` would miss the names of the columns.
    shares, _ = model._training.infer(documents, None)
    shares = shares.reshape(counts.shape[0], blocks, n_topics) * blocks
    theta = (alpha + lengths[:, :, None] * shares) / (n_topics * alpha + lengths)[:, :, None]
    theta = theta.reshape(counts.shape[0], -1) / blocks
    topics = model.topics_
    rows, columns = judged.nonzero()
    values = np.asarray(judged[rows, columns]).ravel()
    total = 0.0
    for first in range(0, len(rows), 100_000):
        part = slice(first, first + 100_000)
        chance = np.einsum("nk,kn->n", theta[rows[part]], topics[:, columns[part]])
        total += float(values[part] @ np.log(chance))
    return float(np.exp(-total / n_judged))


class UnderstandingMixin:
    """What a fitted model says about its topics."""

    classes_: Any
    n_features_in_: int
    coef_: FloatArray
    posterior_: list[TopicPosterior]
    transform: Any
    _first: list[TopicPosterior]
    _counts: Any

    @property
    def diagnostics_(self) -> TopicDiagnostics:
        """Whether the kept draws have come to rest; printed, it is a sentence."""
        check_is_fitted(self)
        return diagnose(self.posterior_, topic_traces(self.posterior_))

    @property
    def topics_(self) -> FloatArray:
        """Posterior mean of the topics of the first chain (K, V)."""
        check_is_fitted(self)
        return np.vstack([posterior.mean_topics() for posterior in self._first])

    def top_words(self, vocabulary: Any = None, n: int = 10) -> list[list[str]]:
        """The ``n`` most probable words of every topic.

        Parameters
        ----------
        vocabulary : sequence of str, mapping of str to int, vectorizer, or None
            Word of every column, or the column of every word (``vocabulary_`` of a vectorizer), or
            the vectorizer itself; None takes the column names of the training data.
        """
        if vocabulary is None:
            check_is_fitted(self)
            numbers = [f"word{j}" for j in range(self.n_features_in_)]
            vocabulary = getattr(self, "feature_names_in_", numbers)
        return top_words(self.topics_, vocabulary, n)

    def topic_table(self, vocabulary: Any = None, n: int = 10) -> "pd.DataFrame":
        r"""What every topic is about and which class it speaks for, as a data frame.

        A row a topic of the first chain: its ``n`` most probable words, the class for which its
        weight :math:`\eta_{yk}` is largest, and that weight. Topics of a class stand together.

        Parameters
        ----------
        vocabulary : sequence of str, mapping of str to int, vectorizer, or None
            As for :meth:`top_words`.
        n : int
            Number of words.

        Examples
        --------
        >>> from sklearn.feature_extraction.text import CountVectorizer
        >>> from bayesmargin import MedLDAClassifier
        >>> texts = ["crater tide moon tide", "sun nova star nova"] * 20
        >>> counter = CountVectorizer()
        >>> model = MedLDAClassifier(n_topics=2, random_state=0)
        >>> model = model.fit(counter.fit_transform(texts), ["moon", "star"] * 20)
        >>> model.topic_table(counter, n=1)[["speaks for", "words"]].to_numpy().tolist()
        [['moon', 'tide'], ['star', 'nova']]
        """
        import pandas as pd

        words = [" ".join(listed) for listed in self.top_words(vocabulary, n)]
        weights = self.coef_ if len(self.coef_) > 1 else np.vstack([-self.coef_, self.coef_])
        best = weights.argmax(axis=0)
        columns = {"speaks for": np.asarray(self.classes_)[best], "weight": weights.max(axis=0)}
        table = pd.DataFrame({**columns, "words": words})
        table.index.name = "topic"
        return table.iloc[np.lexsort((-weights.max(axis=0), best))].round({"weight": 1})

    def class_topics(self, X: Any, y: Any) -> FloatArray:
        """Mean topic proportions of the documents of every class (L, K)."""
        return class_topics(self.transform(X), y, self.classes_)

    def perplexity(self, X: Any, random_state: Any = 0) -> float:
        """Perplexity of held-out words: half of each document is given, the other half judged."""
        return perplexity(self, self._counts(X), random_state)
