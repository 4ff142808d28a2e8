"""Stein's identity must see a bias even when the draws that show it are few and wild."""

import numpy as np
import pytest

from bayesmargin.beliefs import GaussianBelief
from bayesmargin.checks import stein_check
from bayesmargin.problem import Problem
from bayesmargin.random import spawn_generators
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import SSGNHT
from bayesmargin.target import working_type, workspace
from bayesmargin.verdict import biased


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
    return SSGNHT().start(problem, spawn_generators(0, 2)).target


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
