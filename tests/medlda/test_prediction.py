"""Topic shares of new documents against enumeration, and what several starts are for."""

import numpy as np
import pytest

from bayesmargin.models.medlda.conditionals import padded
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.posterior import TopicPosterior
from bayesmargin.models.medlda.prediction import N_STARTS, infer

from .enumeration import assignments, document_log_weight, normalise


def one_document(words):
    return Documents(np.array(words, dtype=np.int32), np.array([0, len(words)]))


def make_posterior(draws):
    """Draws of topics given as (K, V) arrays, each with weights that read the first topic."""
    n_topics = draws[0].shape[0]
    posterior = TopicPosterior(n_topics)
    for phi in draws:
        topics = np.zeros((phi.shape[1], padded(n_topics)))
        topics[:, :n_topics] = phi.T
        posterior.add(topics, np.eye(1, n_topics))
    return posterior


def shares_by_seed(posterior, words, alpha, n_draws, n_seeds):
    document = one_document(words)
    # Draw d has the stream of seed + d: seeds that far apart have no stream in common.
    seeds = range(0, 1000 * n_seeds, 1000)
    return np.array([infer(posterior, document, alpha, seed, n_draws, 1)[0][0] for seed in seeds])


def enumerated_shares(phi, words, alpha):
    n_topics, words = phi.shape[0], np.array(words)
    states = assignments(n_topics, len(words))
    nothing, signs = np.zeros((1, n_topics)), np.array([1])
    logs = [
        document_log_weight(z, words, phi, alpha, nothing, signs, "multi_task", 0.0, 0.0)
        for z in states
    ]
    counts = np.array([np.bincount(z, minlength=n_topics) for z in states])
    return normalise(np.array(logs)) @ counts / len(words)


def test_shares_have_the_enumerated_mean():
    rng = np.random.default_rng(1)
    draws = [rng.dirichlet(np.ones(5), size=3) for _ in range(2)]
    words, alpha = [0, 0, 2, 4, 4], 0.7
    posterior = make_posterior(draws)
    found = shares_by_seed(posterior, words, alpha, 2, 1500)
    expected = np.mean([enumerated_shares(phi, words, alpha) for phi in draws], axis=0)
    error = 4.0 * found.std(axis=0) / np.sqrt(len(found))
    # What is left of the start after the sweeps that are not counted.
    assert (np.abs(found.mean(axis=0) - expected) < error + 0.003).all()
    last = shares_by_seed(posterior, words, alpha, 1, 1500)
    error = 4.0 * last.std(axis=0) / np.sqrt(len(last))
    assert (
        np.abs(last.mean(axis=0) - enumerated_shares(draws[1], words, alpha)) < error + 0.003
    ).all()


def test_documents_with_two_modes_are_started_often_enough_to_see_both():
    """Two topics explain every word alike, so that each start ends near one of two corners."""
    phi = np.full((2, 3), 1.0 / 3.0)
    for n_draws in (1, 10):
        shares = shares_by_seed(make_posterior([phi] * n_draws), [0] * 40, 0.02, n_draws, 300)
        assert abs(shares[:, 0].mean() - 0.5) < 0.03
        assert shares[:, 0].std() < 0.6 / np.sqrt(N_STARTS)


def test_words_are_not_tied_to_the_topic_of_the_first_by_a_small_alpha():
    """Two words speak for the first topic, ten that are seated after them for the second."""
    phi, words, alpha = np.array([[0.6, 0.4], [0.3, 0.7]]), [0, 0] + [1] * 10, 0.01
    found = shares_by_seed(make_posterior([phi]), words, alpha, 1, 200).mean(axis=0)
    expected = enumerated_shares(phi, words, alpha)
    assert expected[1] > 0.97
    np.testing.assert_allclose(found, expected, atol=0.2)


def test_shares_of_a_very_long_document_are_not_rounded_away():
    """Sums of chances in single precision had stopped at multiples of a sixteenth and more.

    A share t of the first topic, of words that are three to one: 0.9 t + 0.1 (1 - t) = 0.75.
    """
    posterior = make_posterior([np.array([[0.9, 0.1], [0.1, 0.9]])])
    words = np.repeat(np.array([0, 1], dtype=np.int32), [150_000, 50_000])
    shares, _ = infer(posterior, one_document(words), 5.0, 1, None, 1)
    assert shares[0, 0] == pytest.approx(0.8125, abs=0.004)
