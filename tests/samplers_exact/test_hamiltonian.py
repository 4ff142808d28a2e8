"""Properties that make subgradient HMC exact, and its errors."""

from dataclasses import replace

import numpy as np
import pytest

from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.exact import complete_target, exact_target, safe_radius
from bayesmargin.dynamics.hamiltonian import (
    energy_of,
    hamiltonian_state,
    kinetic_energy,
    leapfrog,
)
from bayesmargin.foundation.compiling import jit
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import AugmentationGibbs, AusterityMetropolis, LangevinMC, SubgradientHMC
from bayesmargin.targets.rows import workspace
from bayesmargin.validation.problems import five_rows, one_kink, small_problem, three_classes
from bayesmargin.validation.quadrature import energies


@jit
def kinetic(momentum):
    return kinetic_energy(momentum)


@jit
def glide(target, state, work, step, n_steps):
    return leapfrog(target, state, work, step, n_steps)


def random_problem(n_classes, n_rows=400, n_columns=4, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n_rows, n_columns))
    truth = rng.standard_normal((n_columns, n_classes))
    label = (rows @ truth + rng.standard_normal((n_rows, n_classes))).argmax(axis=1)
    return small_problem(rows, label, n_classes=n_classes)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_energy_is_the_definition_in_every_coordinate_system(n_classes, prior):
    """Screened and reordered rows, drift and whitening must leave the energy as it is defined."""
    problem = random_problem(n_classes)
    if prior == "laplace":
        size = problem.n_weights
        rows = problem.source.take(np.arange(400))
        problem = small_problem(rows, problem.label, n_classes, prior="laplace", prior_scale=0.8)
        assert problem.n_weights == size
    rng = np.random.default_rng(1)
    anchor = fit_anchor(problem, rng)
    radius = 3.0
    prepared = exact_target(problem, anchor, radius)
    assert 0 < prepared.n_rows_used < problem.source.n_rows
    work = workspace(prepared.target, np.float64)
    positions = rng.standard_normal((40, problem.n_weights))
    positions *= (rng.random((40, 1)) * 2.0 * radius) / np.linalg.norm(positions, axis=1)[:, None]
    found = np.array([energy_of(prepared.target, u, work) for u in positions])
    truth = energies(problem, prepared.weights(positions))
    shift = found - truth
    assert np.ptp(shift) < 1e-8 * np.abs(truth).max()


@pytest.mark.parametrize("make", [five_rows, three_classes, lambda: five_rows("laplace")])
def test_gradient_is_the_slope_of_the_energy(make):
    problem = make()
    target = complete_target(problem).target
    work = workspace(target, np.float64)
    rng = np.random.default_rng(2)
    for _ in range(50):
        at = rng.standard_normal(problem.n_weights)
        before = energy_of(target, at, work)
        gradient = work.gradient.copy()
        for j in range(len(at)):
            step = np.zeros(len(at))
            step[j] = 1e-6
            slope = (energy_of(target, at + step, work) - energy_of(target, at - step, work)) / 2e-6
            assert slope == pytest.approx(gradient[j], rel=1e-6, abs=1e-6)
        lower = energy_of(target, at - 1e-5 * gradient, work)
        assert lower < before or np.linalg.norm(gradient) < 1e-6


@pytest.mark.parametrize("make", [one_kink, five_rows, three_classes])
def test_trajectories_are_reversible(make):
    problem = make()
    target = complete_target(problem).target
    work = workspace(target, np.float64)
    rng = np.random.default_rng(3)
    for _ in range(200):
        start = rng.standard_normal(problem.n_weights)
        state = hamiltonian_state(start, 0.1, tune=False)
        state.momentum[:] = rng.standard_normal(problem.n_weights)
        began = state.momentum.copy()
        energy_of(target, state.position, work)
        glide(target, state, work, 0.13, 17)
        state.momentum[:] *= -1.0
        energy_of(target, state.position, work)
        glide(target, state, work, 0.13, 17)
        assert np.abs(state.position - start).max() < 1e-10
        assert np.abs(state.momentum + began).max() < 1e-10


def test_a_kink_costs_an_energy_error_of_first_order():
    """Mean energy error of trajectories of length 1.5 over one kink, against the step: slope 1."""
    target = complete_target(one_kink()).target
    work = workspace(target, np.float64)
    rng = np.random.default_rng(4)
    starts, momenta = 1.0 + rng.standard_normal(4000), rng.standard_normal(4000)
    steps, errors = np.array([0.2, 0.1, 0.05, 0.025, 0.0125]), []
    for step in steps:
        total = 0.0
        for position, momentum in zip(starts, momenta, strict=True):
            state = hamiltonian_state(np.array([position]), step, tune=False)
            state.momentum[0] = momentum
            before = energy_of(target, state.position, work)
            before += kinetic(state.momentum)
            after = glide(target, state, work, step, round(1.5 / step))
            total += abs(after + kinetic(state.momentum) - before)
        errors.append(total / len(starts))
    slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.1)


def test_tuning_reaches_the_wanted_acceptance(draw):
    problem = random_problem(2, n_columns=8)
    ensemble = SubgradientHMC(target_acceptance=0.7).start(problem, spawn_generators(0, 3))
    for chain in ensemble.chains:
        chain.run(400, 1)
        chain.forget()
        step = chain.state.tuning[0]
        chain.run(2000, 1)
        assert chain.state.tuning[0] == step
        assert chain.trace[0][:, 1].mean() == pytest.approx(0.7, abs=0.12)


def test_draws_do_not_depend_on_how_the_run_is_cut():
    problem = five_rows()
    for sampler in (SubgradientHMC(), AugmentationGibbs(), AusterityMetropolis(epsilon=0.0)):
        whole, parts = (sampler.start(problem, spawn_generators(5, 2)).chains[0] for _ in range(2))
        whole.run(60, 2)
        for size in (10, 1, 49):
            parts.run(size, 2)
        assert np.array_equal(whole.draws[0], np.concatenate(parts.draws))


@pytest.mark.parametrize(
    ("mass", "message"),
    [
        (np.array([1.0, -2.0]), "not positive definite: entry 1"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "smallest eigenvalue is -1"),
        (np.array([[1.0, 0.5], [0.2, 1.0]]), "not symmetric"),
        (np.array([1.0, np.nan]), "NaN or infinity"),
        (np.ones((2, 3)), "square matrix"),
    ],
)
def test_a_mass_that_is_none(mass, message):
    with pytest.raises(ValueError, match=message):
        SubgradientHMC(mass=mass)


def test_given_mass_is_used_and_checked_against_the_problem(draw):
    from bayesmargin.validation import moment_scores, quadrature

    mass = np.array([[2.0, 0.5], [0.5, 1.0]])
    truth = quadrature(five_rows())
    draws = draw(SubgradientHMC(mass=mass), five_rows(), 60_000)
    scores = moment_scores(draws, truth.mean, np.diag(truth.covariance))
    assert np.abs(scores).max() < 4.0
    with pytest.raises(ValueError, match="2 rows and the problem has 3 weights"):
        SubgradientHMC(mass=mass).start(three_classes(), spawn_generators(0, 2))


@pytest.mark.parametrize(
    "sampler", [SubgradientHMC(), LangevinMC(), AugmentationGibbs(), AusterityMetropolis()]
)
def test_a_target_that_is_not_a_number(sampler):
    rows = np.array([[1.0, 0.0], [0.0, np.nan]])
    broken = replace(small_problem(np.eye(2), [0, 1]), source=DenseSource(rows, False))
    with pytest.raises(ValueError, match="row 1 holds NaN"):
        sampler.start(broken, spawn_generators(0, 2))
    costly = replace(small_problem(np.eye(2), [0, 1]), cost=np.array([1.0, np.inf]))
    with pytest.raises(ValueError, match="cost of row 1"):
        sampler.start(costly, spawn_generators(0, 2))


def test_settings_outside_their_range():
    with pytest.raises(ValueError, match=r"epsilon=1\.0"):
        AusterityMetropolis(epsilon=1.0)
    with pytest.raises(ValueError, match=r"epsilon=-0\.1"):
        AusterityMetropolis(epsilon=-0.1)
    with pytest.raises(ValueError, match="target_acceptance"):
        SubgradientHMC(target_acceptance=1.0)
    with pytest.raises(ValueError, match="jitter"):
        SubgradientHMC(jitter=1.0)
    with pytest.raises(ValueError, match="mass="):
        SubgradientHMC(mass="heavy")
    with pytest.raises(ValueError, match="form="):
        AugmentationGibbs(form="sideways")
    with pytest.raises(ValueError, match="more than two classes"):
        AugmentationGibbs(legacy_frozen_argmax=True).start(five_rows(), spawn_generators(0, 2))


def test_radius_covers_typical_positions():
    rng = np.random.default_rng(0)
    for size in (1, 20, 300):
        lengths = np.linalg.norm(rng.standard_normal((2000, size)), axis=1)
        assert (lengths < safe_radius(size)).mean() > 0.999
