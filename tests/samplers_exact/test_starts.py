"""Chains of the Gibbs sampler start apart, so that R-hat can tell when they have not met."""

import numpy as np
import pytest

from bayesmargin.beliefs import GaussianBelief, LaplaceBelief
from bayesmargin.samplers import AugmentationGibbs
from bayesmargin.validation.problems import five_rows


def _matrix():
    root = np.random.default_rng(1).normal(size=(3, 6))
    return root @ root.T


@pytest.mark.parametrize(
    ("belief", "covariance"),
    [
        (GaussianBelief(np.arange(3.0), np.array([4.0, 1.0, 0.25])), np.diag([0.25, 1.0, 4.0])),
        (GaussianBelief(np.arange(3.0), _matrix()), np.linalg.inv(_matrix())),
        (LaplaceBelief(np.array([0.5, 1.0, 2.0])), np.diag([0.5, 2.0, 8.0])),
    ],
    ids=["diagonal", "full", "laplace"],
)
def test_draws_from_a_prior_have_its_moments(belief, covariance):
    rng, count = np.random.default_rng(0), 40_000
    draws = np.stack([belief.draw(rng) for _ in range(count)])
    deviation = np.sqrt(np.diag(covariance))
    mean = getattr(belief, "mean", np.zeros(3))
    assert np.abs((draws.mean(axis=0) - mean) / deviation).max() < 4.0 / np.sqrt(count)
    error = np.abs(np.cov(draws.T) - covariance) / np.outer(deviation, deviation)
    assert error.max() < 4.0 * np.sqrt(5.0 / count)  # a Laplace variate has kurtosis 6


def test_chains_start_apart():
    """From the origin all of them took the same way, and agreed long before they had arrived."""
    generators = np.random.default_rng(2).spawn(5)
    starts = [
        chain.state.weights for chain in AugmentationGibbs().start(five_rows(), generators).chains
    ]
    assert np.std(starts, axis=0).min() > 0.2
    assert len({tuple(start) for start in starts}) == 4
