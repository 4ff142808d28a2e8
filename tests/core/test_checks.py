"""Stein's identity must see a bias even when the draws that show it are few and wild."""

import numpy as np
import pytest

from bayesmargin import BayesianLinearSVC
from bayesmargin.diagnostics.assessment import biased
from bayesmargin.diagnostics.stein import affordable, stein_check, stein_identity
from bayesmargin.errors import BiasWarning
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.priors.moments import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import SSGLD, SSGNHT
from bayesmargin.targets.problem import Problem
from bayesmargin.targets.rows import working_type, workspace


@pytest.fixture(scope="module")
def target():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((300, 20))
    prior = GaussianBelief(np.zeros(20), np.ones(20))
    problem = Problem(
        DenseSource(rows, False),
        (rows[:, 0] + rng.logistic(size=300) > 0).astype(np.int64),
        2,
        np.ones(300),
        1.0,
        prior,
    )
    return SSGNHT().start(problem, spawn_generators(0, 2)).account.target


def checked(target, draws):
    work = workspace(target, working_type(target))
    return stein_check(target, draws[None], work, np.random.default_rng(1), np.zeros(20))


def test_draws_of_the_anchor_pass(target):
    draws = np.random.default_rng(2).standard_normal((200, 20))
    assert not biased(checked(target, draws))


def test_a_few_wild_draws_do_not_excuse_themselves(target):
    draws = np.random.default_rng(2).standard_normal((200, 20))
    draws[::40] *= 12.0
    found = checked(target, draws)
    assert found.bias > 0.5
    assert biased(found)


def _normal_check(scale, seed, n_draws=400):
    """Stein's identity for draws that should be standard normal but have other scales."""
    draws = scale * np.random.default_rng(seed).standard_normal((n_draws, len(scale)))
    return stein_identity(draws, draws, draws.mean(axis=0))


@pytest.mark.parametrize(("factor", "share"), [(0.3, -0.91), (1.8, 2.24)])
def test_one_direction_of_many_that_is_too_narrow_or_too_wide_is_seen(factor, share):
    scale = np.ones(600)
    scale[123] = factor
    found = _normal_check(scale, 0)
    assert abs(found.bias) < 0.02  # nothing to see in the mean
    assert found.worst == pytest.approx(share, abs=0.2 * abs(share))
    assert biased(found)


def test_the_worst_of_many_directions_is_not_called_wrong_by_chance():
    """Neither with draws that are alike in groups of four, as of chains that move slowly."""
    for seed in range(30):
        assert not biased(_normal_check(np.ones(600), seed))
        few = np.random.default_rng(seed).standard_normal((100, 300))
        draws = np.repeat(few, 4, axis=0)
        assert not biased(stein_identity(draws, draws, draws.mean(axis=0)))


def test_coordinates_that_are_bound_together_are_judged_together():
    draws = np.random.default_rng(0).standard_normal((400, 10))
    draws -= draws.mean(axis=1, keepdims=True)
    found = stein_identity(draws, draws, draws.mean(axis=0), n_directions=9)
    assert abs(found.bias) < 0.1
    assert not biased(found)
    assert found.worst == 0.0


@pytest.mark.parametrize("inflation", [1.0, 1.6])
def test_one_class_of_three_hundred_that_is_off_is_seen(inflation):
    """Its share in the mean is a five-hundredth, and 24 draws say little about one coordinate."""
    for seed in range(5):
        draws = np.random.default_rng(seed).standard_normal((24, 200, 300))
        draws[:, :, 7] *= np.sqrt(inflation)
        flat = draws.reshape(24, -1)
        centre = np.zeros(flat.shape[1])
        found = stein_identity(flat, flat, centre, n_classes=300)
        assert biased(found) == (inflation > 1.0)
        assert not biased(stein_identity(flat, flat, centre))


def test_draws_that_resemble_the_one_before_count_for_less():
    """Errors of the check are those of its scatter from run to run."""
    rng, size, found = np.random.default_rng(0), 4, []
    for _ in range(40):
        draws = rng.standard_normal((2000, size))
        for k in range(1, len(draws)):
            draws[k] = 0.9 * draws[k - 1] + np.sqrt(1.0 - 0.81) * draws[k]
        found.append(stein_identity(draws, draws, draws.mean(axis=0)))
    scatter = np.std([one.bias for one in found])
    assert np.median([one.error for one in found]) == pytest.approx(scatter, rel=0.35)


def test_all_draws_of_few_weights_are_looked_at(target):
    draws = np.random.default_rng(2).standard_normal((4000, 20))
    assert checked(target, draws).n_draws == 4000
    many = target._replace(drift=np.zeros(2_000))  # as costly as if it had so many weights
    assert affordable(many, 4000) == 400


@pytest.mark.parametrize(
    "sampler",
    [SSGLD(step=0.8), SSGNHT(step=0.3, integrator="euler")],
    ids=["Langevin", "Euler"],
)
def test_steps_too_long_for_two_features_are_told(sampler):
    """Variances off by a fifth or a quarter passed while 400 draws were looked at."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2))
    y = X @ [1.0, -0.5] + rng.logistic(size=2000) > 0
    with pytest.warns(BiasWarning, match="smaller step"):
        model = BayesianLinearSVC(sampler=sampler, random_state=0).fit(X, y)
    assert model.diagnostics_.converged
    assert not model.diagnostics_.trustworthy
    assert abs(model.diagnostics_.bias) > 0.15


@pytest.mark.parametrize("sampler", ["ssgld", "ssgnht", "sghmc"])
def test_steps_left_out_give_no_alarm_for_two_features(sampler):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2))
    y = X @ [1.0, -0.5] + rng.logistic(size=2000) > 0
    for seed in range(3):
        model = BayesianLinearSVC(sampler=sampler, random_state=seed).fit(X, y)
        assert model.diagnostics_.trustworthy
        assert abs(model.diagnostics_.bias) < 0.08
