"""Figures of a report against what they should be."""

from types import SimpleNamespace

import numpy as np
import pytest

from bayesmargin.reliability import curve_of, expected_error
from bayesmargin.report.sections.accuracy import headline


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


def test_expected_error_of_perfect_forecasts():
    """The simulated bound is passed by about one in twenty perfect forecasters."""
    rng = np.random.default_rng(1)
    chance = rng.random(300)
    mean, bound = expected_error(chance)
    events = rng.random((400, 300)) < chance
    found = np.array([curve_of(chance, event.astype(float)).calibration_error for event in events])
    assert mean == pytest.approx(found.mean(), abs=4 * found.std() / 15)
    assert 0.015 < (found > bound).mean() < 0.1
