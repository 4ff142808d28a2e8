"""Topics integrated out of predictions: the mean of the flow, and near the exact predictive."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import gammaln

from bayesmargin import MedLDAClassifier, load
from bayesmargin.models.medlda.conditionals import padded
from bayesmargin.models.medlda.expected import ExpectedTopics, add_counts
from bayesmargin.models.medlda.flow import absorb, catch_up, quantile_table
from bayesmargin.models.medlda.posterior import TopicPosterior
from bayesmargin.models.medlda.prediction import infer

from .enumeration import assignments, document_log_weight, normalise, topic_counts
from .test_prediction import make_posterior, one_document, shares_by_seed


def expect(counts, beta):
    """Expected topics given integer counts (K, V)."""
    expected = ExpectedTopics.nothing(counts.shape[1], padded(len(counts)), len(counts), beta)
    expected.fade(1.0, 1)
    expected.counts[:, : len(counts)] = counts.T
    return expected


def test_averages_are_those_of_dense_arrays_even_when_the_scale_has_to_start_again():
    rng = np.random.default_rng(0)
    sizes = np.full(120, 5)
    average, dense, seen = ExpectedTopics.nothing(6, 8, 3, 0.2), np.zeros((6, 3)), 0
    for step, size in enumerate(sizes):
        counts, words = np.zeros((6, 8), dtype=np.int32), rng.permutation(6)[:3].astype(np.int32)
        counts[words, :3] = rng.integers(9, size=(3, 3))
        seen += size
        share = 1.0 if step == 0 else max(0.4, size / seen)
        dense = (1.0 - share) * dense + share * 1.5 * counts[:, :3]
        add_counts(average.counts, counts, words, 1.5 * average.fade(0.4, int(size)))
    np.testing.assert_allclose(average.topics()[:, :3], dense + 0.2, rtol=1e-5)
    assert (average.topics()[:, 3:] == 0.0).all()
    assert 1e-9 < average.scale <= 1.0  # 0.6^119 is 4e-27


def test_documents_weigh_alike_when_minibatches_grow_faster_than_steps_fall():
    average = ExpectedTopics.nothing(1, 8, 1, 0.1)
    for count, size in ((10.0, 1), (20.0, 3), (30.0, 4)):
        average.counts += average.fade(0.01, size) * count
    np.testing.assert_allclose(average.topics()[0, 0] - 0.1, (10.0 + 60.0 + 120.0) / 8.0, rtol=1e-6)


def test_expected_topics_are_the_mean_of_the_flow_given_its_counts():
    """Twenty thousand words with the same history, drawn and averaged."""
    beta, inflation, n_words = 0.1, 2.5, 20_000
    rng, stream = np.random.default_rng(3), np.array([4], dtype=np.uint64)
    table, change = quantile_table(beta), np.zeros(8)
    topics = np.zeros((n_words, 8), dtype=np.float32)
    moved, words = np.full((n_words, 2), -np.inf), np.arange(n_words, dtype=np.int32)
    expected = ExpectedTopics.nothing(n_words, 8, 2, beta)
    clock = 0.0
    for step, (count, other) in enumerate([(3, 0), (0, 2), (1, 1), (0, 0), (2, 0)]):
        share = 1.0 if step == 0 else 0.3
        counts = np.zeros((n_words, 8), dtype=np.int32)
        counts[:, 0], counts[:, 1] = count, other
        add_counts(
            expected.counts,
            counts,
            words,
            inflation * expected.fade(share, 100 if step == 0 else 1),
        )
        length = np.inf if step == 0 else -np.log1p(-share)
        if step > 0:
            catch_up(rng, stream, table, topics, moved, words, 2, beta, clock, change)
            clock += length
        absorb(
            rng, stream, topics, moved, words, counts, 2, beta, inflation, length, clock,
            change,
        )  # fmt: skip
    catch_up(rng, stream, table, topics, moved, words, 2, beta, clock, change)
    error = 4.0 * topics.std(axis=0)[:2] / np.sqrt(n_words)
    assert (np.abs(topics.mean(axis=0) - expected.topics()[0])[:2] < error).all()


def test_new_documents_see_nearly_the_exact_predictive():
    """A document of rare words, enumerated with topics integrated out and under their draws."""
    rng = np.random.default_rng(5)
    beta, alpha, words = 0.1, 0.4, [0, 1, 2, 4]
    counts = np.array([[3, 1, 0, 400, 0], [0, 1, 2, 300, 1], [0, 1, 0, 500, 0]])
    nothing, signs = np.zeros((1, 3)), np.array([1])

    def given(phi):
        states = assignments(3, len(words))
        logs = [
            document_log_weight(
                z, np.array(words), phi, alpha, nothing, signs, "multi_task", 0.0, 0.0
            )
            for z in states
        ]
        shares = np.array([topic_counts(z, 3) for z in states]) / len(words)
        return normalise(np.array(logs)) @ shares

    def predictive_log_weight(z):
        mine = np.zeros_like(counts)
        np.add.at(mine, (z, words), 1)
        after = counts + mine + beta
        value = gammaln(alpha + topic_counts(z, 3)).sum() + gammaln(after).sum()
        return value - gammaln(after.sum(axis=1)).sum()

    states = assignments(3, len(words))
    chances = normalise(np.array([predictive_log_weight(z) for z in states]))
    exact = chances @ np.array([topic_counts(z, 3) for z in states]) / len(words)
    draws = [np.array([rng.dirichlet(n + beta) for n in counts]) for _ in range(300)]
    by_draws = np.mean([given(phi) for phi in draws], axis=0)
    expected = expect(counts, beta)
    topics = expected.topics()[:, :3].T
    by_mean = given(topics / topics.sum(axis=1, keepdims=True))
    far, near = np.abs(by_draws - exact).max(), np.abs(by_mean - exact).max()
    assert near < 0.005
    assert far > 0.02

    posterior = make_posterior(draws[:4])
    posterior.expected = expected
    found = shares_by_seed(posterior, words, alpha, None, 200)
    error = 4.0 * found.std(axis=0) / np.sqrt(len(found))
    assert (np.abs(found.mean(axis=0) - by_mean) < error + 0.003).all()


def test_predictions_take_the_mean_weights_with_the_expected_topics():
    posterior = TopicPosterior(2)
    for weights in ([[1.0, 0.0]], [[3.0, 0.0]]):
        posterior.add(np.ones((3, 8), dtype=np.float32), np.array(weights))
    posterior.expected = expect(np.array([[50, 0, 0], [0, 50, 50]]), 0.01)
    shares, scores = infer(posterior, one_document([0] * 6), 0.01, 0, None, 1)
    assert shares[0, 0] > 0.95
    np.testing.assert_allclose(scores[0, 0], 2.0 * shares[0, 0])
    drawn, _ = infer(posterior, one_document([0] * 6), 1.0, 0, 2, 1)
    assert abs(drawn[0, 0] - 0.5) < 0.2  # the draws know nothing
    np.testing.assert_allclose(posterior.mean_topics()[0, 0], 50.01 / 50.03, rtol=1e-6)
    np.testing.assert_allclose(posterior.mean_topics(2), 1.0 / 3.0)


def test_short_documents_are_started_more_often():
    phi = np.array([[0.6, 0.4], [0.4, 0.6]])
    posterior = make_posterior([phi])
    words = [0, 1] * 5
    few, many = (shares_by_seed(posterior, words, 5.0, n, 200)[:, 0].std() for n in (1, None))
    assert many < 0.5 * few  # 100 starts for 10
    long = [0, 1] * 200
    few, many = (shares_by_seed(posterior, long, 5.0, n, 30) for n in (1, None))
    np.testing.assert_array_equal(few, many)


def test_more_topics_have_more_starts():
    """Topics that explain a document alike: each start ends near one of two hundred corners."""
    words = [0] * 60
    sizes = []
    for n_topics in (20, 200):
        posterior = make_posterior([np.full((n_topics, 2), 0.5)])
        shares = shares_by_seed(posterior, words, 0.2 / n_topics, None, 20)
        sizes.append((shares > 0.5 / (60.0 * 200.0)).sum(axis=1).mean())
    assert sizes[1] > 1.5 * sizes[0]


@pytest.fixture(scope="module")
def rare():
    """Documents of four classes, each with a thousand words of its own that seldom occur."""
    rng = np.random.default_rng(7)

    def draw(n):
        y = np.arange(n) % 4
        own = 1000 * y[:, None] + rng.integers(1000, size=(n, 6))
        words = np.hstack([own, 4000 + rng.integers(200, size=(n, 24))])
        rows = np.repeat(np.arange(n), 30)
        ones = np.ones(words.size, dtype=np.int64)
        return sp.csr_array((ones, (rows, words.ravel())), shape=(n, 4200)), y

    return draw(600), draw(400)


@pytest.mark.parametrize("topics", ["sgrld", "scir"])
def test_rare_words_are_better_judged_than_by_draws(rare, topics):
    (X, y), (new, truth) = rare
    model = MedLDAClassifier(n_topics=12, n_chains=1, sampler__topics=topics, random_state=0).fit(
        X, y
    )
    drawn = np.mean(model.predict(new, draws=10) == truth)
    assert model.score(new, truth) > drawn + 0.05
    assert model.perplexity(new) < 4200


def test_streams_and_loaded_models_go_on_averaging(rare, tmp_path):
    (X, y), (new, _) = rare
    settings = {"n_topics": 12, "n_chains": 1, "sampler__n_documents": 600, "random_state": 0}
    model = MedLDAClassifier(**settings).partial_fit(X[:300], y[:300], np.arange(4))
    seen = model.posterior_[0].expected.n_seen
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))
    for one in (model, loaded):
        one.partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(loaded.decision_function(new), model.decision_function(new))
    assert model.posterior_[0].expected.n_seen > seen
