"""The austerity test: exact at epsilon zero, and wrong as rarely as promised otherwise."""

import numpy as np
import pytest

from bayesmargin.approximation.exact import complete_target
from bayesmargin.dynamics.base import initial_state
from bayesmargin.dynamics.random_walk import AusterityWalk, critical_values, sequential_test
from bayesmargin.foundation.compiling import jit
from bayesmargin.running.chains import record
from bayesmargin.targets.rows import workspace
from bayesmargin.validation.problems import five_rows, small_problem
from bayesmargin.validation.quadrature import energies


@jit
def decide(dynamics, target, now, proposed, threshold, first, work):
    return sequential_test(dynamics, target, now, proposed, threshold, first, work)


def test_epsilon_zero_is_metropolis_decision_for_decision():
    problem = five_rows()
    target = complete_target(problem).target
    dynamics = AusterityWalk(0.8, 2, critical_values(5, 2, 0.0), 1)
    start = np.array([0.2, -0.4])
    state = initial_state(start, np.random.default_rng(1), 0.0)
    n_steps = 3000
    draws, trace = np.empty((n_steps, 2)), np.empty((n_steps, 3))
    rng = np.random.default_rng(2)
    record(dynamics, target, state, workspace(target, np.float64), rng, 1, draws, trace)

    rng, weights = np.random.default_rng(2), start
    at = energies(problem, weights[None])[0]
    for k in range(n_steps):
        proposal = weights + 0.8 * np.array([rng.standard_normal() for _ in range(2)])
        uniform = 1.0 - rng.random()
        rng.random()  # where the reading of rows begins
        there = energies(problem, proposal[None])[0]
        if np.log(uniform) < at - there:
            weights, at = proposal, there
        assert np.allclose(draws[k], weights, rtol=1e-12, atol=1e-14), k
        weights = draws[k].copy()  # compiled code may round a sum differently


@pytest.mark.parametrize(
    ("gap", "epsilon", "allowed"),
    [(0.02, 0.05, 0.033), (0.02, 0.01, 0.013), (0.005, 0.05, 0.16), (0.005, 0.01, 0.027)],
)
def test_wrong_decisions_are_as_rare_as_published(gap, epsilon, allowed):
    n_rows, batch = 20_000, 500
    rng = np.random.default_rng(7)
    rows = rng.standard_normal((n_rows, 1))
    problem = small_problem(rows, np.ones(n_rows, dtype=int), margin=100.0)
    target = complete_target(problem).target  # every row active: the log ratios are rows * 0.1
    work = workspace(target, np.float64)
    now, proposed = np.zeros(1), np.full(1, 0.1)
    ratios = 0.1 * rows[:, 0]
    threshold = ratios.mean() - gap * ratios.std()
    dynamics = AusterityWalk(0.1, batch, critical_values(n_rows, batch, epsilon), 1000)
    wrong, read = 0, 0
    for first in rng.integers(0, n_rows, 1500):
        accept, count = decide(dynamics, target, now, proposed, threshold, first, work)
        wrong += not accept
        read += count
    assert wrong / 1500 <= 3.0 * allowed
    assert read / 1500 < n_rows  # it saves reading


def test_equal_ratios_decide_only_after_the_minimum():
    """Rows far beyond their margins all have ratio zero: no spread, and no early decision."""
    rows = np.full((4000, 1), 50.0)
    target = complete_target(small_problem(rows, np.ones(4000, dtype=int))).target
    work = workspace(target, np.float64)
    dynamics = AusterityWalk(0.1, 100, critical_values(4000, 100, 0.05), 1000)
    accept, count = decide(dynamics, target, np.ones(1), np.full(1, 1.1), -1e-4, 0, work)
    assert accept
    assert count == 1000
