"""A likelihood of one's own: demand that is met late costs three times what is bought too early."""

from dataclasses import dataclass

import numpy as np

from bayesmargin.foundation.random import spawn_generators
from bayesmargin.likelihoods import OneScore, Pieces
from bayesmargin.priors import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import SSGNHT, AugmentationGibbs
from bayesmargin.targets.problem import posterior_of
from bayesmargin.validation import moment_scores, quadrature


@dataclass(frozen=True)
class Demand(OneScore):
    r"""Loss :math:`3 (y - s)_+ + (s - y)_+`: slope -3 up to the kink at y, and 4 more beyond it."""

    def pieces(self, y):
        return Pieces(constant=3.0 * y, slope=-3.0, kinks=y[None], jumps=np.array([4.0]))


def test_samplers_agree_with_quadrature():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12, 2))
    y = rows @ [1.0, -0.5] + 0.5 * rng.standard_normal(12)
    source, prior = DenseSource(rows, intercept=False), GaussianBelief(np.zeros(2), np.ones(2))
    problem = posterior_of(Demand(), source, y, cost=np.full(12, 0.5), prior=prior)
    truth = quadrature(problem)
    for sampler, thin in ((SSGNHT(step=0.1), 20), (AugmentationGibbs(), 1)):
        ensemble = sampler.start(problem, spawn_generators(1, 3))  # two chains
        for chain in ensemble.chains:
            chain.run(500, 1)
            chain.forget()
            chain.run(10_000, thin)
        draws = np.stack([ensemble.weights(chain.draws[0]) for chain in ensemble.chains])
        scores = moment_scores(draws, truth.mean, np.diag(truth.covariance))
        assert np.abs(scores).max() < 4.0
