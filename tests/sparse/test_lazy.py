"""Lazy SSGLD: jumps against long recursions, and whole chains against dense ones."""

import math
from fractions import Fraction

import numba
import numpy as np
import pytest
from scipy import sparse, stats

from bayesmargin.dynamics.lazy import DATA, METRIC, MOMENT, PRECISION, WEIGHT, settle
from bayesmargin.dynamics.lazy_jumps import (
    Flow,
    OwnEuler,
    SharedEuler,
    advance_clock,
    jump,
    reading,
)
from bayesmargin.dynamics.steps import AdaGrad
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import SparseSource
from bayesmargin.samplers import SSGLD
from bayesmargin.samplers.lazy_start import lazy_dynamics
from bayesmargin.samplers.wide_watch import Watch
from bayesmargin.targets.problem import Problem


@numba.njit
def run_clock(steps, curvature, clock):
    for k in range(steps.shape[0]):
        advance_clock(clock, steps[k], curvature)


@numba.njit
def jumped(kind, mark, clock, metric, precision):
    now = (clock[0], clock[1], clock[2], clock[3])
    return jump(kind, mark[0], mark[1], now, metric, precision)


def clock_at(steps, curvature):
    clock = np.array([0.0, 1.0 / curvature, 0.0, 0.0])
    run_clock(steps, curvature, clock)
    return clock


def recursion(steps, metric, precision):
    """Factor and variance by the recursion itself, in extended precision."""
    log_factor, variance = np.longdouble(0.0), np.longdouble(0.0)
    half = np.longdouble(0.5) * metric * precision
    for step in steps.astype(np.longdouble):
        a = 1 - half * step * step
        log_factor += np.log(a)
        variance = a * a * variance + step * step * metric
    return float(log_factor), float(variance)


@pytest.mark.parametrize("gap", [1, 7, 1000, 100_000])
@pytest.mark.parametrize("exponent", [0.0, 1 / 6, 0.5])
def test_shared_jump_equals_the_recursion(gap, exponent):
    before, precision = 5000, 0.7
    steps = 0.05 * (1.0 + np.arange(before + gap) / 10.0) ** -exponent
    start, end = clock_at(steps[:before], precision), clock_at(steps, precision)
    factor, variance = jumped(SharedEuler(precision), start[:2], end, 1.0, precision)
    log_factor, expected = recursion(steps[before:], 1.0, precision)
    assert factor == pytest.approx(math.exp(log_factor), rel=1e-9, abs=1e-14)
    assert variance == pytest.approx(expected, rel=1e-6)


def test_a_gap_of_a_million_steps_forgets_and_stays_finite():
    steps = np.full(10**6, 0.05)
    clock = clock_at(steps, 1.0)
    factor, variance = jumped(SharedEuler(1.0), np.array([0.0, 1.0]), clock, 1.0, 1.0)
    stationary = 1.0 / (1.0 - 0.05**2 / 4)
    assert factor == pytest.approx(0.0, abs=1e-200)
    assert variance == pytest.approx(stationary, rel=1e-9)


@pytest.mark.parametrize("gap", [1, 13, 4000])
def test_own_jump_equals_the_recursion(gap):
    metric, precision, steps = 0.31, 2.4, np.full(gap, 0.2)
    clock = clock_at(steps, 1.0)
    factor, variance = jumped(OwnEuler(0.2), np.zeros(2), clock, metric, precision)
    log_factor, expected = recursion(steps, metric, precision)
    assert factor == pytest.approx(math.exp(log_factor), rel=1e-9)
    assert variance == pytest.approx(expected, rel=1e-9)


def test_flow_is_a_semigroup_and_keeps_the_prior():
    steps = np.linspace(0.3, 0.1, 40)
    middle, end = clock_at(steps[:17], 1.0), clock_at(steps, 1.0)
    first, spread = jumped(Flow(), np.zeros(2), middle, 0.8, 1.7)
    second, added = jumped(Flow(), np.array([middle[3], 0.0]), end, 0.8, 1.7)
    factor, variance = jumped(Flow(), np.zeros(2), end, 0.8, 1.7)
    assert first * second == pytest.approx(factor, rel=1e-12)
    assert second**2 * spread + added == pytest.approx(variance, rel=1e-12)
    assert factor**2 / 1.7 + variance == pytest.approx(1 / 1.7, rel=1e-12)


@numba.njit
def read(kind, clock):
    return reading(kind, (clock[0], clock[1], clock[2], clock[3]))


@pytest.mark.parametrize("schedule", ["constant", "polynomial"])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1e4, 1e6])
def test_the_noise_of_a_wide_prior_is_not_lost(scale, schedule):
    """Sums of a pull of 1e-18 a step stand still, and a chain without noise is no sampler."""
    sampler = SSGLD(step=1e-3, preconditioner=None, control_variates=False, schedule=schedule)
    precision, steps = scale**-2.0, 1e-3 * (1.0 + np.arange(900)) ** -sampler.exponent
    steps = np.full(900, 1e-3) if schedule == "constant" else steps
    kind = lazy_dynamics(sampler, np.full(3, precision), 1e-3, 10).jump
    start, end = clock_at(steps[:500], precision), clock_at(steps, precision)
    mark = np.array([read(kind, start), start[1]])
    assert mark[0] != read(kind, end)
    factor, variance = jumped(kind, mark, end, 1.0, precision)
    log_factor, expected = recursion(steps[500:], 1.0, precision)
    assert factor == pytest.approx(math.exp(log_factor), rel=1e-9)
    assert variance == pytest.approx(expected, rel=1e-3)


@numba.njit
def settled(preconditioner, line, time, step, rng):
    settle(preconditioner, Flow(), line, (0.0, 0.0, time + 1.0, step * step), step, rng)


@pytest.mark.parametrize("lagged", [True, False])
@pytest.mark.parametrize("time", [3.0, 8.0])
def test_the_metric_of_a_lazy_step_is_learned_as_its_settings_say(lagged, time):
    line, step = np.zeros(8), 0.3
    line[[WEIGHT, METRIC, PRECISION, MOMENT, DATA]] = 1.0, 1.0, 0.5, 4.0, 3.0
    settled(AdaGrad(freeze_after=8, lagged=lagged), line, time, step, np.random.default_rng(0))
    after = 13.0 if time < 8.0 else 4.0
    metric = 1.0 / (1e-5 + math.sqrt(4.0 if lagged else after))
    decay = 0.5 * metric * step**2
    noise = math.sqrt((1.0 - math.exp(-decay)) / 0.5) * np.random.default_rng(0).standard_normal()
    expected = math.exp(-0.5 * decay) + noise - 1.5 * metric * step**2
    assert line[MOMENT] == after
    assert line[WEIGHT] == pytest.approx(expected, rel=1e-12)


def test_the_clock_is_exact_for_one_step():
    clock = clock_at(np.array([0.5]), 2.0)
    factor = Fraction(3, 4)
    assert clock[0] == pytest.approx(math.log(factor))
    assert clock[1] == pytest.approx(float(factor**2 * Fraction(1, 2) + Fraction(1, 4)))


def wide_problem(n_classes=2):
    rng = np.random.default_rng(5)
    matrix = sparse.random_array((60, 900), density=0.01, rng=rng, format="csr")
    matrix.data[:] = 1.0
    truth = rng.standard_normal((900, n_classes))
    label = np.argmax(matrix @ truth, axis=1)
    source = SparseSource(matrix, intercept=True)
    size = source.n_columns * (1 if n_classes == 2 else n_classes)
    prior = GaussianBelief(np.full(size, 0.1), np.linspace(0.8, 1.5, size))
    return Problem(source, label, n_classes, np.full(60, 2.0), 1.0, prior)


def endpoints(problem, lazy, seed, settings):
    sampler = SSGLD(batch_size=6, lazy=lazy, burn_in=0, thin=1, **settings)
    ensemble = sampler.start(problem, spawn_generators(seed, 3))
    parts = []
    for chain in ensemble.chains:
        chain.watch = Watch(np.r_[0:900:60, 895:901])
        chain.run(1, 600)
        chain.forget()
        chain.run(150, 120)
        parts.append(np.concatenate(chain.draws))
    return np.concatenate(parts)


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"step": 0.2, "preconditioner": None, "control_variates": False},
        {"step": 0.2, "preconditioner": None, "control_variates": True},
    ],
    ids=["plain", "control variates"],
)
def test_a_lazy_chain_has_the_law_of_the_dense_chain(settings):
    problem = wide_problem()
    mean = 0.0
    lazy = endpoints(problem, True, 3, settings)
    dense = endpoints(problem, False, 4, settings)
    if settings["control_variates"]:
        from bayesmargin.approximation.wide import fit_wide_anchor

        anchor = fit_wide_anchor(problem, spawn_generators(3, 3)[-1])
        mean = anchor.mean[np.r_[0:900:60, 895:901]]
    pairs = zip(lazy.T, (dense + mean).T, strict=True)
    smallest = min(stats.ks_2samp(a, b).pvalue for a, b in pairs)
    assert smallest > 0.001 / lazy.shape[1]


def test_lazy_is_refused_where_it_is_not_exact():
    problem = wide_problem()
    sampler = SSGLD(step=0.1, preconditioner="rmsprop", control_variates=False, lazy=True)
    with pytest.raises(ValueError, match="lazy=True is not allowed"):
        sampler.start(problem, spawn_generators(0, 2))


def test_a_step_beyond_the_priors_stability_is_refused():
    sampler = SSGLD(step=2.0, preconditioner=None, control_variates=False, lazy=True, batch_size=5)
    with pytest.raises(ValueError, match=r"step=2 is not allowed"):
        sampler.start(wide_problem(), spawn_generators(0, 2))
