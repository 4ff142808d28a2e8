import numpy as np
import scipy.sparse as sp

from bayesmargin import MedLDAClassifier
from bayesmargin.experiments import topic_runs
from bayesmargin.experiments.topic_runs import DrawnCorpus, TopicRun


def three_kinds_of_documents():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    rates = np.full((3, 30), 0.1) + np.kron(np.eye(3), np.ones(10))
    return sp.csr_matrix(rng.poisson(rates[y])), y


def test_a_run_can_be_looked_at_between_minibatches():
    X, y = three_kinds_of_documents()
    model = MedLDAClassifier(n_topics=4, n_chains=1, sampler__batch_size=30, random_state=0)
    run = TopicRun(model, X, y)
    seen, seconds, right = [], [], []
    for _ in run.steps(2):
        scores = run.scores(run.documents)
        right.append(float(np.mean(run.training.code.decide(scores, 0.0) == y)))
        seen.append(run.documents_seen)
        seconds.append(run.watch.seconds)
    run.training.close()
    assert seen[-1] == 240
    assert np.all(np.diff(seen) > 0)
    assert np.all(np.diff(seconds) > 0)
    assert right[-1] > 0.9


def test_documents_are_drawn_with_the_words_of_their_labels(monkeypatch):
    X, y = three_kinds_of_documents()
    monkeypatch.setattr(topic_runs, "newsgroups", lambda *asked: (X, y, None, None))
    drawn, labels = DrawnCorpus(30, 4, None, 0).draw(200)
    assert drawn.shape == (200, 30)
    words = drawn.toarray().reshape(200, 3, 10).sum(axis=2)
    assert np.mean(words.argmax(axis=1) == labels) > 0.95
