"""The stochastic samplers against their known laws: bias rows, orders, thermostat, scales."""

from dataclasses import replace

import numpy as np
import pytest

from bayesmargin.diagnostics.stein import gradient_noise
from bayesmargin.dynamics.thermostat import CentredThermostat
from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.samplers import SSGLD, SSGNHT, Auto
from bayesmargin.targets.rows import workspace
from bayesmargin.validation import bias_curve, moment_scores, quadrature
from bayesmargin.validation.agreement import monte_carlo_error
from bayesmargin.validation.bias import long_run
from bayesmargin.validation.kernels import plain_target
from bayesmargin.validation.problems import five_rows, many_kinks, one_kink, small_problem

RAW = {"preconditioner": None, "control_variates": False}
ROWS = {  # step: bias of E x, E x^2, P(x < 1) of the invariant law, by integration
    0.4: (9.78e-3, 9.51e-2, 3.26e-3),
    0.2: (2.42e-3, 2.16e-2, 8.1e-4),
}


@pytest.mark.parametrize("step", [0.4, pytest.param(0.2, marks=pytest.mark.slow)])
def test_langevin_has_the_published_bias(step):
    n_draws, thin = (400_000, 10) if step == 0.4 else (1_000_000, 30)
    draws, _ = long_run(SSGLD(step=step, **RAW), one_kink(), n_draws, thin, seed=1)
    x = draws[..., 0]
    truth = np.array([1.1736773, 1.7356427, 0.3912258])
    for values, exact, bias in zip((x, x**2, x < 1.0), truth, ROWS[step], strict=True):
        mean, error = monte_carlo_error(values.astype(float))
        assert abs(mean - exact - bias) < 4.0 * error
        if step == 0.4:
            assert 3.0 * error < bias  # fine enough to tell the biased law from the exact one


ORDERS = {  # step to sampler, steps, draws, iterations between draws, order, tolerance
    "ssgld": (
        lambda h: SSGLD(step=h, **RAW),
        (0.15, 0.2, 0.25, 0.32, 0.4),
        25_000,
        lambda h: 1.0 / h**2,
        2.0,
        0.3,
    ),
    "ssi": (
        lambda h: SSGNHT(step=h, **RAW),
        (0.14, 0.18, 0.23, 0.29, 0.36),
        30_000,
        lambda h: 2.5 / h,
        2.0,
        0.5,
    ),
    "euler": (
        lambda h: SSGNHT(step=h, integrator="euler", **RAW),
        (0.03, 0.045, 0.065, 0.09, 0.13),
        8_000,
        lambda h: 3.0 / h,
        1.0,
        0.3,
    ),
}


@pytest.mark.parametrize("name", ORDERS)
def test_order_of_the_bias_in_the_step(name):
    """Thirty independent kinks: thirty times the statistics, and a thermostat as in real use."""
    make, steps, n_draws, pace, order, tolerance = ORDERS[name]
    thin = [max(1, round(pace(h))) for h in steps]
    curve = bias_curve(
        make,
        many_kinks(),
        lambda w: (w**2).mean(axis=-1),
        steps,
        n_draws,
        thin,
        seed=3,
        truth=1.7356427,
    )
    assert curve.order_error < 0.5 * tolerance, curve
    assert curve.order == pytest.approx(order, abs=tolerance), curve


def second_moment(integrator, step, problem):
    """Mean of the squared weights and its Monte Carlo error."""
    sampler = SSGNHT(step=step, integrator=integrator, **RAW)
    draws, _ = long_run(sampler, problem, 6_000, max(1, round(2.5 / step)), seed=3)
    return monte_carlo_error((draws**2).mean(axis=-1))


def test_badodab_is_exact_for_quadratic_energies_whatever_the_step():
    problem = many_kinks()
    flat = replace(problem, cost=1e-9 * problem.cost)
    mean, error = second_moment("badodab", 0.8, flat)
    assert abs(mean - 1.0) < 4.0 * error
    mean, error = second_moment("ssi", 0.8, flat)
    assert abs(mean - 1.0) > 10.0 * error  # the same run with the other order tells the difference


def test_badodab_bears_kinks_better_than_the_symmetric_splitting():
    bias = {}
    for integrator in ("badodab", "ssi"):
        mean, error = second_moment(integrator, 0.3, many_kinks())
        bias[integrator] = abs(mean - 1.7356427)
    assert bias["badodab"] + 3.0 * error < bias["ssi"]


def test_the_default_sampler_is_integrated_by_badodab_with_a_short_step():
    for chain in Auto().start(many_kinks(), spawn_generators(0, 3)).chains:
        assert isinstance(chain.dynamics, CentredThermostat)
        assert 0.0 < chain.dynamics.step <= 0.25


@pytest.fixture(scope="module")
def sixty():
    rng = np.random.default_rng(6)
    rows = rng.standard_normal((60, 2))
    label = (rows @ np.array([1.0, -1.0]) + rng.standard_normal(60) > 0).astype(int)
    return small_problem(rows, label)


def test_the_thermostat_shifts_by_half_the_step_times_the_gradient_noise(sixty):
    step, runs = 0.05, {}
    for batch in (60, 10):
        sampler = SSGNHT(step=step, diffusion=2.0, batch_size=batch, **RAW)
        runs[batch] = long_run(sampler, sixty, 60_000, 20, seed=2)
    shift = runs[10][1][..., 1].mean() - runs[60][1][..., 1].mean()
    target = plain_target(sixty, 10, np.random.default_rng(2)).target
    work = workspace(target, np.float32)
    noise = np.mean(
        [
            gradient_noise(target, runs[10][0][:, k::200], work, np.random.default_rng(k))
            for k in range(40)
        ]
    )
    assert shift == pytest.approx(0.5 * step * noise, rel=0.05)


@pytest.mark.parametrize(("integrator", "step"), [("ssi", 0.2), ("euler", 0.05)])
def test_kinetic_temperature_is_one(integrator, step, sixty):
    sampler = SSGNHT(step=step, integrator=integrator, diffusion=2.0, batch_size=20, **RAW)
    _, trace = long_run(sampler, sixty, 30_000, 20, seed=4)
    assert trace[..., 0].mean() == pytest.approx(1.0, abs=0.01)


def test_a_frozen_scale_is_langevin_in_its_metric():
    """AdaGrad stopped at a scale P samples as plain Langevin does in coordinates w / sqrt(P)."""
    problem = five_rows()
    sampler = SSGLD(step=0.8, preconditioner="adagrad", control_variates=False, freeze_after=50)
    rng = np.random.default_rng(5)
    from bayesmargin.dynamics.base import initial_state
    from bayesmargin.running.chains import record

    target = plain_target(problem, 5, rng).target
    state = initial_state(np.zeros(2), rng, 0.0)
    work = workspace(target, np.float32)
    dynamics = sampler.dynamics(0.8, 5)
    draws, trace = np.empty((100_000, 2)), np.empty((100_000, 3))
    record(dynamics, target, state, work, rng, 20, draws[:100], trace[:100])
    scale = 1.0 / (1e-5 + np.sqrt(state.moment))
    frozen = state.moment.copy()
    record(dynamics, target, state, work, rng, 20, draws, trace)
    assert np.array_equal(frozen, state.moment)

    rows = problem.source.take(np.arange(5)) * np.sqrt(scale)
    moved = replace(
        small_problem(rows, problem.label), prior=GaussianBelief(np.zeros(2), scale.copy())
    )
    plain, _ = long_run(SSGLD(step=0.8, **RAW), moved, 100_000, 20, seed=6)
    plain = plain * np.sqrt(scale)
    for power in (1, 2):
        one, one_error = monte_carlo_error(draws[None] ** power)
        other, other_error = monte_carlo_error(plain**power)
        assert np.all(np.abs(one - other) < 4.0 * np.hypot(one_error, other_error))


@jit
def _scaled_langevin(rng, n_steps, step, corrected):
    """Standard normal target, P = 1/(1 + x^2); returns the mean of x^2."""
    x, total = 0.0, 0.0
    for _ in range(n_steps):
        scale = 1.0 / (1.0 + x * x)
        drift = scale * x + (2.0 * x * scale * scale if corrected else 0.0)
        x += -0.5 * step * step * drift + step * np.sqrt(scale) * rng.standard_normal()
        total += x * x
    return total / n_steps


def test_a_scale_that_depends_on_the_weights_needs_its_gamma_term():
    """Why the library's scales depend on the past only: without Gamma the variance doubles."""
    assert _scaled_langevin(np.random.default_rng(0), 6_000_000, 0.1, True) == pytest.approx(
        1.004, abs=0.05
    )
    assert _scaled_langevin(np.random.default_rng(0), 6_000_000, 0.1, False) == pytest.approx(
        2.013, abs=0.2
    )


def test_small_steps_agree_with_quadrature():
    truth = quadrature(five_rows())
    for sampler, thin in ((SSGLD(step=0.08, **RAW), 150), (SSGNHT(step=0.1, **RAW), 40)):
        draws, _ = long_run(sampler, five_rows(), 15_000, thin, seed=8)
        scores = moment_scores(draws, truth.mean, np.diag(truth.covariance))
        assert np.abs(scores).max() < 4.0, (sampler, scores)
