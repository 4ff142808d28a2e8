"""The thermostat of the array engine under gradients with noise, told of it and not."""

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="the array engine needs JAX, which is not installed")

from bayesmargin.engines import dynamics
from bayesmargin.engines.dynamics import Chains, Thermostat, thermostat_step

STEP, NOISE, SIZE = 0.18, 2.4, 4000


def ran(monkeypatch, variance, thermostat, curvature=1.0):
    """Means of squares (position), warmth and momentum under a normal law and noisy gradients."""

    def noisy(target, layout, position, keys):
        draw = jax.vmap(lambda key: jax.random.normal(key, position.shape[1:]))
        return curvature * position + np.sqrt(variance) * draw(keys)

    monkeypatch.setattr(dynamics, "estimated_gradient", noisy)
    monkeypatch.setattr(dynamics, "freedom", lambda target, layout: SIZE)
    monkeypatch.setattr(dynamics, "without_common", lambda target, layout, position: position)
    key = jax.random.key(0)
    start = jax.random.normal(key, (2, 1, 1, SIZE))
    chains = Chains(*start, np.ones(1, np.float32), np.zeros(1, np.int32),
                    jax.random.key_data(key)[None])  # fmt: skip

    def step(chains, _):
        moved, warmth = thermostat_step(thermostat, None, None, chains)
        after = jax.numpy.square(moved.momentum).mean()
        return moved, (jax.numpy.square(moved.position[0, 0]), warmth[0], after)

    def sums(chains, total, length):
        def one(carried, _):
            chains, total = carried
            chains, found = step(chains, None)
            return (chains, jax.tree.map(lambda a, b: a + b / length, total, found)), None

        return jax.lax.scan(one, (chains, total), length=length)[0]

    empty = (np.zeros(SIZE, np.float32), np.float32(0.0), np.float32(0.0))
    warm, _ = jax.jit(lambda chains: sums(chains, empty, 500))(chains)
    _, found = jax.jit(lambda chains: sums(chains, empty, 2500))(warm)
    return [np.asarray(part) for part in found]


def test_positions_and_drifts_have_temperature_one_whatever_the_noise(monkeypatch):
    spread, warmth, after = ran(monkeypatch, NOISE, Thermostat(STEP, 1.0))
    assert spread.mean() == pytest.approx(1.0, abs=0.01)
    assert warmth == pytest.approx(1.0, abs=0.005)
    assert after == pytest.approx(1.0 - STEP**2 * NOISE / 2, abs=0.005)  # what friction leaves


def test_noise_of_some_directions_warms_none_of_them_where_it_is_told(monkeypatch):
    variance = np.where(np.arange(SIZE) < SIZE // 2, 0.0, 2.0 * NOISE).astype(np.float32)

    def halves(thermostat):
        return ran(monkeypatch, variance, thermostat)[0].reshape(2, -1).mean(axis=1)

    assert halves(Thermostat(STEP, 1.0).told(variance[None])) == pytest.approx(1.0, abs=0.015)
    cold, warm = halves(Thermostat(STEP, 1.0))  # as bad as it would be
    assert cold < 0.85
    assert warm > 1.15


@pytest.mark.parametrize(("share", "bound"), [(1.0, 0.02), (0.7, 0.06)])
def test_noise_with_the_shape_of_the_curvature_warms_no_direction(monkeypatch, share, bound):
    """Half of the directions are stiff, half soft, as seen in a basis in which none of them is.

    There noise looks alike in all coordinates, and a part of it may have another shape.
    """
    curvature = np.where(np.arange(SIZE) < SIZE // 2, 1.8, 0.2).astype(np.float32)
    variance = NOISE * (share * curvature + 1.0 - share)
    told = Thermostat(STEP, 1.0).told(np.full((1, SIZE), NOISE, np.float32))
    spread = ran(monkeypatch, variance, told, curvature)[0] * curvature
    off = np.abs(spread.reshape(2, -1).mean(axis=1) - 1.0)
    assert off.max() < bound, off
    alone = ran(monkeypatch, variance, Thermostat(STEP, 1.0), curvature)[0] * curvature
    cold = 1.0 - alone[SIZE // 2 :].mean()  # as bad as it would be
    assert cold > 0.1
