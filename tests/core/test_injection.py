"""Injected noise and gradient noise together are the same in every coordinate."""

import numpy as np
import pytest

from bayesmargin.dynamics.injection import LEAST, Alike, injected
from bayesmargin.samplers import SGHMC, SSGNHT

STEP = 0.25
NOISE = np.array([0.0, 0.3, 0.5, 1.2])


@pytest.mark.parametrize("integrator", ["ssi", "badodab", "euler"])
def test_a_thermostat_sees_the_same_noise_everywhere(integrator):
    dynamics = SSGNHT(integrator=integrator).dynamics(STEP, 100, NOISE)
    total = dynamics.injection.deviation**2 + STEP**2 * NOISE
    np.testing.assert_allclose(total, 2.0 * STEP + STEP**2 * NOISE.mean())


def test_a_given_friction_is_balanced_by_both_kinds_of_noise():
    sampler = SGHMC(friction=1.5)
    dynamics = sampler.dynamics(STEP, 100, NOISE)
    np.testing.assert_allclose(dynamics.injection.deviation**2 + STEP**2 * NOISE, 2.0 * STEP * 1.5)
    trace = np.ones((1, 1, 3))
    assert sampler.temperature(STEP, NOISE.mean(), trace, NOISE) == pytest.approx(1.0)
    hot = 1.0 + 0.5 * STEP * NOISE.mean() / 1.5
    assert sampler.temperature(STEP, NOISE.mean(), trace) == pytest.approx(hot)


def test_an_estimate_of_the_users_is_taken_at_its_word():
    sampler = SGHMC(noise_estimate=0.25)
    dynamics = sampler.dynamics(STEP, 100, NOISE)
    assert dynamics.injection == Alike(np.sqrt(2.0 * STEP * 0.75))
    found = sampler.temperature(STEP, 2.0, np.ones((1, 1, 3)), NOISE)
    assert found == pytest.approx(1.0 + 0.5 * STEP * 2.0 - 0.25)
    for wrong in (-0.1, 1.0):
        with pytest.raises(ValueError, match=r"it lies in \[0, friction=1.0\)"):
            SGHMC(noise_estimate=wrong)


def test_noise_beyond_all_measure_leaves_some_to_inject():
    injection = injected(2.0 * STEP, STEP, np.array([0.0, 1e6]))
    np.testing.assert_allclose(injection.deviation**2, [2.0 * STEP, LEAST * 2.0 * STEP])
    assert repr(injection) == "Balanced(0.612 to 0.707)"
