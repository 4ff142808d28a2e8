"""Topics and labels from texts, beside other tools: accuracy, coherence of topics, time.

    python benchmarks/topic_peers.py [--only 20newsgroups webkb debian_sections] [--sweeps N]
                                     [--methods medlda lda slda embeddings svm both]

Beside ``MedLDAClassifier`` stand tomotopy (``pip install tomotopy``): its LDA with a logistic
regression on shares of topics, and its supervised LDA with a binary response a class; what BERTopic
does, with parts that need no network (``pip install wordllama``, which ships its embeddings):
clusters of sentence embeddings, named by c-TF-IDF, and a logistic regression on the embeddings; and
a linear SVM on tf-idf, which has no topics, alone and with the shares of our topics. All have as
many topics, the same words and one thread. Coherence is the mean NPMI of ten top words in the
training documents. Seconds are processor seconds of the fit. Parts that are not installed are left
out; rows that are not measured anew stay as they are in ``results/topic_peers.json``.
"""

import importlib.util
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline, make_union
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from bayesmargin import MedLDAClassifier
from bayesmargin.datasets import fetch_20newsgroups_raw, fetch_debian_sections, fetch_webkb
from bayesmargin.models.medlda import coherence
from medlda_tools import warm_up
from options import command_line
from reporting import RESULTS, finish

FETCH = {
    "20newsgroups": fetch_20newsgroups_raw,
    "webkb": fetch_webkb,
    "debian_sections": fetch_debian_sections,
}
N_TOPICS = 50
HEADER = ["corpus", "method", "accuracy", "NPMI", "processor seconds"]


@dataclass
class Corpus:
    """Texts, their counts and labels."""

    texts: list[str]
    X: sp.csr_matrix
    y: np.ndarray
    new_texts: list[str]
    new: sp.csr_matrix
    truth: np.ndarray
    words: np.ndarray

    def listed(self, counts: sp.csr_matrix) -> list[list[str]]:
        """Every document as a list of its words."""
        return [np.repeat(self.words[row.indices], row.data.astype(int)).tolist() for row in counts]


def corpus_of(name: str) -> Corpus:
    """Words of three letters and more that are in at least three documents and not in many."""
    train, test = FETCH[name](), FETCH[name](subset="test")
    counter = CountVectorizer(stop_words="english", min_df=3, max_df=0.2, token_pattern="[a-z]{3,}")
    X, new = counter.fit_transform(train.data), counter.transform(test.data)
    words = counter.get_feature_names_out()
    y, truth = np.asarray(train.target), np.asarray(test.target)
    return Corpus(list(train.data), X, y, list(test.data), new, truth, words)


def medlda(corpus: Corpus, sweeps: int) -> tuple[float, float, float]:
    """The default of this library."""
    model = MedLDAClassifier(n_topics=N_TOPICS, random_state=0)
    warm_up(model, corpus.X, corpus.y)
    start = time.process_time()
    model.fit(corpus.X, corpus.y)
    seconds = time.process_time() - start
    accuracy = model.score(corpus.new, corpus.truth)
    return accuracy, coherence(model.topics_, corpus.X).mean(), seconds


def tomotopy_topics(model: Any, words: np.ndarray) -> np.ndarray:
    """Topics of a tomotopy model over the columns of the corpus."""
    place = {word: k for k, word in enumerate(words)}
    columns = [place[word] for word in model.used_vocabs]
    topics = np.zeros((model.k, len(words)))
    for k in range(model.k):
        topics[k, columns] = model.get_topic_word_dist(k)
    return topics


def tomotopy_lda(corpus: Corpus, sweeps: int) -> tuple[float, float, float]:
    """Topics that know no labels, and a logistic regression on their shares."""
    import tomotopy

    texts = corpus.listed(corpus.X)
    start = time.process_time()
    model = tomotopy.LDAModel(k=N_TOPICS, alpha=10.0 / N_TOPICS, eta=0.1, seed=0)
    kept = [k for k, text in enumerate(texts) if text]
    for k in kept:
        model.add_doc(texts[k])
    model.train(sweeps, workers=1)
    shares = np.array([document.get_topic_dist() for document in model.docs])
    head = LogisticRegression(C=100.0, max_iter=1000).fit(shares, corpus.y[kept])
    seconds = time.process_time() - start
    guess = np.bincount(corpus.y).argmax()
    found = np.full(len(corpus.truth), guess)
    new = [(k, model.make_doc(text)) for k, text in enumerate(corpus.listed(corpus.new)) if text]
    model.infer([document for _, document in new], workers=1)
    new_shares = np.array([document.get_topic_dist() for _, document in new])
    found[[k for k, _ in new]] = head.predict(new_shares)
    topics = tomotopy_topics(model, corpus.words)
    return float(np.mean(found == corpus.truth)), coherence(topics, corpus.X).mean(), seconds


def tomotopy_slda(corpus: Corpus, sweeps: int) -> tuple[float, float, float]:
    """Supervised LDA, a binary response a class; the largest estimate is the label."""
    import tomotopy

    classes = np.unique(corpus.y)
    texts = corpus.listed(corpus.X)
    start = time.process_time()
    model = tomotopy.SLDAModel(
        k=N_TOPICS, vars="b" * len(classes), alpha=10.0 / N_TOPICS, eta=0.1, seed=0
    )
    for text, label in zip(texts, corpus.y, strict=True):
        if text:
            model.add_doc(text, y=(classes == label).astype(float).tolist())
    model.train(sweeps, workers=1)
    seconds = time.process_time() - start
    found = np.full(len(corpus.truth), np.bincount(corpus.y).argmax())
    new = [(k, model.make_doc(text)) for k, text in enumerate(corpus.listed(corpus.new)) if text]
    model.infer([document for _, document in new], workers=1)
    for k, document in new:
        found[k] = classes[int(np.argmax(model.estimate(document)))]
    topics = tomotopy_topics(model, corpus.words)
    return float(np.mean(found == corpus.truth)), coherence(topics, corpus.X).mean(), seconds


def embedded_clusters(corpus: Corpus, sweeps: int) -> tuple[float, float, float]:
    """Clusters of embeddings, named by c-TF-IDF; labels by logistic regression on embeddings."""
    import wordllama

    # Its loader looks for the tokenizer elsewhere than where the package has it.
    home = Path(wordllama.__file__).parent
    language = wordllama.WordLlama.load(cache_dir=home, disable_download=True)
    start = time.process_time()
    embedded = language.embed(corpus.texts, norm=True)
    groups = KMeans(N_TOPICS, n_init=1, random_state=0).fit_predict(embedded)
    members = sp.csr_matrix((np.ones(len(groups)), (groups, np.arange(len(groups)))))
    topics = _c_tf_idf((members @ corpus.X).toarray())
    head = LogisticRegression(C=100.0, max_iter=1000).fit(embedded, corpus.y)
    seconds = time.process_time() - start
    found = head.predict(language.embed(corpus.new_texts, norm=True))
    return float(np.mean(found == corpus.truth)), coherence(topics, corpus.X).mean(), seconds


def _c_tf_idf(counts: np.ndarray) -> np.ndarray:
    """Weight of a word in a cluster, as BERTopic has it."""
    frequency = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    return frequency * np.log1p(counts.sum(axis=1).mean() / np.maximum(counts.sum(axis=0), 1.0))


def linear_svm(corpus: Corpus, sweeps: int) -> tuple[float, float, float]:
    """No topics."""
    start = time.process_time()
    model = make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC()).fit(corpus.X, corpus.y)
    seconds = time.process_time() - start
    return model.score(corpus.new, corpus.truth), float("nan"), seconds


def both(corpus: Corpus, sweeps: int) -> tuple[float, float, float]:
    """Shares of the topics of this library beside tf-idf, in a linear SVM."""
    features = make_union(
        TfidfTransformer(sublinear_tf=True), MedLDAClassifier(n_topics=N_TOPICS, random_state=0)
    )
    start = time.process_time()
    model = make_pipeline(features, LinearSVC()).fit(corpus.X, corpus.y)
    seconds = time.process_time() - start
    topics = features.transformer_list[1][1].topics_
    accuracy = model.score(corpus.new, corpus.truth)
    return accuracy, coherence(topics, corpus.X).mean(), seconds


METHODS: dict[str, tuple[str, str | None, Callable[[Corpus, int], tuple[float, float, float]]]] = {
    "medlda": ("MedLDAClassifier", None, medlda),
    "lda": ("tomotopy LDA + logistic", "tomotopy", tomotopy_lda),
    "slda": ("tomotopy SLDA", "tomotopy", tomotopy_slda),
    "embeddings": ("embeddings, clusters + logistic", "wordllama", embedded_clusters),
    "svm": ("tf-idf, linear SVM", None, linear_svm),
    "both": ("tf-idf and topics, linear SVM", None, both),
}


def measured(name: str, methods: list[str], sweeps: int) -> Iterator[list[Any]]:
    """A row a method."""
    corpus = corpus_of(name)
    for method in methods:
        said, needs, run = METHODS[method]
        if needs is None or importlib.util.find_spec(needs) is not None:
            yield [name, said, *(float(value) for value in run(corpus, sweeps))]


def with_stored(rows: list[list[Any]]) -> list[list[Any]]:
    """The rows, and of earlier runs those of other corpora and methods, in order."""
    file = RESULTS / "topic_peers.json"
    stored = json.loads(file.read_text())["rows"] if file.exists() else []
    kept = {(row["corpus"], row["method"]): list(row.values()) for row in stored}
    kept |= {(row[0], row[1]): row for row in rows}
    named = [said for said, _, _ in METHODS.values()]
    return [kept[name, said] for name in FETCH for said in named if (name, said) in kept]


def verdicts(rows: list[list[Any]]) -> list[dict[str, Any]]:
    """Better labels than the other topic models, of topics no less coherent."""
    bounds = []
    for name in dict.fromkeys(row[0] for row in rows):
        here = {row[1]: row for row in rows if row[0] == name}
        ours = here.pop("MedLDAClassifier", None)
        peers = [row for method, row in here.items() if "linear SVM" not in method]
        for place, what in ((2, "accuracy"), (3, "NPMI")):
            if peers and ours:
                best = max(peers, key=lambda row: row[place])
                bounds.append({
                    "bound": f"{name}: {what} at least that of the other topic models",
                    "measured": f"{ours[place]:.3f} and {best[place]:.3f} ({best[1]})",
                    "met": ours[place] >= best[place],
                })  # fmt: skip
    return bounds


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--only", nargs="+", choices=list(FETCH), default=list(FETCH))
    parser.add_argument("--sweeps", type=int, default=200, help="of tomotopy's sampler")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    options = parser.parse_args()
    rows = []
    for name in options.only:
        for row in measured(name, options.methods, options.sweeps):
            print(row, flush=True)
            rows.append(row)
    rows = with_stored(rows)
    bounds = verdicts(rows)
    finish("topic_peers", HEADER, rows, bool(bounds) and all(b["met"] for b in bounds), bounds)


if __name__ == "__main__":
    threadpool_limits(1)
    main()
