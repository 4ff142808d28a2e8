"""Figures of a report against what they should be."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from bayesmargin import MedLDAClassifier
from bayesmargin.calibration.reliability import curve_of, expected_error
from bayesmargin.report.context import make_context
from bayesmargin.report.frame import tick_label, ticks
from bayesmargin.report.sections.accuracy import headline
from bayesmargin.report.sections.weights import topic_weights


def test_figures_of_accuracy_and_calibration():
    held = SimpleNamespace(predicted=np.array([0, 1, 1, 0]), truth=np.array([0, 1, 0, 0]))
    assert headline(held) == pytest.approx((0.75, np.sqrt(0.75 * 0.25 / 4)))
    perfect = SimpleNamespace(predicted=np.zeros(60), truth=np.zeros(60))
    assert headline(perfect) == pytest.approx((1.0, np.sqrt(61 / 62 * 1 / 62 / 62)))
    hopeless = SimpleNamespace(predicted=np.ones(60), truth=np.zeros(60))
    assert headline(hopeless) == pytest.approx((0.0, headline(perfect)[1]))
    chance = np.repeat([0.2, 0.8], 500)
    honest = (
        np.tile(np.repeat([1.0, 0.0], [1, 4]), 100),
        np.tile(np.repeat([1.0, 0.0], [4, 1]), 100),
    )
    assert curve_of(chance, np.concatenate(honest)).calibration_error == pytest.approx(0.0)
    assert curve_of(chance, np.zeros(1000)).calibration_error == pytest.approx(0.5)


def test_few_cases_prove_no_certainty_in_a_bin():
    """Twelve failures in a row leave room for a chance of one in ten."""
    curve = curve_of(np.r_[np.full(12, 0.1), np.full(12, 0.5)], np.zeros(24), 2)
    assert curve.observed.tolist() == [0.0, 0.0]
    assert curve.error == pytest.approx([np.sqrt(1 / 14 * 13 / 14 / 14)] * 2)
    usual = curve_of(np.full(8, 0.3), np.array([1.0] * 2 + [0.0] * 6), 1)
    assert usual.error == pytest.approx([np.sqrt(0.25 * 0.75 / 8)])


def test_expected_error_of_perfect_forecasts():
    """The simulated bound is passed by about one in twenty perfect forecasters."""
    rng = np.random.default_rng(1)
    chance = rng.random(300)
    mean, bound = expected_error(chance)
    events = rng.random((400, 300)) < chance
    found = np.array([curve_of(chance, event.astype(float)).calibration_error for event in events])
    assert mean == pytest.approx(found.mean(), abs=4 * found.std() / 15)
    assert 0.015 < (found > bound).mean() < 0.1


@pytest.mark.parametrize("size", [1e-18, 1e-13, 1e-3, 1.0, 1e15])
def test_ticks_are_as_many_on_every_scale(size):
    """Weights of features in nanoseconds are that small."""
    found = ticks(-0.2 * size, 0.3 * size)
    assert np.array(found) / size == pytest.approx([-0.2, -0.1, 0.0, 0.1, 0.2, 0.3], abs=1e-9)
    assert len({tick_label(value, found) for value in found}) == 6


@pytest.mark.parametrize("multi_class", ["crammer_singer", "ovr"])
def test_weights_of_topics_are_those_of_the_model(multi_class):
    rng = np.random.default_rng(0)
    y = np.repeat(["moon", "sun", "star"], 30)
    rates = 0.3 + 3.0 * (np.arange(6) // 2 == np.repeat(np.arange(3), 30)[:, None])
    counts = sparse.csr_matrix(rng.poisson(rates).astype(float))
    model = MedLDAClassifier(n_topics=4, multi_class=multi_class, random_state=0).fit(counts, y)
    context = make_context(model, {"vocabulary": list("abcdef")}, None)
    for block in range(3):
        names, draws = topic_weights(context, block)
        places = [context.topic_names.index(name) for name in names]
        np.testing.assert_allclose(draws.mean(axis=0), model.coef_[block, places], rtol=1e-6)
