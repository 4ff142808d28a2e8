"""Blocks of one's own: the median of some values, by the absolute loss as a mixture of Gaussians.

exp(-C |r|) is the mean of N(r; 0, v) over exponential v of rate C^2 / 2 (Andrews and Mallows), so
given the variances v the location is normal; given the location every 1 / v is inverse Gaussian.
"""

import numpy as np

from bayesmargin.running.checkpoint import NoCheckpoint
from bayesmargin.running.gibbs import Gibbs, run_sweeps
from bayesmargin.validation import moment_scores

Y, C, PRIOR_VARIANCE = np.array([-1.0, 0.2, 0.4, 1.1, 9.0]), 1.5, 25.0


class Variances:
    name = "variances"

    def update(self, state, learning):
        residual = np.abs(Y - state["location"])
        state["precision"] = state["rng"].wald(C / np.maximum(residual, 1e-12), C**2)


class Location:
    name = "location"

    def update(self, state, learning):
        precision = state["precision"].sum() + 1.0 / PRIOR_VARIANCE
        mean = state["precision"] @ Y / precision
        state["location"] = mean + state["rng"].standard_normal() / np.sqrt(precision)


class Median:
    blocks = (Variances(), Location())

    def begin(self, rng):
        return {"rng": rng, "location": Y.mean(), "precision": np.ones(len(Y))}

    def traces(self, state):
        return {"location": state["location"]}

    def draw(self, state):
        return state["location"]

    def moving(self, state):  # all there is goes into a checkpoint, and comes back as it was
        return state

    resume = moving


def test_it_agrees_with_a_sum_over_a_grid():
    grid = np.linspace(-20.0, 20.0, 40_001)
    energy = 0.5 * grid**2 / PRIOR_VARIANCE + C * np.abs(Y[:, None] - grid).sum(axis=0)
    law = np.exp(energy.min() - energy)
    mean = np.average(grid, weights=law)
    variance = np.average((grid - mean) ** 2, weights=law)
    seeds = np.random.SeedSequence(0).spawn(2)
    chains = [Gibbs(Median(), np.random.default_rng(s), 100, range(100, 10_100)) for s in seeds]
    run_sweeps(chains, 10_100, n_jobs=1, checkpoint=NoCheckpoint(0), show=lambda sweeps: None)
    draws = np.array([chain.draws for chain in chains])[:, :, None]
    assert np.abs(moment_scores(draws, [mean], [variance])).max() < 4.0
