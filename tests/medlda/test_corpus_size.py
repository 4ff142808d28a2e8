"""Defaults that follow the number of documents: few, unknown, and very many."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from bayesmargin import MedLDAClassifier
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.threads import N_SHARES
from bayesmargin.models.medlda.documents import check_counts, to_documents
from bayesmargin.models.medlda.hinges import MultiTaskHinge
from bayesmargin.models.medlda.parameters import (
    Resolved,
    check_parameters,
    default_prior_scale,
    documents_of_rarest,
    resolve,
    stream_size,
)
from bayesmargin.models.medlda.settings import MOST, TOPIC_DECAY, Settings
from bayesmargin.models.medlda.ssgrld import Chain
from bayesmargin.models.medlda.tools import Minibatch, ToolPool
from bayesmargin.models.medlda.weights import LangevinMover, default_step

N_CLASSES, N_WORDS, OWN = 20, 2000, 30


def draw_documents(n_documents, seed, n_own=20, n_words=N_WORDS):
    """``n_own`` of 60 words from thirty that a class prefers, the rest from all, some common."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_documents) % N_CLASSES
    common = 1.0 / (5.0 + np.arange(n_words))
    own = n_words - (y[:, None] + 1) * OWN + rng.integers(OWN, size=(n_documents, n_own))
    other = rng.choice(n_words, size=(n_documents, 60 - n_own), p=common / common.sum())
    words = np.hstack([own, other]).ravel()
    rows, ones = np.repeat(np.arange(n_documents), 60), np.ones(words.size, dtype=np.int64)
    return sp.csr_array((ones, (rows, words)), shape=(n_documents, n_words)), y


@pytest.mark.parametrize("method", ["ssgrld", "gibbs"])
def test_few_documents_of_many_classes_are_learned(method):
    """With a standard deviation of 1 weights never leave zero here, and all classes look alike."""
    X, y = draw_documents(200, 1)
    new, truth = draw_documents(200, 2)
    settings = {"sampler": method, "n_chains": 1, "random_state": 0}
    model = MedLDAClassifier(**settings).fit(X, y)
    assert model.score(new, truth) > 0.8
    narrow = MedLDAClassifier(prior_scale=0.5, **settings).fit(X, y)
    assert narrow.score(new, truth) < 0.5


def test_prior_scale_is_one_for_many_documents_and_what_users_ask_for():
    hinge = MultiTaskHinge(2.0, 100.0)
    assert default_prior_scale(hinge, 4, 600) == pytest.approx(1.0)
    assert default_prior_scale(hinge, 4, 10**6) == 1.0
    assert default_prior_scale(hinge, 4, 150) == pytest.approx(2.0)
    assert resolve(check_parameters(MedLDAClassifier(prior_scale=0.3)), 3, 10).prior_scale == 0.3
    # Two classes have one classifier.
    two, many = (resolve(check_parameters(MedLDAClassifier()), n, 100).prior_scale for n in (1, 8))
    assert many == pytest.approx(2.0 * two)


def test_rare_classes_are_predicted():
    """The prior that suits classes of average size keeps the weights of rare ones near zero."""
    X, y = draw_documents(4800, 1, n_own=10)
    kept = (y % 5 > 0) | (np.arange(4800) // N_CLASSES % 12 == 0)  # a twelfth of every fifth class
    X, y = X[np.flatnonzero(kept)], y[kept]
    new, truth = draw_documents(400, 2, n_own=10)
    rare = truth % 5 == 0
    settings = {"n_chains": 1, "sampler__n_passes": 4, "random_state": 0}
    model = MedLDAClassifier(**settings).fit(X, y)
    assert np.mean(model.predict(new)[rare] == truth[rare]) > 0.8
    scale = default_prior_scale(MultiTaskHinge(1.0, 164.0), N_CLASSES, len(y))
    average = MedLDAClassifier(prior_scale=scale, **settings).fit(X, y)
    assert np.mean(average.predict(new)[rare] == truth[rare]) < 0.2


def test_prior_scale_follows_the_rarest_class():
    model = MedLDAClassifier(C=2.0, margin=100.0)
    signs = np.full((10_000, 3), -1)
    for column, n_own in enumerate([9975, 5000, 400]):
        signs[:n_own, column] = 1
    assert documents_of_rarest(signs) == 25  # documents that lack a label that most have
    assert resolve(check_parameters(model), 3, 10_000, signs).prior_scale == pytest.approx(2.0)
    assert resolve(check_parameters(model), 3, 10_000).prior_scale == 1.0
    assert documents_of_rarest(np.hstack([signs[:, 2:], -np.ones((10_000, 1))])) == 400
    assert documents_of_rarest(np.ones((7, 2))) == 7


def test_a_stream_of_unknown_length_is_learned_from_its_first_documents():
    X, y = draw_documents(600, 3, n_own=6, n_words=40_000)
    new, truth = draw_documents(200, 4, n_own=6, n_words=40_000)
    model = MedLDAClassifier(n_chains=1, random_state=0)
    for first in range(0, 600, 50):
        part = slice(first, first + 50)
        model.partial_fit(X[part], y[part], classes=np.arange(N_CLASSES))
    assert model.score(new, truth) > 0.8


def test_size_of_a_stream():
    assert stream_size(check_parameters(MedLDAClassifier()), 50) == 10_000
    assert stream_size(check_parameters(MedLDAClassifier()), 20_000) == 20_000
    assert stream_size(check_parameters(MedLDAClassifier(sampler__n_documents=300)), 50) == 300
    assert stream_size(check_parameters(MedLDAClassifier(sampler__n_documents=300)), 400) == 400


@pytest.mark.parametrize("sampler", ["sgrld", "scir"])
@pytest.mark.parametrize("n_total", [2_000, 2_000_000])
def test_a_minibatch_renews_the_same_share_of_topics_in_any_corpus(sampler, n_total):
    """How far topics are from those before, beside how far minibatches are from each other."""
    X, y = draw_documents(2000, 5)
    documents, signs = to_documents(check_counts(X, "test")), np.where(y[:, None] == 0, 1, -1)
    settings = Settings(
        hinge=MultiTaskHinge(1e-6, 1.0),
        n_topics=2,
        n_words=N_WORDS,
        n_classes=1,
        alpha=1.0,
        beta=0.01,
        prior_variance=1.0,
        n_sweeps=3,
        n_discarded=1,
        topic_sampler=sampler,
        topic_step=1.0,
        follow_size=True,
    )
    chain = Chain(settings, LangevinMover(0.0), spawn_generators(7, N_SHARES))
    rng, moves = np.random.default_rng(8), []
    with ToolPool(1, chain.make_tool) as crew:
        for time in range(200):
            before = usage(chain, crew)
            chosen = rng.choice(2000, size=20, replace=False)
            chain.step(Minibatch(documents, signs.astype(np.int8), chosen, n_total, crew))
            frequency = X[chosen].sum(axis=0) / X[chosen].sum()
            if time >= 100:
                direction = frequency - before
                moved = usage(chain, crew) - before
                moves.append(moved @ direction / (direction @ direction))
    expected = np.mean([min((1.0 + t) ** -TOPIC_DECAY, MOST) for t in range(100, 200)])
    assert np.mean(moves) == pytest.approx(expected, rel=0.25)


def usage(chain, crew):
    """Probability of every word, over both topics."""
    topics = chain.current_topics(crew)[:, :2].sum(axis=1, dtype=np.float64)
    return topics / topics.sum()


def test_weights_move_by_the_same_steps_in_any_corpus():
    hinge = MultiTaskHinge(2.0, 100.0)
    for n_documents in (10_000, 1_000_000):
        pull = hinge.cost * n_documents / 5
        step = default_step(hinge, 1.0, n_documents)
        assert 0.5 * step * pull == pytest.approx(hinge.margin / 5)
    assert default_step(hinge, 1e-4, 1000) == 0.5e-4


@pytest.mark.parametrize("n_topics", [2, 8, 50])
@pytest.mark.parametrize("n_documents", [6, 40, 400])
def test_a_thermostat_moves_the_weights_and_keeps_them(n_documents, n_topics):
    """Too long a step lets them run away, or its friction run up until they stand still."""
    X, y = draw_documents(n_documents + 200, 11)
    y %= 2
    settings = {
        "n_topics": n_topics,
        "sampler__weights": "ssgnht",
        "n_chains": 1,
        "random_state": 0,
    }
    model = MedLDAClassifier(**settings).fit(X[:n_documents], y[:n_documents])
    draws = np.array(model.posterior_[0].coef)
    assert np.abs(draws).max() < 2 * model.margin
    assert draws.std(axis=0).mean() > 0.01


@pytest.mark.parametrize(("weights", "step"), [("ssgld", 1e3), ("ssgnht", 50.0), ("ssgnht", 1e3)])
def test_weights_that_run_away_are_an_error_that_names_the_step(weights, step):
    X, y = draw_documents(60, 12)
    model = MedLDAClassifier(
        n_topics=4, sampler__weights=weights, sampler__weights__step=step, random_state=0
    )
    with pytest.raises(
        DivergenceError, match=rf"step={step:g} of the weights is too long .* leave it"
    ):
        model.fit(X, y % 2)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_one_against_the_rest_forgets_for_longer():
    X, y = draw_documents(60, 9)
    decays = [
        MedLDAClassifier(multi_class=rule, n_chains=1, sampler__n_passes=1, random_state=0)
        .fit(X, labels)
        ._training.learners[0]
        .chain.settings.topic_decay
        for rule, labels in (("multi_task", y), ("ovr", y), ("ovr", y % 2))
    ]
    assert decays == [0.85, 0.6, 0.85]  # two classes have one model, whatever the rule


def test_models_saved_without_these_rules_keep_their_own():
    """Their files lack the fields; the defaults are what such models were fitted with."""
    assert Resolved._field_defaults == {"prior_scale": 1.0}
    assert Settings._field_defaults["follow_size"] is False
