"""What rows that come and go owe to the momentum of the thermostat."""

import numpy as np
import pytest

from bayesmargin.dynamics.injection import Alike
from bayesmargin.dynamics.steps import Unscaled
from bayesmargin.dynamics.thermostat import CentredThermostat, Unbounded
from bayesmargin.foundation.compiling import jit
from bayesmargin.models.infinite_svc.chain import Settings, start_chain
from bayesmargin.models.infinite_svc.expert_target import move_expert
from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
from bayesmargin.models.infinite_svc.state import Hinge
from bayesmargin.models.infinite_svc.weights import empty_scratch
from bayesmargin.models.infinite_svc.weights_thermostat import Thermostat

HINGE = Hinge(3.0, 1.0)


@jit
def _open(dynamics, source, mixture):
    move_expert(dynamics, source, 0, mixture, 1, 0, True, empty_scratch(3, 3))


def _chain(design, labels, classes, method, clusters, concentration=1.0):
    base = make_base(np.zeros(0), 1.0, 2.0, np.eye(0), 1.0, len(labels))
    rows = make_rows(np.zeros((len(labels), 0)), design, labels, base, HINGE)
    settings = Settings(HINGE, method)
    rng = np.random.default_rng(5)
    return start_chain(rng, rows, base, settings, clusters, classes, concentration)


def _pull(chain, slot, members):
    """Sum of the subgradients of the members' log psi / c at the present weights, by hand."""
    weights = chain.components.weights[slot]
    total = np.zeros_like(weights)
    for d in members:
        row, label = chain.rows.design[d], chain.rows.labels[d]
        scores = weights @ row
        if len(scores) == 1:
            sign = 2 * label - 1
            total[0] += sign * row * (sign * scores[0] < 1.0)
            continue
        others = np.where(np.arange(len(scores)) == label, -np.inf, scores)
        rival = others.argmax()
        if 1.0 + others[rival] > scores[label]:
            total[label] += row
            total[rival] -= row
    return total


@pytest.mark.parametrize(
    ("score_scale", "steps", "sweeps"),
    [
        (1.5, 4, 50_000),
        pytest.param(1.5, 4, 150_000, marks=pytest.mark.slow),
        pytest.param(1.5, 1, 150_000, marks=pytest.mark.slow),
        pytest.param(4.0, 4, 150_000, marks=pytest.mark.slow),
    ],
)
def test_an_expert_drawn_exactly_keeps_its_law_while_it_moves(score_scale, steps, sweeps):
    """A lone row gives birth to its component in every sweep, with the right law of its score.

    A whole kick to a fresh momentum would push the expert towards its row.
    """
    method = Thermostat(0.1, steps, 0, 1.0)
    design = np.array([[score_scale, 0.0]])
    chain = _chain(design, np.array([1]), 2, method, np.zeros(1, int))
    values = np.empty(sweeps)
    for t in range(sweeps):
        chain.sweep()
        slot = chain.assignment.slot[0]
        values[t] = chain.components.weights[slot, 0] @ design[0]
    score = np.linspace(-9.0, 9.0, 20_001) * score_scale
    law = np.exp(-0.5 * (score / score_scale) ** 2 - 3.0 * np.maximum(1.0 - score, 0.0))
    law /= law.sum()
    for f in (np.positive, np.square, lambda s: np.maximum(1.0 - s, 0.0)):
        found = f(values)
        gap = found.mean() - (law * f(score)).sum()
        assert abs(gap) < 4.0 * found.std() / np.sqrt(sweeps), gap


@pytest.mark.parametrize("classes", [2, 4])
def test_drift_is_what_moving_rows_change_in_the_pull(classes):
    rng = np.random.default_rng(0)
    design, labels = rng.normal(size=(60, 3)), rng.integers(0, classes, 60)
    clusters = rng.integers(0, 4, 60)
    method = Thermostat(0.1, 3, 0, 1.0)
    chain = _chain(design, labels, classes, method, clusters, concentration=3.0)
    moved = lived = 0
    for _ in range(30):
        before, ages = chain.assignment.slot.copy(), chain.components.age.copy()
        moved += chain._sweep_assignments()
        for slot in np.unique(chain.assignment.slot):
            now = _pull(chain, slot, np.flatnonzero(chain.assignment.slot == slot))
            np.testing.assert_allclose(chain.components.pull[slot], now, atol=1e-12)
            if slot < len(ages) and chain.components.age[slot] == ages[slot] > 0:
                then = _pull(chain, slot, np.flatnonzero(before == slot))
                np.testing.assert_allclose(chain.components.drift[slot], now - then, atol=1e-12)
                lived += 1
        chain.sweep()
    assert moved > 100
    assert lived > 50


@pytest.mark.parametrize("age", [1, 2])
def test_the_opening_kick_has_a_half_of_the_rows_before_and_a_half_of_those_now(age):
    """A step too short to turn friction or position leaves the kick in the momentum."""
    rng = np.random.default_rng(1)
    design, labels = rng.normal(size=(8, 3)), rng.integers(0, 3, 8)
    chain = _chain(design, labels, 3, Thermostat(0.1, 3, 0, 1.0), np.zeros(8, int))
    components = chain.components
    components.weights[0] = rng.normal(size=(3, 3))
    components.width[0], components.age[0] = 0.7, age
    then, now = _pull(chain, 0, range(5)), _pull(chain, 0, range(2, 8))
    components.pull[0], components.drift[0] = now, now - then
    components.momentum[0], components.thermostat[0] = 0.0, 0.0
    slopes = [components.weights[0] - HINGE.cost * pull for pull in (then, now)]
    due = 0.5 * slopes[1] if age == 1 else 0.5 * (slopes[0] + slopes[1])
    step, silent = 1e-7, Alike(0.0)
    dynamics = CentredThermostat(step, silent, Unscaled(), Unbounded(), 1.0)
    _open(dynamics, chain.stream, chain.mixture)
    np.testing.assert_allclose(components.momentum[0], -step * 0.7 * due, atol=1e-12)
