"""The stochastic chain: its movers, its start, and its law on a corpus small enough to list."""

import numpy as np
import pytest

from bayesmargin.models.medlda import ssgrld
from bayesmargin.models.medlda.crew import N_SHARES, Crew
from bayesmargin.models.medlda.hinges import LabelSetHinge, MultiTaskHinge
from bayesmargin.models.medlda.ssgrld import Chain, Settings, starting_weights
from bayesmargin.models.medlda.weights import LangevinMover, ThermostatMover
from bayesmargin.random import spawn_generators

from .enumeration import assignments, document_log_weight, normalise, total_variation
from .test_baselines import (
    ALPHA,
    BETA,
    COST,
    DOCUMENTS,
    MARGIN,
    N_TOPICS,
    SIGNS,
    VOCABULARY,
    enumerate_collapsed,
)


@pytest.mark.parametrize("mover", [LangevinMover(0.1), ThermostatMover(0.2)])
def test_movers_sample_a_gaussian_through_noisy_gradients(mover):
    """Energy x^2 / (2 v) for many coordinates at once; the noise of gradients is part of it."""
    rng = np.random.default_rng(1)
    variance, position = 2.0, np.zeros((1, 400))
    if isinstance(mover, ThermostatMover):
        mover.start(position.shape, rng)
    squares = []
    for t in range(6000):
        halfway = mover.before(position)
        position = mover.after(halfway, halfway / variance, rng)
        if t >= 500:
            squares.append(np.mean(position**2))
    series = np.array(squares)[: len(squares) // 50 * 50].reshape(50, -1).mean(axis=1)
    error = 4.0 * series.std(ddof=1) / np.sqrt(50)
    # Euler steps of size h^2 = 0.1 inflate the variance by h^2/(4 v): a part in eighty.
    assert abs(series.mean() - variance) < error + 0.02 * variance


def test_thermostat_absorbs_the_noise_of_minibatches():
    rng = np.random.default_rng(2)
    mover = ThermostatMover(0.1)
    position = np.zeros((1, 2000))
    mover.start(position.shape, rng)
    frictions = []
    for t in range(6000):
        halfway = mover.before(position)
        noisy = halfway + 4.0 * rng.standard_normal(halfway.shape)
        position = mover.after(halfway, noisy, rng)
        if t > 1000:
            frictions.append(mover.friction)
    # A + h V / 2 = 1 + 0.1 * 16 / 2
    assert abs(np.mean(frictions) - 1.8) < 0.05
    assert abs(np.mean(position**2) - 1.0) < 0.15


def test_every_class_starts_with_topics_of_its_own():
    coef = starting_weights(LabelSetHinge(1.0, 10.0), 3, 7)
    assert (coef.argmax(axis=1) == [0, 1, 2]).all()
    assert (coef.sum(axis=0) == 10.0).all()
    binary = starting_weights(MultiTaskHinge(1.0, 10.0), 1, 4)
    np.testing.assert_array_equal(binary, [[-10.0, 10.0, -10.0, 10.0]])


def make_chain(seed, **changes):
    settings = Settings(
        hinge=MultiTaskHinge(COST, MARGIN),
        n_topics=N_TOPICS,
        n_words=VOCABULARY,
        n_classes=1,
        alpha=ALPHA,
        beta=BETA,
        prior_variance=1.0,
        n_sweeps=12,
        n_discarded=2,
        topic_sampler="scir",
        topic_step=0.08,
    )
    return Chain(
        settings._replace(**changes), LangevinMover(0.05), spawn_generators(seed, N_SHARES)
    )


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["scir", "sgrld"])
def test_chain_has_the_enumerated_posterior_of_assignments(sampler, monkeypatch):
    """Small constant steps and full batches: only discretisation is left, and it is small.

    Along the chain the law of all assignments given (Phi, eta) is listed and averaged; it must be
    the posterior with Phi integrated analytically and eta by quadrature.
    """
    monkeypatch.setattr(ssgrld, "TOPIC_DECAY", 0.0)
    step = {"scir": 0.03, "sgrld": 0.01}[sampler]
    chain = make_chain(4, topic_sampler=sampler, topic_step=step)
    states = assignments(N_TOPICS, 3)
    both, average, kept = np.arange(2), np.zeros((8, 8)), 0
    with Crew(1, chain.make_tool) as crew:
        for t in range(120_000):
            chain.step(DOCUMENTS, SIGNS, both, 2, crew)
            if t >= 1000 and t % 5 == 0:
                phi = chain.topics[:, :N_TOPICS].T.astype(float)
                phi /= phi.sum(axis=1, keepdims=True)
                laws = [
                    normalise(
                        np.array(
                            [
                                document_log_weight(
                                    z,
                                    DOCUMENTS.words[3 * d : 3 * d + 3],
                                    phi,
                                    ALPHA,
                                    chain.coef,
                                    SIGNS[d],
                                    "multi_task",
                                    COST,
                                    MARGIN,
                                )
                                for z in states
                            ]
                        )
                    )
                    for d in range(2)
                ]
                average += np.outer(laws[0], laws[1])
                kept += 1
    # Topics have no names: the mirrored law is the same law, and folding halves the noise.
    folded = 0.5 * (average + average[::-1, ::-1]).ravel() / kept
    assert total_variation(folded, enumerate_collapsed()) < 0.01


def test_step_does_not_depend_on_the_number_of_threads():
    one, two = make_chain(5), make_chain(5)
    with Crew(1, one.make_tool) as first, Crew(3, two.make_tool) as second:
        for _ in range(20):
            one.step(DOCUMENTS, SIGNS, np.arange(2), 2, first)
            two.step(DOCUMENTS, SIGNS, np.arange(2), 2, second)
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.topics, two.topics)
