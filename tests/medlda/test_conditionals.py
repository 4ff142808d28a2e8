"""The conditional of one word, and the chain over one document, against enumeration."""

import numpy as np
import pytest

from bayesmargin.foundation.compiling import jit as kept
from bayesmargin.foundation.streams import seed_stream
from bayesmargin.models.medlda.conditionals import (
    make_workspace,
    padded,
    start_document,
    sweep_plain,
)
from bayesmargin.models.medlda.exponential import exponential
from bayesmargin.models.medlda.hinges import LabelSetHinge, MultiTaskHinge, excess
from bayesmargin.models.medlda.supervised import (
    choose_piece,
    log_conditional,
    propose_scores,
    score_document,
    sweep_document,
)

from .compiled import jit
from .enumeration import (
    assignments,
    document_log_weight,
    normalise,
    total_variation,
)

RULES = {"crammer_singer": LabelSetHinge, "label_set": LabelSetHinge, "multi_task": MultiTaskHinge}
SIGNS = {
    "crammer_singer": np.array([-1, 1, -1, -1], dtype=np.int8),
    "label_set": np.array([1, -1, 1, -1], dtype=np.int8),
    "multi_task": np.array([-1, 1, -1, 1], dtype=np.int8),
}
ALPHA, COST, MARGIN, N_TOPICS, VOCABULARY = 0.7, 1.3, 1.1, 3, 5
WORDS = np.array([0, 0, 2, 4], dtype=np.int32)


@kept
def penalty_of(hinge, signs, scores, slopes, constant):
    return excess(hinge, signs, scores, slopes, constant)


def make_problem(seed, dtype, spread=3.0):
    rng = np.random.default_rng(seed)
    width = padded(N_TOPICS)
    topics = np.zeros((VOCABULARY, width), dtype=dtype)
    topics[:, :N_TOPICS] = rng.gamma(1.0, 1.0, (VOCABULARY, N_TOPICS))
    scale = np.zeros(width, dtype=dtype)
    scale[:N_TOPICS] = 1.0 / topics[:, :N_TOPICS].sum(axis=0)
    eta = rng.normal(0.0, spread, (4, N_TOPICS))
    by_topic = np.zeros((width, 4))
    by_topic[:N_TOPICS] = eta.T
    phi = (topics * scale)[:, :N_TOPICS].T.astype(np.float64)
    return topics, scale, eta, by_topic, phi, make_workspace(4, width, len(WORDS), dtype)


def seat(work, z, by_topic):
    work.assigned[:] = z
    work.held[:] = np.bincount(z, minlength=work.held.shape[0])
    score_document(by_topic, 1.0 / len(z), work)


def enumerate_posterior(rule, phi, eta, states, with_hinge=True):
    cost = COST if with_hinge else 0.0
    kind = "multi_task" if rule == "multi_task" else "label_set"
    return normalise(
        np.array(
            [
                document_log_weight(z, WORDS, phi, ALPHA, eta, SIGNS[rule], kind, cost, MARGIN)
                for z in states
            ]
        )
    )


@pytest.mark.parametrize("rule", list(RULES))
def test_log_conditional_equals_the_ratio_of_enumerated_weights(rule):
    topics, scale, eta, by_topic, phi, work = make_problem(1, np.float64)
    hinge = RULES[rule](COST, MARGIN)
    states = assignments(N_TOPICS, len(WORDS))
    posterior = enumerate_posterior(rule, phi, eta, states)
    index = {tuple(z): i for i, z in enumerate(states)}
    worst = 0.0
    for z in states:
        for n in range(len(WORDS)):
            seat(work, z, by_topic)
            work.held[z[n]] -= 1
            log_conditional(
                hinge, by_topic, SIGNS[rule], 1.0 / 4, z[n], topics[WORDS[n]], scale, ALPHA, work
            )
            found = normalise(work.logs[:N_TOPICS])
            others = [(*z[:n], k, *z[n + 1 :]) for k in range(N_TOPICS)]
            expected = posterior[[index[o] for o in others]]
            worst = max(worst, np.abs(found - expected / expected.sum()).max())
    assert worst < 1e-12


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize("stale", [False, True])
def test_bound_times_acceptance_is_the_conditional(rule, stale):
    """Whatever piece of the hinge bounds it, thinning must give back the same law."""
    topics, scale, _, by_topic, _, work = make_problem(2, np.float64)
    hinge, signs, rate = RULES[rule](COST, MARGIN), SIGNS[rule], 1.0 / 4
    for z in assignments(N_TOPICS, len(WORDS)):
        seat(work, (z + 1) % N_TOPICS if stale else z, by_topic)
        constant = choose_piece(hinge, by_topic, signs, rate, scale, ALPHA, work)
        seat(work, z, by_topic)
        work.held[z[0]] -= 1
        thinned = np.zeros(N_TOPICS)
        for k in range(N_TOPICS):
            propose_scores(by_topic, rate, z[0], k, work)
            penalty = penalty_of(hinge, signs, work.proposed, work.slopes, constant)
            assert penalty >= 0.0
            bound = (ALPHA + work.held[k]) * work.factor[k] * topics[WORDS[0], k]
            thinned[k] = bound * np.exp(-penalty)
        log_conditional(hinge, by_topic, signs, rate, z[0], topics[WORDS[0]], scale, ALPHA, work)
        expected = normalise(work.logs[:N_TOPICS])
        np.testing.assert_allclose(thinned / thinned.sum(), expected, atol=1e-12)


@jit
def run_chain(rng, hinge, by_topic, signs, topics, scale, alpha, work, n_sweeps, visits):
    start_document(rng, WORDS, topics, scale, alpha, work)
    score_document(by_topic, 1.0 / 4, work)
    for _ in range(n_sweeps):
        sweep_document(rng, hinge, by_topic, WORDS, signs, topics, scale, alpha, work)
        code = 0
        for n in range(4):
            code = code * N_TOPICS + work.assigned[n]
        visits[code] += 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", list(RULES))
def test_chain_of_one_document_visits_the_enumerated_posterior(rule, dtype):
    topics, scale, eta, by_topic, phi, work = make_problem(3, dtype)
    visits = np.zeros(N_TOPICS**4, dtype=np.int64)
    hinge, rng = RULES[rule](COST, MARGIN), np.random.default_rng(11)
    run_chain(rng, hinge, by_topic, SIGNS[rule], topics, scale, ALPHA, work, 600_000, visits)
    expected = enumerate_posterior(rule, phi, eta, assignments(N_TOPICS, 4))
    assert total_variation(visits / visits.sum(), expected) < 0.01


def test_hinge_matters_in_that_comparison():
    """The bound above must be able to fail: without the hinge the distance is large."""
    _, _, eta, _, phi, _ = make_problem(3, np.float64)
    states = assignments(N_TOPICS, 4)
    with_hinge = enumerate_posterior("label_set", phi, eta, states)
    without = enumerate_posterior("label_set", phi, eta, states, with_hinge=False)
    assert total_variation(with_hinge, without) > 0.1


@jit
def repeat_one_word(rng, hinge, by_topic, signs, topics, scale, alpha, work, n_draws, visits):
    words = np.zeros(1, dtype=np.int32)
    work.assigned[0] = 0
    work.held[0] = 1
    score_document(by_topic, 1.0, work)
    for _ in range(n_draws):
        sweep_document(rng, hinge, by_topic, words, signs, topics, scale, alpha, work)
        visits[work.assigned[0]] += 1


def test_weights_too_small_for_single_precision_fall_back_to_logarithms():
    """Topic 0 has psi = 1 and a tiny Phi, topic 1 the reverse: every product is below 1e-34."""
    topics = np.array([[3e-35, 1.0, 0, 0, 0, 0, 0, 0]], dtype=np.float32)
    scale = np.array([1, 1, 0, 0, 0, 0, 0, 0], dtype=np.float32)
    by_topic = np.zeros((8, 2))
    by_topic[1, 0] = 0.4
    signs, work = np.array([-1, 1], dtype=np.int8), make_workspace(2, 8, 1)
    hinge, visits = LabelSetHinge(200.0, 1e-9), np.zeros(8, dtype=np.int64)
    rng = np.random.default_rng(12)
    repeat_one_word(rng, hinge, by_topic, signs, topics, scale, ALPHA, work, 100_000, visits)
    odds = np.exp(-80.0) / 3e-35
    expected = odds / (1.0 + odds)
    assert visits[:2].sum() == 100_000
    assert abs(visits[1] / 1e5 - expected) < 4.0 * np.sqrt(expected * (1 - expected) / 1e5)


@jit
def run_plain(stream, topics, scale, alpha, work, n_sweeps, visits):
    seed_stream(stream, 5, WORDS)
    start_document(stream, WORDS, topics, scale, alpha, work)
    for _ in range(n_sweeps):
        sweep_plain(stream, WORDS, topics, scale, alpha, False, work)
        code = 0
        for n in range(4):
            code = code * N_TOPICS + work.assigned[n]
        visits[code] += 1


def test_prediction_chain_visits_the_posterior_without_labels():
    topics, scale, eta, _, phi, work = make_problem(5, np.float32)
    visits = np.zeros(N_TOPICS**4, dtype=np.int64)
    stream = np.zeros(1, dtype=np.uint64)
    run_plain(stream, topics, scale, ALPHA, work, 600_000, visits)
    states = assignments(N_TOPICS, 4)
    expected = enumerate_posterior("label_set", phi, eta, states, with_hinge=False)
    assert total_variation(visits / visits.sum(), expected) < 0.01


@jit
def exponentials(values, out):
    for i in range(values.shape[0]):
        out[i] = exponential(values[i])


def test_single_precision_exponential():
    values = -np.geomspace(1e-6, 80.0, 4001).astype(np.float32)
    out = np.empty_like(values)
    exponentials(values, out)
    reference = np.exp(values.astype(np.float64))
    assert np.abs(out / reference - 1.0).max() < 5e-6
    near = values > -5.0
    assert np.abs(out[near] / reference[near] - 1.0).max() < 5e-7
