"""Streams in parts of any size and order: few documents take shorter steps."""

import numpy as np
import pytest

from bayesmargin import MedLDAClassifier, load
from bayesmargin.models.medlda.expected import ExpectedTopics
from bayesmargin.models.medlda.lessons import minibatches
from bayesmargin.models.medlda.pace import part_of_minibatch
from bayesmargin.models.medlda.tools import Minibatch, ToolPool
from bayesmargin.models.medlda.training import Training

from .test_corpus_size import draw_documents
from .test_ssgrld import DOCUMENTS, SIGNS, make_chain

CLASSES = range(20)


def score_of_stream(size, order=None, seed=0, **settings):
    """Accuracy after a stream in parts of so many documents each, and the model."""
    X, y = draw_documents(1200, 3, n_own=6)
    order = np.arange(len(y)) if order is None else order(y)
    settings = {"n_topics": 20, "n_chains": 1, "random_state": seed, **settings}
    model = MedLDAClassifier(**settings)
    for first in range(0, len(y), size):
        part = order[first : first + size]
        model.partial_fit(X[part], y[part], classes=CLASSES)
    return model.score(*draw_documents(400, 4, n_own=6)), model


@pytest.mark.parametrize("topics", ["sgrld", "scir"])
def test_small_parts_are_learned_as_well_as_large_ones(topics):
    """Steps as long as those of a whole minibatch had kept the noise of a few documents."""
    whole, _ = score_of_stream(1200, sampler__topics=topics)
    small, model = score_of_stream(4, sampler__topics=topics)
    assert small > whole - 0.02
    assert model._training.learners[0].posterior.expected.short > 100.0


def test_documents_of_a_part_may_come_class_by_class():
    """In the order they came a chain forgot the first classes while it learned the last."""
    score, _ = score_of_stream(1200, lambda y: np.argsort(y, kind="stable"))
    assert score > 0.97


@pytest.mark.parametrize("method", ["ssgrld", "pa"])
def test_every_minibatch_of_a_part_has_documents_of_most_classes(method, monkeypatch):
    seen, learn = [], Training.learn

    def watched(self, documents, signs, chosen, total):
        seen.append((signs[chosen] > 0).any(axis=0).sum())
        learn(self, documents, signs, chosen, total)

    monkeypatch.setattr(Training, "learn", watched)
    X, y = draw_documents(200, 6)
    order = np.argsort(y, kind="stable")
    model = MedLDAClassifier(n_topics=20, n_chains=1, sampler=method, random_state=0)
    model.partial_fit(X[order], y[order], classes=CLASSES)
    assert min(seen) > 10


@pytest.mark.parametrize("n_documents", [3, 40, 57, 1000, 5003])
@pytest.mark.parametrize("batch_size", [1, 16, 256])
def test_all_minibatches_of_a_fit_are_whole(n_documents, batch_size):
    n_seen = 0
    for chosen in minibatches(n_documents, batch_size, 3, np.random.default_rng(0)):
        assert part_of_minibatch(len(chosen), n_seen, batch_size, n_documents) == 1.0
        n_seen += len(chosen)


def test_steps_are_as_much_shorter_as_documents_are_fewer():
    """The same draws of the same document: its weights move by a quarter, but for the noise."""
    ends = []
    for batch_size in (None, 32):
        chain = make_chain(5, batch_size=batch_size)
        start = chain.coef.copy()
        expected = ExpectedTopics.nothing(*chain.topics.shape, 2, 0.5)
        with ToolPool(1, chain.make_tool) as crew:
            chain.step(Minibatch(DOCUMENTS, SIGNS, np.array([0]), 1000.0, crew, expected))
            assert chain.mover.step == 0.05
            ends.append(chain.coef - start)
    whole, part = ends
    assert expected.short == 0.75
    np.testing.assert_allclose(part, 0.25 * whole, atol=0.2)
    assert np.abs(whole).min() > 4.0


def test_a_saved_stream_keeps_its_pace(tmp_path):
    X, y = draw_documents(60, 5)
    model = MedLDAClassifier(n_topics=20, n_chains=1, random_state=0)
    for first in range(0, 40, 4):
        model.partial_fit(X[first : first + 4], y[first : first + 4], classes=CLASSES)
    model.save(tmp_path / "model")
    other = load(tmp_path / "model")
    for each in (model, other):
        each.partial_fit(X[40:], y[40:])
    np.testing.assert_array_equal(model.coef_, other.coef_)
    np.testing.assert_array_equal(model.topics_, other.topics_)
