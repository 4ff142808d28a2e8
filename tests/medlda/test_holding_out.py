"""Documents held out: enough of a stream in small parts, and stand-ins of every class."""

import numpy as np
import pytest

from bayesmargin import MedLDAClassifier

from .test_classifier import make_corpus, small


@pytest.mark.parametrize(("size", "fewest", "most"), [(1, 8, 32), (10, 8, 32), (300, 15, 15)])
def test_parts_of_any_size_hold_out_their_share(size, fewest, most):
    """A twentieth of ten documents is less than one: nothing at all had been held out."""
    X, y = make_corpus(300, 3, 21)
    model = small()
    for first in range(0, 300, size):
        model.partial_fit(X[first : first + size], y[first : first + size], classes=range(3))
    training = model._training
    held = training.held_out[0].n_documents
    assert fewest <= held <= most
    # All others were learned from, and none of those held out: only a first part of one document
    # has to stand for what it was learned from.
    assert training.n_seen == 300 - held + (size == 1)
    assert model.score(*make_corpus(200, 3, 22)) > 0.9


def test_the_first_part_holds_out_one_document_at_least():
    X, y = make_corpus(8, 2, 23)
    model = small().partial_fit(X, y, classes=range(2))
    assert (model._training.held_out[0].n_documents, model._training.n_seen) == (1, 7)


@pytest.mark.parametrize("size", [20, 900])
def test_without_held_out_documents_those_of_a_whole_stream_stand_in(size):
    X, y = make_corpus(900, 3, 24)
    model = small(validation_fraction=0.0)
    for first in range(0, 900, size):
        model.partial_fit(X[first : first + size], y[first : first + size], classes=range(3))
    assert model._training.n_seen == 900
    assert model._training.held_out[0].n_documents == 300


@pytest.mark.parametrize("stream", [False, True])
def test_stand_ins_are_of_every_class_when_documents_come_class_by_class(stream):
    X, y = make_corpus(900, 3, 25)
    X, y = X[np.argsort(y, kind="stable")], np.sort(y)
    model = MedLDAClassifier(
        n_topics=6, n_chains=1, sampler__n_passes=1, validation_fraction=0.0, random_state=0
    )
    model = model.partial_fit(X, y, classes=range(3)) if stream else model.fit(X, y)
    signs = model._training.held_out[1]
    assert len(signs) == 300
    assert ((signs > 0).mean(axis=0) > 0.2).all()


@pytest.mark.parametrize("n_classes", [2, 5])
def test_a_class_of_one_document_is_learned_from(n_classes):
    """Half of the documents are held out, and with them half of such classes had been."""
    X, y = make_corpus(60, 2, 26)
    y[: n_classes - 1] = np.arange(1, n_classes)
    y[n_classes - 1 :] = 0
    for seed in range(4):
        model = small(validation_fraction=0.5, sampler__n_passes=1, random_state=seed).fit(X, y)
        learned = model._training.n_labelled
        expected = [1.0] if n_classes == 2 else [1.0] * (n_classes - 1)
        np.testing.assert_array_equal(learned[-(n_classes - 1) :], expected)
        assert 26 <= model._training.held_out[0].n_documents <= 30
