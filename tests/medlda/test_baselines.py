"""Collapsed Gibbs and passive-aggressive sampling against enumeration and quadrature."""

import warnings

import numpy as np
import pytest
from scipy.special import digamma, gammaln

from bayesmargin import MedLDAClassifier
from bayesmargin.foundation.compiling import jit
from bayesmargin.models.medlda.documents import Documents
from bayesmargin.models.medlda.gibbs import CollapsedChain, draw_weights
from bayesmargin.models.medlda.hinges import MultiTaskHinge
from bayesmargin.models.medlda.passive_aggressive import PassiveAggressive, sweep_batch
from bayesmargin.models.medlda.quadratic import (
    fill_exponents,
    fill_second_moment,
    log_quadratic_conditional,
    make_quadratic_workspace,
)

from .enumeration import assignments, normalise, total_variation

ALPHA, BETA, COST, MARGIN = 0.8, 0.5, 1.4, 1.2
DOCUMENTS = Documents(np.array([0, 0, 1, 1, 2, 2], dtype=np.int32), np.array([0, 3, 6]))
SIGNS = np.array([[1], [-1]], dtype=np.int8)
N_TOPICS, VOCABULARY = 2, 3


@jit
def prepare(signs, precisions, rate, mean, covariance, work):
    fill_second_moment(COST, precisions, mean, covariance, work.matrix)
    fill_exponents(signs, precisions, COST, MARGIN, rate, mean, work)


@jit
def weigh(topic, row, scale, rate, work):
    log_quadratic_conditional(topic, row, scale, ALPHA, rate, work)


def collapsed_log_weight(z):
    """Topics and proportions integrated out, two documents of three words."""
    value = 0.0
    for part in (z[:3], z[3:]):
        value += gammaln(ALPHA + np.bincount(part, minlength=N_TOPICS)).sum()
    for k in range(N_TOPICS):
        counts = np.bincount(DOCUMENTS.words[z == k], minlength=VOCABULARY)
        value += gammaln(BETA + counts).sum() - gammaln(VOCABULARY * BETA + counts.sum())
    return value


def hinge_integral(shares, grid, prior):
    """Integral over the two weights of the prior times both pseudo-likelihoods."""
    slack = MARGIN - SIGNS[:, 0] * (grid @ shares.T)
    return np.log((prior * np.exp(-COST * np.maximum(0.0, slack).sum(axis=1))).sum())


def enumerate_collapsed():
    axis = np.linspace(-7.0, 7.0, 281)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    prior = np.exp(-0.5 * (grid**2).sum(axis=1))
    states = assignments(N_TOPICS, 6)
    logs, known = [], {}
    for z in states:
        shares = np.array([np.bincount(p, minlength=2) / 3.0 for p in (z[:3], z[3:])])
        key = shares.tobytes()
        if key not in known:
            known[key] = hinge_integral(shares, grid, prior)
        logs.append(collapsed_log_weight(z) + known[key])
    return normalise(np.array(logs))


LENGTHS = [(25_000, 0.025), pytest.param(120_000, 0.01, marks=pytest.mark.slow)]


@pytest.mark.parametrize(("n_sweeps", "tolerance"), LENGTHS)
def test_collapsed_chain_visits_the_enumerated_posterior(n_sweeps, tolerance):
    rng = np.random.default_rng(3)
    hinge = MultiTaskHinge(COST, MARGIN)
    chain = CollapsedChain(DOCUMENTS, SIGNS, hinge, N_TOPICS, VOCABULARY, ALPHA, BETA, 1.0, rng)
    visits = np.zeros(64)
    powers = 2 ** np.arange(5, -1, -1)
    for _ in range(n_sweeps):
        chain.draw_weights()
        chain.draw_words()
        visits[chain.assigned @ powers] += 1
    assert total_variation(visits / visits.sum(), enumerate_collapsed()) < tolerance
    assert (chain.counts.sum(axis=0) == chain.totals).all()


def enumerate_uneven(words, lengths, signs, prior_variance):
    """Posterior of all assignments and the mean of the squared weights, for any lengths."""
    axis = np.linspace(-9.0, 9.0, 181)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    squares = (grid**2).sum(axis=1)
    present, rows = lengths > 0, np.repeat(np.arange(len(lengths)), lengths)
    logs, sizes = [], []
    for z in assignments(N_TOPICS, len(words)):
        held = np.zeros((len(lengths), N_TOPICS))
        np.add.at(held, (rows, z), 1.0)
        value, size = gammaln(ALPHA + held).sum(), 0.0
        for k in range(N_TOPICS):
            counts = np.bincount(words[z == k], minlength=VOCABULARY)
            value += gammaln(BETA + counts).sum() - gammaln(VOCABULARY * BETA + counts.sum())
        shares = held[present] / lengths[present, None]
        for sign in signs[present].T:
            slack = np.maximum(0.0, MARGIN - sign * (grid @ shares.T)).sum(axis=1)
            weight = np.exp(-0.5 * squares / prior_variance - COST * slack)
            value += np.log(weight.sum())
            size += weight @ squares / weight.sum()
        logs.append(value)
        sizes.append(size)
    chances = normalise(np.array(logs))
    return chances, chances @ np.array(sizes)


@pytest.mark.slow
def test_collapsed_chain_with_two_labels_uneven_documents_and_an_empty_one():
    words = np.array([0, 1, 2, 2, 0, 2], dtype=np.int32)
    documents = Documents(words, np.array([0, 1, 1, 4, 6]))
    signs = np.array([[1, -1], [1, 1], [-1, 1], [1, 1]], dtype=np.int8)
    chances, size = enumerate_uneven(words, documents.lengths, signs, 2.0)
    chain = CollapsedChain(
        documents, signs, MultiTaskHinge(COST, MARGIN), N_TOPICS, VOCABULARY, ALPHA, BETA, 2.0,
        np.random.default_rng(1),
    )  # fmt: skip
    visits, sizes = np.zeros(64), np.zeros(30_000)
    powers = 2 ** np.arange(5, -1, -1)
    for t in range(len(sizes)):
        chain.draw_weights()
        chain.draw_words()
        visits[chain.assigned @ powers] += 1
        sizes[t] = (chain.coef**2).sum()
    # Topics have no names: the mirrored law is the same law.
    folded = 0.5 * (visits + visits[::-1]) / visits.sum()
    assert total_variation(folded, chances) < 0.02
    means = sizes.reshape(50, -1).mean(axis=1)
    assert abs(means.mean() - size) < 4.0 * means.std(ddof=1) / np.sqrt(50)


def test_weights_of_a_class_have_their_gaussian_conditional():
    rng = np.random.default_rng(4)
    shares = rng.dirichlet(np.ones(3), size=7)
    signs = rng.choice([-1, 1], size=(7, 2)).astype(np.int8)
    precisions = rng.gamma(2.0, 1.0, (7, 2))
    hinge = MultiTaskHinge(COST, MARGIN)
    draws = np.stack(
        [draw_weights(rng, shares, signs, precisions, hinge, 2.0) for _ in range(20_000)]
    )
    for i in range(2):
        inverse = np.eye(3) / 2.0 + COST**2 / 4 * (shares.T * precisions[:, i]) @ shares
        slope = signs[:, i] * (COST / 2 + COST**2 / 4 * MARGIN * precisions[:, i])
        covariance = np.linalg.inv(inverse)
        error = 4.0 * np.sqrt(np.diag(covariance) / len(draws))
        assert (np.abs(draws[:, i].mean(axis=0) - covariance @ shares.T @ slope) < error).all()
        np.testing.assert_allclose(np.cov(draws[:, i].T), covariance, atol=0.06)


def gaussian_weights(seed, n_classes):
    rng = np.random.default_rng(seed)
    mean = rng.normal(0.0, 1.5, (n_classes, N_TOPICS))
    roots = rng.normal(0.0, 0.6, (n_classes, N_TOPICS, N_TOPICS))
    return mean, roots @ roots.transpose(0, 2, 1)


@pytest.mark.parametrize("uncertain", [False, True])
def test_quadratic_exponent_equals_the_expected_augmented_likelihood(uncertain):
    """E over Gaussian weights of -(lam + c zeta/2)^2 / (2 lam), by its moments, word by word."""
    mean, covariance = gaussian_weights(5, 3)
    covariance = covariance if uncertain else np.zeros_like(covariance)
    signs = np.array([1, -1, -1], dtype=np.int8)
    precisions = np.array([0.7, 1.9, 0.2])
    work = make_quadratic_workspace(8)
    scale = np.zeros(8)
    scale[:N_TOPICS] = [0.3, 0.6]
    row = np.zeros(8, dtype=np.float64)
    row[:N_TOPICS] = [0.25, 0.5]
    length, z, n = 5, np.array([0, 1, 1, 0, 1]), 3
    work.held[:N_TOPICS] = np.bincount(z)
    prepare(signs, precisions, 1.0 / length, mean, covariance, work)
    work.held[z[n]] -= 1
    weigh(z[n], row, scale, 1.0 / length, work)
    expected = []
    for k in range(N_TOPICS):
        counts = np.bincount(np.r_[z[:n], k, z[n + 1 :]], minlength=N_TOPICS)
        shares = counts / length
        value = np.log(ALPHA + counts[k] - 1) + np.log(row[k] * scale[k])
        for i in range(3):
            first = MARGIN - signs[i] * mean[i] @ shares
            second = first**2 + shares @ covariance[i] @ shares
            value -= COST / 2 * first + COST**2 / 8 * precisions[i] * second
        expected.append(value)
    found = work.logs[:N_TOPICS] - work.logs[0]
    np.testing.assert_allclose(found, np.array(expected) - expected[0], atol=1e-12)


def test_passive_aggressive_sweeps_visit_the_enumerated_posterior():
    """Given q(Phi) and q(eta): the augmentation integrates to exp(-c/2 (E zeta + rms zeta))."""
    mean, covariance = gaussian_weights(6, 2)
    signs = np.array([[1, -1]], dtype=np.int8)
    words = np.array([0, 1, 1, 2], dtype=np.int32)
    rng = np.random.default_rng(7)
    topics = np.zeros((VOCABULARY, 8), dtype=np.float32)
    topics[:, :N_TOPICS] = rng.gamma(1.0, 1.0, (VOCABULARY, N_TOPICS))
    scale = np.zeros(8)
    scale[:N_TOPICS] = 1.0
    assigned = np.zeros(4, dtype=np.int32)
    precisions, shares = np.ones((1, 2)), np.zeros((1, N_TOPICS))
    work, visits = make_quadratic_workspace(8), np.zeros(16)
    arguments = (words, np.array([0, 4]), signs, np.array([0]), COST, MARGIN, ALPHA, mean)
    powers = 2 ** np.arange(3, -1, -1)
    for _ in range(100_000):
        sweep_batch(rng, *arguments, covariance, topics, scale, assigned, precisions, shares, work)
        visits[assigned @ powers] += 1
    logs = []
    for z in assignments(N_TOPICS, 4):
        counts = np.bincount(z, minlength=N_TOPICS)
        value = gammaln(ALPHA + counts).sum() + np.log(topics[words, z]).sum()
        for i in range(2):
            first = MARGIN - signs[0, i] * mean[i] @ counts / 4
            second = first**2 + counts @ covariance[i] @ counts / 16
            value -= COST / 2 * (first + np.sqrt(second))
        logs.append(value)
    assert total_variation(visits / visits.sum(), normalise(np.array(logs))) < 0.01


def test_absorbed_statistics_are_the_enumerated_means():
    """Counts, precisions and slopes of documents of 1, 0, 3 and 2 words, three topics, two labels.

    Given the assignments the augmentation variable has the mean 2 / (c rms zeta).
    """
    n_topics, rng = 3, np.random.default_rng(2)
    words = np.array([0, 1, 2, 2, 0, 2], dtype=np.int32)
    documents = Documents(words, np.array([0, 1, 1, 4, 6]))
    signs = np.array([[1, -1], [1, 1], [-1, 1], [1, 1]], dtype=np.int8)
    hinge = MultiTaskHinge(COST, MARGIN)
    learner = PassiveAggressive(
        hinge, n_topics, VOCABULARY, 2, ALPHA, BETA, 2.0, rng, n_sweeps=30_000
    )
    known = rng.gamma(1.0, 1.0, (VOCABULARY, n_topics)).astype(np.float32)
    learner.delta[:, :n_topics] = known
    roots = rng.normal(size=(2, n_topics, n_topics))
    learner.precision = np.eye(n_topics) / 2.0 + roots @ roots.transpose(0, 2, 1)
    learner.linear = rng.normal(size=(2, n_topics))
    learner._refresh_weights()
    mean, covariance = learner.mean.copy(), learner.covariance.copy()
    before = learner.precision.copy(), learner.linear.copy()
    logs_phi = digamma(BETA + known) - digamma(VOCABULARY * BETA + known.sum(axis=0))
    counts, precision = np.zeros((VOCABULARY, n_topics)), np.zeros_like(before[0])
    linear = np.zeros_like(before[1])
    for d, length in enumerate(documents.lengths):
        part = words[documents.offsets[d] : documents.offsets[d + 1]]
        states = assignments(n_topics, length) if length else []
        shares = np.array([np.bincount(z, minlength=n_topics) / length for z in states])
        if not length:
            continue
        first = MARGIN - signs[d] * (shares @ mean.T)
        spread = np.einsum("sj,ijk,sk->si", shares, covariance, shares)
        rms = np.sqrt(first**2 + spread)
        logs = gammaln(ALPHA + length * shares).sum(axis=1) - COST / 2 * (first + rms).sum(axis=1)
        chances = normalise(logs + logs_phi[part, states].sum(axis=1))
        for z, chance in zip(states, chances, strict=True):
            np.add.at(counts, (part, z), chance)
        weight = COST**2 / 4 * 2.0 / (COST * rms)
        precision += np.einsum("s,si,sj,sk->ijk", chances, weight, shares, shares)
        slopes = signs[d] * (COST / 2 + MARGIN * weight)
        linear += np.einsum("s,si,sk->ik", chances, slopes, shares)
    learner.minibatch = (documents, signs, np.arange(4))
    learner.absorb()
    np.testing.assert_allclose(learner.delta[:, :n_topics] - known, counts, atol=0.02)
    np.testing.assert_allclose(learner.precision - before[0], precision, atol=0.03)
    np.testing.assert_allclose(learner.linear - before[1], linear, atol=0.03)


def test_absorbing_a_minibatch_adds_its_statistics():
    rng = np.random.default_rng(8)
    learner = PassiveAggressive(
        MultiTaskHinge(COST, MARGIN), N_TOPICS, VOCABULARY, 1, ALPHA, BETA, 1.0, rng, n_rounds=2
    )
    learner.minibatch = (DOCUMENTS, SIGNS, np.array([0, 1]))
    learner.absorb()
    np.testing.assert_allclose(learner.delta.sum(axis=1), [2, 2, 2], rtol=1e-6)
    excess = learner.precision[0] - np.eye(N_TOPICS)
    assert np.linalg.eigvalsh(excess).min() > 0.0
    np.testing.assert_allclose(learner.mean[0], learner.covariance[0] @ learner.linear[0])
    np.testing.assert_allclose(learner.covariance[0] @ learner.precision[0], np.eye(2), atol=1e-12)


def test_topics_of_few_words_a_priori_are_in_the_range_of_numbers():
    """Four words of a small beta: a topic without words had the weight exp(2,500)."""
    rng = np.random.default_rng(9)
    y = np.repeat([0, 1], 100)
    X = rng.poisson(np.where(y[:, None] == 0, [3, 3, 0.2, 0.2], [0.2, 0.2, 3, 3]))
    model = MedLDAClassifier(
        4, beta=1e-4, sampler="pa", n_chains=1, sampler__batch_size=8, random_state=1
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
    assert model.score(X, y) > 0.9
