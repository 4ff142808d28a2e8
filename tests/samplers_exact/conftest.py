import numpy as np
import pytest

from bayesmargin.foundation.random import spawn_generators


@pytest.fixture
def draw():
    """Draws (chain, draw, weight) of a sampler whose length is fixed here, not by diagnostics."""

    def run(sampler, problem, n_draws, seed=0, warmup=400, thin=1, n_chains=2):
        ensemble = sampler.start(problem, spawn_generators(seed, n_chains + 1))
        for chain in ensemble.chains:
            chain.run(warmup, 1)
            chain.forget()
            chain.run(n_draws, thin)
        return np.stack([ensemble.weights(chain.draws[0]) for chain in ensemble.chains])

    return run
