"""The stochastic chain: its movers, its start, and its law on a corpus small enough to list."""

import numpy as np
import pytest

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.foundation.threads import N_SHARES
from bayesmargin.models.medlda.batches import sample_documents
from bayesmargin.models.medlda.conditionals import make_workspace
from bayesmargin.models.medlda.flow import absorb, catch_up, quantile_table
from bayesmargin.models.medlda.hinges import LabelSetHinge, MultiTaskHinge
from bayesmargin.models.medlda.settings import Settings
from bayesmargin.models.medlda.ssgrld import Chain
from bayesmargin.models.medlda.tools import Minibatch, ToolPool
from bayesmargin.models.medlda.topics import step_sgrld
from bayesmargin.models.medlda.weights import LangevinMover, ThermostatMover, starting_weights

from .compiled import jit
from .enumeration import total_variation
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
        position = mover.after(position, position / variance, rng)
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
        noisy = position + 4.0 * rng.standard_normal(position.shape)
        position = mover.after(position, noisy, rng)
        if t > 1000:
            frictions.append(mover.friction)
    # A + h V / 2 = 1 + 0.1 * 16 / 2
    assert abs(np.mean(frictions) - 1.8) < 0.05
    assert abs(np.mean(position**2) - 1.0) < 0.15


def test_every_class_starts_with_topics_of_its_own():
    rng = np.random.default_rng(1)
    coef = starting_weights(LabelSetHinge(1.0, 10.0), 3, 7, rng)
    assert sorted(coef.argmax(axis=1)) == [0, 1, 2]
    assert (coef.sum(axis=0) == 10.0).all()
    binary = starting_weights(MultiTaskHinge(1.0, 10.0), 1, 4, rng)
    np.testing.assert_array_equal(np.abs(binary), 10.0)
    np.testing.assert_array_equal(binary[:, :2], -binary[:, 1::-1])
    np.testing.assert_array_equal(binary[:, :2], binary[:, 2:])


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


@jit
def run_chain(rng, exact, table, hinge, corpus, n_steps, sweeps, steps, visits, work):
    """The steps of ``Chain.step`` for two documents at once, compiled, with constant steps.

    The assignments that each document ends with are counted as one state.
    """
    words, offsets, signs = corpus
    n_sweeps, n_discarded = sweeps
    topic_step, weight_step = steps
    width = 8
    topics, sums = np.zeros((VOCABULARY, width), dtype=np.float32), np.zeros(width)
    topics[:, :N_TOPICS] = 1.0
    coef, by_topic = np.zeros(N_TOPICS), np.zeros((width, 1))
    scale, rates = np.zeros(width, dtype=np.float32), np.zeros(width, dtype=np.float32)
    counts = np.zeros((VOCABULARY, width), dtype=np.int32)
    lanes = rng.integers(1, 2**32, size=width).astype(np.uint32)
    marks, partial = np.ones(VOCABULARY, dtype=np.int8), np.zeros(width, dtype=np.float32)
    priors = np.zeros(width, dtype=np.float32)
    priors[:N_TOPICS] = BETA
    stream, change = np.array([3], dtype=np.uint64), np.zeros(width)
    moved, everything = np.zeros((VOCABULARY, 2)), np.arange(VOCABULARY)
    for t in range(n_steps):
        clock = t * topic_step
        if exact:
            catch_up(rng, stream, table, topics, moved, everything, N_TOPICS, BETA, clock, change)
        gradient, totals = np.zeros((1, width)), np.zeros(width)
        for k in range(N_TOPICS):
            sums[k] = topics[:, k].sum()
            scale[k] = 1.0 / sums[k]
            by_topic[k, 0] = coef[k]
        counts[:] = 0
        state = 0
        for d in range(2):
            sample_documents(
                rng,
                hinge,
                by_topic,
                words,
                offsets,
                signs,
                np.array([d]),
                topics,
                scale,
                ALPHA,
                n_sweeps,
                n_discarded,
                counts,
                totals,
                gradient,
                work,
            )
            for n in range(3):
                state = state * 2 + work.assigned[n]
        visits[state] += 1
        inflation = 1.0 / (n_sweeps - n_discarded)
        for k in range(N_TOPICS):
            slope = coef[k] - inflation * gradient[0, k]
            noise = np.sqrt(weight_step) * rng.standard_normal()
            coef[k] += -0.5 * weight_step * slope + noise
            rates[k] = 1.0 + inflation * totals[k] / sums[k]
        if exact:
            absorb(
                rng,
                stream,
                topics,
                moved,
                everything,
                counts,
                N_TOPICS,
                BETA,
                inflation,
                topic_step,
                clock + topic_step,
                change,
            )
        else:
            step_sgrld(
                lanes, topics, marks, counts, rates, priors, inflation, topic_step, partial, sums
            )


CASES = [
    ("scir", 0.05, 100_000, 0.03),
    ("sgrld", 0.01, 100_000, 0.06),
    pytest.param("scir", 0.02, 2_000_000, 0.01, marks=pytest.mark.slow),
]


def distance_from_posterior(sampler, steps, n_steps, sweeps, seeds=(5,)):
    """Total variation between the assignments along chains and the enumerated posterior."""
    visits = np.zeros(64)
    hinge, table = MultiTaskHinge(COST, MARGIN), quantile_table(min(BETA, 0.5))
    corpus, work = (DOCUMENTS.words, DOCUMENTS.offsets, SIGNS), make_workspace(1, 8, 3)
    exact = sampler == "scir"
    for seed in seeds:
        rng = np.random.default_rng(seed)
        run_chain(rng, exact, table, hinge, corpus, n_steps, sweeps, steps, visits, work)
    # Topics have no names: the mirrored law is the same law, and folding halves the noise.
    folded = 0.5 * (visits + visits[::-1]) / visits.sum()
    return total_variation(folded, enumerate_collapsed())


@pytest.mark.parametrize(("sampler", "topic_step", "n_steps", "tolerance"), CASES)
def test_chain_has_the_enumerated_posterior_of_assignments(sampler, topic_step, n_steps, tolerance):
    """Full batches and small steps leave the discretisation alone, and that is small.

    The law of all assignments along the chain must be the posterior in which Phi is integrated
    analytically and eta by quadrature. The mirrored steps of SGRLD have an error of the order of
    the root of the step where counts are small (here 0.024), which the exact flow has not.
    """
    steps = (topic_step, 0.5 * topic_step)
    assert distance_from_posterior(sampler, steps, n_steps, (20, 5)) < tolerance


@pytest.mark.slow
def test_error_of_sgrld_falls_as_the_root_of_the_step_and_vanishes():
    """A weight near zero moves by the root of the step, and the mirror bends its law that far.

    Four times smaller steps must halve the distance from the posterior; nothing else may be left
    of it at a step small enough. Weights take small steps throughout.
    """
    plan = [(0.04, 500_000), (0.01, 1_000_000), (0.0025, 3_000_000), (0.0006, 12_000_000)]
    found = [
        distance_from_posterior("sgrld", (step, 0.005), n_steps, (8, 2), (5, 6))
        for step, n_steps in plan
    ]
    # About 0.054, 0.024, 0.013 and 0.006; the Monte Carlo noise is 0.002 to 0.005.
    assert 1.6 < found[0] / found[1] < 2.7
    assert 1.4 < found[1] / found[2] < 2.8
    assert found[3] < 0.01


def test_step_does_not_depend_on_the_number_of_threads():
    one, two = make_chain(5), make_chain(5)
    with ToolPool(1, one.make_tool) as first, ToolPool(3, two.make_tool) as second:
        for _ in range(20):
            one.step(Minibatch(DOCUMENTS, SIGNS, np.arange(2), 2, first))
            two.step(Minibatch(DOCUMENTS, SIGNS, np.arange(2), 2, second))
    np.testing.assert_array_equal(one.coef, two.coef)
    np.testing.assert_array_equal(one.topics, two.topics)
