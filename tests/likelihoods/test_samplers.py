"""Losses of one score through every sampler, against integration."""

from functools import cache

import numpy as np
import pytest

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.likelihoods import Absolute, EpsilonInsensitive, PiecewiseLinear, Pinball
from bayesmargin.priors.moments import GaussianBelief, LaplaceBelief
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import (
    SGHMC,
    SSGLD,
    SSGNHT,
    AugmentationGibbs,
    AusterityMetropolis,
    LangevinMC,
    SubgradientHMC,
)
from bayesmargin.targets.problem import posterior_of
from bayesmargin.validation import moment_scores, quadrature

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 1.0]])
VALUES = np.array([1.0, -0.5, 0.8, 1.2, 0.3])
LOSSES = {
    "epsilon": (EpsilonInsensitive(0.25), 1.5),
    "pinball": (Pinball(0.25), 2.0),
    "absolute": (Absolute(), 1.0),
    "lopsided": (PiecewiseLinear(-1.0, (-0.5, 0.5), (1.0, 2.0)), 1.0),
}
EXACT = {
    "hmc": (SubgradientHMC(), 50_000, 1),
    "crossing": (SubgradientHMC(crossing=True), 50_000, 1),
    "lmc": (LangevinMC(), 100_000, 2),
    "gibbs": (AugmentationGibbs(), 50_000, 1),
    "gibbs_coordinate": (AugmentationGibbs(form="coordinate"), 50_000, 1),
    "gibbs_wide": (AugmentationGibbs(form="wide"), 3_000, 1),
    "srwm": (AusterityMetropolis(epsilon=0.0), 60_000, 6),
    "srwm_raw": (AusterityMetropolis(epsilon=0.0, preconditioner=None, step=0.6), 60_000, 6),
}
STOCHASTIC = {  # steps whose bias is far below the errors allowed here
    "ssgld": (SSGLD(step=0.12), 20_000, 50),
    "ssgnht": (SSGNHT(step=0.1), 20_000, 20),
    "sghmc": (SGHMC(step=0.05), 20_000, 40),
    "raw": (SSGLD(step=0.05, preconditioner=None, control_variates=False), 5_000, 300),
}


def problem_of(name, prior="gaussian"):
    likelihood, cost = LOSSES[name]
    belief = GaussianBelief(np.zeros(2), np.ones(2))
    if prior == "laplace":
        belief = LaplaceBelief(np.ones(2))
    source = DenseSource(ROWS, intercept=False)
    return posterior_of(likelihood, source, VALUES, np.full(5, cost), belief)


@cache
def reference(name, prior):
    return quadrature(problem_of(name, prior))


def draws_of(sampler, problem, n_draws, thin, seed=3):
    ensemble = sampler.start(problem, spawn_generators(seed, 3))
    for chain in ensemble.chains:
        chain.run(400, 1)
        chain.forget()
        chain.run(n_draws, thin)
    return np.stack([ensemble.weights(chain.draws[0]) for chain in ensemble.chains])


def check(name, prior, settings):
    sampler, n_draws, thin = settings
    truth = reference(name, prior)
    draws = draws_of(sampler, problem_of(name, prior), n_draws, thin)
    scores = moment_scores(draws, truth.mean, np.diag(truth.covariance))
    assert np.abs(scores).max() < 4.0, scores


def pairs(samplers, early):
    """All pairs of a loss and a sampler; most are for the slow suite."""
    for name in LOSSES:
        for sampler in samplers:
            marks = [] if (name, sampler) in early else [pytest.mark.slow]
            yield pytest.param(name, sampler, marks=marks)


EARLY = [
    ("epsilon", "hmc"),
    ("pinball", "crossing"),
    ("pinball", "gibbs"),
    ("epsilon", "gibbs"),
    ("absolute", "gibbs_wide"),
    ("lopsided", "gibbs_coordinate"),
    ("pinball", "srwm"),
    ("pinball", "ssgnht"),
    ("epsilon", "ssgld"),
    ("pinball", "raw"),
]


@pytest.mark.parametrize(("name", "sampler"), list(pairs(EXACT, EARLY)))
def test_exact_samplers_agree_with_quadrature(name, sampler):
    check(name, "gaussian", EXACT[sampler])


@pytest.mark.parametrize("sampler", ["hmc", pytest.param("srwm", marks=pytest.mark.slow), "gibbs"])
def test_under_a_laplace_prior(sampler):
    check("pinball", "laplace", EXACT[sampler])


@pytest.mark.parametrize(("name", "sampler"), list(pairs(STOCHASTIC, EARLY)))
def test_stochastic_samplers_agree_with_quadrature(name, sampler):
    check(name, "gaussian", STOCHASTIC[sampler])
