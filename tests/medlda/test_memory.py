"""What one model a label holds at a time: nothing is kept for every label that is not needed."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from bayesmargin import MedLDAClassifier
from bayesmargin.models.medlda.learners import OnlineLearner

N_LABELS, N_TOPICS = 6, 40


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(1)
    own = np.arange(60) % N_LABELS == np.arange(N_LABELS)[:, None]
    Y = (rng.random((2000, N_LABELS)) < 0.3).astype(int)
    return sp.csr_matrix(rng.poisson(0.05 + 0.2 * Y @ own)), Y


def test_labels_take_turns_with_one_set_of_threads_and_counts(corpus, monkeypatch):
    X, Y = corpus
    seen = set()
    original = OnlineLearner.draw

    def draw(self, chain):
        seen.add(id(chain.crew))
        return original(self, chain)

    monkeypatch.setattr(OnlineLearner, "draw", draw)
    settings = {"n_topics": 4, "n_chains": 2, "random_state": 0, "n_jobs": 2}
    settings["sampler__n_passes"] = 1
    model = MedLDAClassifier(multi_class="ovr", **settings).fit(X[:200], Y[:200])
    assert len(seen) == 1
    assert model._training._crew is None
    assert all(learner.chain.minibatch is None for learner in model._training.learners)


def test_predictions_do_not_hold_the_topics_of_all_labels(corpus):
    X, Y = corpus
    settings = {"n_topics": N_TOPICS, "n_chains": 2, "sampler__n_passes": 1, "random_state": 0}
    model = MedLDAClassifier(multi_class="ovr", **settings).fit(X[:100], Y[:100])
    model.predict(X[:10])
    tracemalloc.start()
    model.predict(X[:1000])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    shares = 8 * 1000 * N_TOPICS  # bytes of one label in one chain, of which there are 12
    assert peak < 5 * shares
    assert model.transform(X[:10]).shape == (10, N_LABELS * N_TOPICS)
