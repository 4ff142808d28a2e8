"""A prior of one's own: the logistic law, with the middle of a Gaussian and Laplace's tails."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.likelihoods import Absolute
from bayesmargin.priors import Prior, prior_energy, prior_gradient
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import SSGNHT, SubgradientHMC
from bayesmargin.targets.problem import posterior_of
from bayesmargin.validation import moment_scores

NODES, SHARES = np.polynomial.hermite_e.hermegauss(40)


class LogisticDensity(NamedTuple):  # what a chain sees
    scale: float


@implements(prior_gradient, LogisticDensity, borrows=True)
def _gradient(prior, weights, out):
    for j in range(weights.shape[0]):
        out[j] = np.tanh(0.5 * weights[j] / prior.scale) / prior.scale


@implements(prior_energy, LogisticDensity, borrows=True)
def _energy(prior, weights):
    total = 0.0  # no arrays are made in such bodies
    for j in range(weights.shape[0]):
        total += 2.0 * np.log(np.cosh(0.5 * weights[j] / prior.scale))
    return total


@dataclass(frozen=True)
class Logistic(Prior):  # what the approximation sees: expectations under N(mean, variance)
    scale: float = 1.0

    def expectation(self, mean, variance):
        at = 0.5 * (mean[:, None] + np.sqrt(variance)[:, None] * NODES) / self.scale
        share = SHARES / SHARES.sum()
        slope, bend = np.tanh(at) / self.scale, 0.5 / (self.scale * np.cosh(at)) ** 2
        return float(2.0 * np.log(np.cosh(at)).sum(axis=0) @ share), slope @ share, bend @ share

    def narrowest(self):
        return self.scale

    def density(self, n_weights):
        return LogisticDensity(self.scale)


def test_samplers_agree_with_a_sum_over_a_grid():
    x, y = np.array([[1.0], [0.5], [-2.0]]), np.array([2.0, 0.0, -1.0])
    grid = np.linspace(-30.0, 30.0, 60_001)
    energy = 2.0 * np.log(np.cosh(0.5 * grid)) + np.abs(y - np.outer(grid, x)).sum(axis=1)
    law = np.exp(energy.min() - energy)
    mean = np.average(grid, weights=law)
    variance = np.average((grid - mean) ** 2, weights=law)
    problem = posterior_of(Absolute(), DenseSource(x, False), y, np.ones(3), Logistic())
    for sampler, thin in ((SSGNHT(step=0.05), 40), (SubgradientHMC(), 1)):
        ensemble = sampler.start(problem, spawn_generators(1, 3))
        for chain in ensemble.chains:
            chain.run(10_000, thin)
        draws = np.stack([ensemble.weights(chain.draws[0]) for chain in ensemble.chains])
        assert np.abs(moment_scores(draws, [mean], [variance])).max() < 4.0
