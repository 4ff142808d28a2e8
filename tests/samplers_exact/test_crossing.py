"""HMC that crosses kinks where they lie: reversible, exact, and not slowed by large costs."""

from dataclasses import replace

import numpy as np
import pytest
from tests.samplers_exact.test_hamiltonian import random_problem

from bayesmargin import BayesianLinearSVC
from bayesmargin.approximation import fit_anchor
from bayesmargin.approximation.exact import exact_target, safe_radius
from bayesmargin.dynamics import options
from bayesmargin.dynamics.crossing import crossing_dynamics, flow
from bayesmargin.dynamics.hamiltonian import (
    ADAPTED,
    Hamiltonian,
    energy_of,
    hamiltonian_state,
    kinetic_energy,
    trajectory,
)
from bayesmargin.dynamics.parabolas import crossing_time
from bayesmargin.foundation.compiling import from_python, jit
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.samplers import SubgradientHMC, hamiltonian_chains
from bayesmargin.targets.rows import workspace
from bayesmargin.validation.agreement import moment_scores
from bayesmargin.validation.problems import five_rows, one_kink, small_problem, three_classes
from bayesmargin.validation.quadrature import quadrature


def dear(problem, factor):
    return replace(problem, cost=factor * problem.cost)


PROBLEMS = {
    "one kink": one_kink,
    "two classes": five_rows,
    "two classes, Laplace": lambda: five_rows("laplace"),
    "two classes, walls": lambda: dear(five_rows(), 300.0),
    "three classes": three_classes,
    "three classes, walls": lambda: dear(three_classes(), 100.0),
}


@jit
def _kinetic(momentum):
    return kinetic_energy(momentum)


@jit
def _flow(target, dynamics, state, duration):
    return flow(target, dynamics, state, duration)


@jit
def _trajectory(dynamics, target, state, work, step, n_steps):
    return trajectory(dynamics, target, state, work, step, n_steps)


def prepared(problem):
    anchor = fit_anchor(problem, np.random.default_rng(0))
    target = exact_target(problem, anchor, safe_radius(problem.n_weights)).target
    dynamics = crossing_dynamics(target, Hamiltonian(1.5, 0, 0.2, 0.8))
    return target, dynamics, workspace(target, np.float64)


def test_the_next_crossing_is_the_first_root():
    rng, next_time = np.random.default_rng(0), from_python(crossing_time)
    time = np.linspace(0.0, 20.0, 200_001)
    for gap, speed, pull in rng.standard_normal((200, 3)) * [1.0, 1.0, 0.5]:
        path = -abs(gap) + speed * time + 0.5 * pull * time**2
        beyond = np.flatnonzero(path > 0.0)
        found = next_time(-abs(gap), speed, pull)
        if beyond.size:
            assert found == pytest.approx(time[beyond[0]], abs=2e-4)
        else:
            assert found > 19.99


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_motion_keeps_the_energy_and_can_be_undone(n_classes):
    """Without a prior there is no error but rounding's, over many kinks of large cost."""
    problem = dear(random_problem(n_classes, n_rows=60), 50.0)
    target, dynamics, work = prepared(problem)
    target = target._replace(prior=type(target.prior)(*(0.0 * part for part in target.prior)))
    rng, crossed = np.random.default_rng(1), 0
    for _ in range(20):
        start, momentum = rng.standard_normal((2, problem.n_weights))
        state = hamiltonian_state(start, 1.0, tune=False)
        state.momentum[:] = momentum
        before = energy_of(target, start, work) + _kinetic(momentum)
        crossed += _flow(target, dynamics, state, 1.5)
        after = energy_of(target, state.position, work)
        after += _kinetic(state.momentum)
        assert after == pytest.approx(before, rel=1e-9, abs=1e-7)
        state.momentum[:] *= -1.0
        _flow(target, dynamics, state, 1.5)
        np.testing.assert_allclose(state.position, start, atol=1e-6)
        np.testing.assert_allclose(state.momentum, -momentum, atol=1e-6)
    assert crossed > 20


def test_trajectories_with_a_prior_can_be_undone_too():
    target, dynamics, work = prepared(PROBLEMS["three classes, walls"]())
    rng, size = np.random.default_rng(2), len(dynamics.scratch.turn)
    for _ in range(20):
        start, momentum = rng.standard_normal((2, size))
        state = hamiltonian_state(start, 0.5, tune=False)
        state.momentum[:] = momentum
        _trajectory(dynamics, target, state, work, 0.5, 3)
        assert np.abs(state.position - start).max() > 1e-3
        state.momentum[:] *= -1.0
        _trajectory(dynamics, target, state, work, 0.5, 3)
        np.testing.assert_allclose(state.position, start, atol=1e-6)


@pytest.mark.parametrize("name", PROBLEMS)
def test_moments_are_those_of_quadrature(name, draw):
    problem = PROBLEMS[name]()
    truth = quadrature(problem)
    draws = draw(SubgradientHMC(crossing=True), problem, 4000, seed=1)
    scores = moment_scores(draws, truth.mean, np.diag(truth.covariance))
    assert np.abs(scores).max() < 4.5


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("prior", ["gaussian", "laplace"])
def test_tabulated_products_bend_as_a_pass_over_the_rows_does(n_classes, prior, monkeypatch):
    problem = random_problem(n_classes, n_rows=40)
    rows = problem.source.take(np.arange(40))
    problem = dear(small_problem(rows, problem.label, n_classes, prior=prior), 20.0)
    rng, size, ends = np.random.default_rng(4), problem.n_weights, []
    start, momentum = rng.standard_normal((2, size))
    for tabulated in (0, 1000, 1 << 24):
        monkeypatch.setattr(options, "TABULATED", tabulated)
        target, dynamics, _ = prepared(problem)
        state = hamiltonian_state(start, 1.0, tune=False)
        state.momentum[:] = momentum
        assert len(dynamics.options.table) == min(40 * n_classes, tabulated // (40 * n_classes))
        assert _flow(target, dynamics, state, 6.0) > 5
        ends.append(np.append(state.position, state.momentum))
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ends[2], ends[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["two classes", "two classes, Laplace", "three classes"])
def test_options_that_are_not_watched_cost_acceptance_alone(name, draw, monkeypatch):
    """Kinks half a standard deviation away are crossed unseen, and the law is still exact."""
    monkeypatch.setattr(options, "TABULATED", 0)
    monkeypatch.setattr(hamiltonian_chains, "WATCHED", 0.5)
    problem = PROBLEMS[name]()
    sampler = SubgradientHMC(crossing=True, step=0.7)
    ensemble = sampler.start(problem, spawn_generators(0, 2))
    n_options = problem.source.n_rows * max(2, problem.n_classes)
    assert ensemble.chains[0].dynamics.options.option.size < n_options
    truth = quadrature(problem)
    draws = draw(sampler, problem, 4000, seed=1, thin=4)
    scores = moment_scores(draws, truth.mean, np.diag(truth.covariance))
    assert np.abs(scores).max() < 4.5


def test_options_far_behind_are_not_watched(monkeypatch):
    """What lags by fewer deviations than asked for is watched, as drawn weights confirm."""
    monkeypatch.setattr(options, "TABULATED", 0)
    problem = random_problem(3, n_rows=60)
    anchor = fit_anchor(problem, np.random.default_rng(0))
    target = exact_target(problem, anchor, safe_radius(problem.n_weights)).target
    few, all_of_them = (options.options_in_play(target, t) for t in (2.0, np.inf))
    assert 0 < few.option.size < all_of_them.option.size == 180
    assert np.all(np.diff(few.first) >= 2)
    rng = np.random.default_rng(1)
    drawn = anchor.mean + rng.standard_normal((4000, problem.n_weights)) @ anchor.factor.T
    scores = np.einsum("dj,skj->sdk", target.rows.values, drawn.reshape(4000, 3, -1))
    scores += np.where(np.arange(3) == target.hinge.label[:, None], 0.0, problem.margin)
    wins = (scores.argmax(axis=2)[..., None] == np.arange(3)).mean(axis=0)
    watched = np.zeros((60, 3), dtype=bool)
    watched[np.repeat(few.place, np.diff(few.first)), few.option] = True
    watched[np.arange(60), target.hinge.reference] = True
    assert wins[~watched].max() < 0.035  # beyond two standard deviations: 0.023
    assert wins[watched].min() > 0.0


def lopsided_clouds():
    """Three clouds of 80 rows in the plane, at a cost that makes walls of most of them."""
    rng = np.random.default_rng(3)
    label = np.repeat(np.arange(3), 80)
    centres = np.array([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]])
    return centres[label] + rng.standard_normal((240, 2)), label


def test_a_warm_up_that_meets_unwatched_options_watches_all(monkeypatch):
    """Steps are not blamed for options left out: no shorter one would have mended it."""
    X, y = lopsided_clouds()
    sampler = SubgradientHMC(crossing=True)
    settings = {"C": 10.0, "sampler": sampler, "n_draws": 200, "n_chains": 2, "random_state": 0}
    model = BayesianLinearSVC(**settings).fit(X, y)
    assert "watched all options" not in model.posterior_.attrs["notes"]
    monkeypatch.setattr(options, "TABULATED", 0)
    monkeypatch.setattr(hamiltonian_chains, "WATCHED", 0.1)
    repaired = BayesianLinearSVC(**settings).fit(X, y)
    assert "watched all options" in repaired.posterior_.attrs["notes"]
    assert repaired.diagnostics_.trustworthy
    assert repaired.posterior_.attrs["step"] > 0.7 * model.posterior_.attrs["step"]


def test_the_step_is_not_tuned_by_trajectories_that_miss_an_option(monkeypatch):
    monkeypatch.setattr(options, "TABULATED", 0)
    monkeypatch.setattr(hamiltonian_chains, "WATCHED", 0.1)
    problem = dear(random_problem(3, n_rows=60), 20.0)
    chain = SubgradientHMC(crossing=True).start(problem, spawn_generators(0, 2)).chains[0]
    chain.run(100, 1)
    made, _, _, missed = chain.state.clock
    assert made == 100
    assert missed > 30
    assert chain.state.tuning[ADAPTED] == made - missed


def test_the_lag_to_watch_is_one_beyond_which_few_options_win():
    """The number is what normal tails promise, and winners drawn around the anchor are fewer."""
    problem = random_problem(3, n_rows=60)
    anchor = fit_anchor(problem, np.random.default_rng(0))
    target = exact_target(problem, anchor, safe_radius(problem.n_weights)).target
    rng = np.random.default_rng(1)
    drawn = anchor.mean + rng.standard_normal((4000, problem.n_weights)) @ anchor.factor.T
    scores = np.einsum("dj,skj->sdk", target.rows.values, drawn.reshape(4000, 3, -1))
    scores += np.where(np.arange(3) == target.hinge.label[:, None], 0.0, problem.margin)
    wins = (scores.argmax(axis=2)[..., None] == np.arange(3)).mean(axis=0)
    wins[np.arange(60), target.hinge.reference] = 0.0
    lags = options._lags(target)
    found = [options.lag_to_watch(target, missed) for missed in (5.0, 0.5, 0.02)]
    assert 0.0 < found[0] < found[1] < found[2]
    for missed, lag in zip((5.0, 0.5, 0.02), found, strict=True):
        assert wins[lags >= lag].sum() <= missed + 0.01
    assert wins[lags >= found[0]].sum() > 0.5
    assert options.lag_to_watch(target, 1e9) == lags.min()


def test_crossing_is_a_flag():
    with pytest.raises(ValueError, match="crossing='yes'"):
        SubgradientHMC(crossing="yes")


def test_large_costs_are_no_reason_to_wait():
    """Wine at C=1000 had not converged after minutes; the default now crosses its few kinks."""
    from sklearn.datasets import load_wine
    from sklearn.preprocessing import StandardScaler

    X, y = load_wine(return_X_y=True)
    model = BayesianLinearSVC(C=1000.0, n_draws=250, n_chains=2, random_state=0)
    model.fit(StandardScaler().fit_transform(X), y)
    assert model.diagnostics_.trustworthy
    assert model.posterior_.attrs["drawn_by"] == "SubgradientHMC"
    assert model.posterior_.attrs["step"] > 0.1
    assert model.diagnostics_.n_iterations < 10_000
