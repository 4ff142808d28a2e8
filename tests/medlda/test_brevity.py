"""Documents of few words: their probabilities, and when these are learned."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn.metrics import log_loss

from bayesmargin import MedLDAClassifier, load
from bayesmargin.calibration.short_documents import Brevity
from bayesmargin.calibration.slopes import choose
from bayesmargin.models.medlda.documents import Documents, shorten, to_documents
from bayesmargin.models.medlda.training import Training

N_WORDS = 2000
SHARES = np.array([0.8, 0.1, 0.05, 0.05])


def draw_corpus(n_documents, shares, seed, length=60, sharp=0.1):
    """Classes that differ in a tenth of their words."""
    base, *own = np.random.default_rng(7).dirichlet(np.full(N_WORDS, 0.03), len(shares) + 1)
    rng = np.random.default_rng(seed)
    y = rng.choice(len(shares), size=n_documents, p=shares)
    chances = (1.0 - sharp) * base + sharp * np.array(own)
    X = np.array([rng.multinomial(rng.poisson(length) + 1, chances[c]) for c in y])
    return sp.csr_matrix(X), y


def words_of(X, n, seed=0):
    """Documents cut to ``n`` of their words."""
    rng = np.random.default_rng(seed)
    return sp.csr_matrix(
        np.array([rng.multivariate_hypergeometric(row, min(n, row.sum())) for row in X.toarray()])
    )


@pytest.fixture(scope="module")
def unequal():
    X, y = draw_corpus(800, SHARES, 1)
    return MedLDAClassifier(n_topics=12, random_state=0).fit(X, y), *draw_corpus(800, SHARES, 2)


@pytest.mark.parametrize("n", [0, 1, 2, 4, 8])
def test_few_words_are_no_worse_than_none(unequal, n):
    model, X, y = unequal
    chances = model.predict_proba(words_of(X, n))
    own = np.bincount(y, minlength=4) / len(y)
    assert log_loss(y, chances) < -own @ np.log(own) + 0.02
    assert np.mean(model.predict(words_of(X, n)) == y) > own.max() - 0.02
    np.testing.assert_array_equal(model.predict(words_of(X, n)), chances.argmax(axis=1))


@pytest.mark.parametrize("method", ["ssgrld", "gibbs", "pa"])
@pytest.mark.parametrize("shares", [SHARES, np.array([0.9, 0.1])])
def test_without_words_the_shares_of_the_classes_are_left(method, shares):
    X, y = draw_corpus(300, shares, 3)
    X = X.toarray()
    X[:, -5:] = 0
    model = MedLDAClassifier(
        sampler=method,
        n_topics=6,
        n_chains=1,
        sampler__n_passes=4,
        validation_fraction=0.1,
        random_state=0,
    ).fit(X, y)
    unseen = np.zeros((2, N_WORDS), dtype=int)
    unseen[1, -5:] = 9  # words that no training document holds
    found = model.predict_proba(unseen)
    np.testing.assert_allclose(found, np.bincount(y) / len(y) * np.ones((2, 1)), atol=0.04)


def test_without_words_labels_are_as_likely_as_they_are_common():
    rng = np.random.default_rng(5)
    own = np.arange(40) % 4 == np.arange(4)[:, None]
    Y = (rng.random((400, 4)) < [0.7, 0.4, 0.2, 0.1]).astype(int)
    X = sp.csr_matrix(rng.poisson(0.05 + Y @ own))
    model = MedLDAClassifier(n_topics=8, n_chains=1, random_state=0).fit(X, Y)
    nothing = np.zeros((1, 40), dtype=int)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], Y.mean(axis=0), atol=0.04)
    np.testing.assert_array_equal(model.predict(nothing), [[1, 0, 0, 0]])


def test_label_sets_of_ordinary_documents_are_those_of_their_scores():
    """Rare labels of noisy documents, whose thresholds lie far below even odds."""
    rng = np.random.default_rng(8)
    own = np.arange(200) % 8 == np.arange(8)[:, None]
    Y = (rng.random((500, 8)) < 0.12).astype(int)
    X = sp.csr_matrix(rng.poisson(0.3 + 0.1 * Y @ own))
    model = MedLDAClassifier(n_topics=10, n_chains=1, random_state=0).fit(X[:300], Y[:300])
    plain = model._training.infer(to_documents(X[300:]), None)[1]
    np.testing.assert_array_equal(model.predict(X[300:]), choose(plain, model.link_.cut))


def test_long_documents_keep_their_scores(unequal):
    model, _, _ = unequal
    X, _ = draw_corpus(20, SHARES, 4, length=2000)
    plain = model._training.infer(model._training.held_out[0], None)[1]
    settled = model.link_.settle(plain, np.full(len(plain), 10_000))
    np.testing.assert_allclose(settled, plain, rtol=1e-12)
    assert np.isfinite(model.decision_function(X)).all()


def test_probabilities_without_words_are_those_asked_for():
    brevity = Brevity(np.array([2.0]), np.array([-3.0]), 5.0, 1.0)
    nothing = brevity.settle(np.array([[2.0]]), np.array([0]))
    np.testing.assert_allclose(expit(nothing), expit(-3.0))
    some = brevity.settle(np.array([[6.0]]), np.array([5]))[0, 0]
    np.testing.assert_allclose(some, 2.0 - 5.0 * np.exp(-1.0) + 4.0 * (1.0 - np.exp(-5.0)))


def test_shortened_documents_have_words_of_their_own():
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 50, size=200)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    words = np.concatenate([np.arange(n) + 100 * d for d, n in enumerate(lengths)])
    cut = shorten(Documents(words, offsets), rng)
    assert (cut.lengths <= lengths).all()
    assert (cut.lengths[lengths > 0] > 0).all()
    for d in range(200):
        part = cut.words[cut.offsets[d] : cut.offsets[d + 1]]
        assert (part // 100 == d).all()
        assert (np.diff(part) > 0).all()


def test_streams_learn_probabilities_when_they_are_asked_for(tmp_path, monkeypatch):
    X, y = draw_corpus(300, SHARES, 6)
    learned = []
    original = Training.link
    monkeypatch.setattr(Training, "link", lambda self: learned.append(1) or original(self))
    model = MedLDAClassifier(n_topics=6, n_chains=1, sampler__n_documents=300, random_state=0)
    for first in range(0, 300, 50):
        part = slice(first, first + 50)
        model.partial_fit(X[part], y[part], classes=range(4))
    assert not learned
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    chances = model.predict_proba(X)
    model.predict(X)
    assert len(learned) == 1
    np.testing.assert_array_equal(loaded.predict_proba(X), chances)
    model.partial_fit(X[:50], y[:50])
    model.predict(X)
    assert len(learned) == 3
