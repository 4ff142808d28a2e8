"""The thermostat of the array engine under gradients with noise that nobody told it of."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")

from bayesmargin.engines import dynamics
from bayesmargin.engines.dynamics import Chains, Thermostat, thermostat_step

STEP, NOISE = 0.18, 2.4


def noisy(target, layout, position, keys):
    """Gradient of a standard normal law, and noise."""
    draw = jax.vmap(lambda key: jax.random.normal(key, position.shape[1:]))
    return position + np.sqrt(NOISE) * draw(keys)


def test_positions_and_drifts_have_temperature_one_whatever_the_noise(monkeypatch):
    size = 4000
    monkeypatch.setattr(dynamics, "estimated_gradient", noisy)
    monkeypatch.setattr(dynamics, "freedom", lambda target, layout: size)
    monkeypatch.setattr(dynamics, "without_common", lambda target, layout, position: position)
    key = jax.random.key(0)
    start = jax.random.normal(key, (2, 1, 1, size))
    chains = Chains(*start, np.ones(1, np.float32), np.zeros(1, np.int32),
                    jax.random.key_data(key)[None])  # fmt: skip

    def step(chains, _):
        moved, warmth = thermostat_step(Thermostat(STEP, 1.0), None, None, chains)
        after = jax.numpy.square(moved.momentum).mean()
        return moved, (jax.numpy.square(moved.position).mean(), warmth[0], after)

    _, found = jax.jit(lambda chains: jax.lax.scan(step, chains, length=3000))(chains)
    spread, warmth, after = (np.asarray(part)[500:].mean() for part in found)
    assert spread == pytest.approx(1.0, abs=0.01)
    assert warmth == pytest.approx(1.0, abs=0.005)
    assert after == pytest.approx(1.0 - STEP**2 * NOISE / 2, abs=0.005)  # what friction leaves
