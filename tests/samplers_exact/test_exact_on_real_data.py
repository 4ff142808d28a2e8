"""Exact Gibbs sampling and subgradient HMC, unrelated algorithms, must agree on real data."""

import numpy as np
import pytest

from bayesmargin import datasets
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.running.progress import Silence
from bayesmargin.running.run import sample
from bayesmargin.samplers import AugmentationGibbs, SubgradientHMC
from bayesmargin.validation import agreement
from bayesmargin.validation.problems import small_problem


def load(name):
    fetch = {"ijcnn1": datasets.fetch_ijcnn1, "a9a": datasets.fetch_a9a}[name]
    try:
        rows, target = fetch(subset="train", return_X_y=True)
    except (FileNotFoundError, OSError) as error:
        pytest.skip(f"the data set {name} is not at hand: {error}")
    rows = np.asarray(rows.todense()) if hasattr(rows, "todense") else np.asarray(rows)
    return small_problem(rows, (np.asarray(target) > 0).astype(int))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_draws"), [("ijcnn1", 4000), ("a9a", 1500)])
def test_gibbs_and_hmc_agree_on_every_weight(name, n_draws):
    problem = load(name)
    draws = {}
    for seed, sampler in enumerate([AugmentationGibbs(thin=1, burn_in=200), SubgradientHMC()]):
        run = sample(problem, sampler, spawn_generators(seed, 3), n_draws, 2, Silence())
        draws[type(sampler).__name__] = run.weights
        assert run.diagnostics.max_rhat < 1.05
    result = agreement(draws["AugmentationGibbs"], draws["SubgradientHMC"])
    shift = np.abs(result.mean_shift).max()
    spread = np.abs(result.variance_scores).max()
    print(
        f"{name}: {problem.n_weights} weights, worst mean score {result.worst:.2f}, worst variance "
        f"score {spread:.2f}, mean variance ratio {result.variance_ratio.mean():.3f}, largest mean "
        f"shift {shift:.3f} sd"
    )
    assert np.all(np.abs(result.mean_scores) < 4.0)
    assert np.all(np.abs(result.variance_scores) < 5.0)
