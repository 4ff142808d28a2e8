"""A preconditioner of one's own: scales from the largest gradient met so far."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesmargin.dynamics.steps import is_known, is_lagged, learn_scale, scale_of
from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.random import spawn_generators
from bayesmargin.likelihoods import Absolute
from bayesmargin.priors import GaussianBelief
from bayesmargin.rows import DenseSource
from bayesmargin.samplers import SSGLD
from bayesmargin.targets.problem import posterior_of
from bayesmargin.validation import moment_scores, quadrature


class Largest(NamedTuple):
    r"""Scale :math:`P_j = 1 / \max_{t < T} g_{tj}^2`, no more than ``largest``; fixed from T on."""

    until: int
    largest: float = np.inf


@implements(learn_scale, Largest, borrows=True)
def _learn(preconditioner, work, n_rows, time, moment):
    if time < preconditioner.until:
        for j in range(moment.shape[0]):
            moment[j] = max(moment[j], work.gradient[j] ** 2)


implements(scale_of, Largest)(lambda p, moment: min(p.largest, 1.0 / max(moment, 1e-300)))
implements(is_lagged, Largest)(lambda p: False)  # the gradient of a step counts in it
implements(is_known, Largest)(lambda p, time: time > 0)


@dataclass(frozen=True, kw_only=True)
class ScaledLangevin(SSGLD):
    def scaling(self):
        return Largest(until=500)

    def mean_scale(self, chains):
        return float(np.mean([1.0 / chain.state.moment for chain in chains]))


def test_it_agrees_with_quadrature_where_columns_differ_in_scale():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((30, 2)) * [1.0, 20.0]
    y = rows @ [1.0, 0.05] + rng.laplace(size=30)
    prior = GaussianBelief(np.zeros(2), np.ones(2))
    problem = posterior_of(Absolute(), DenseSource(rows, False), y, np.full(30, 0.5), prior)
    truth = quadrature(problem)
    sampler = ScaledLangevin(step=0.4, preconditioner=None, control_variates=False, batch_size=30)
    ensemble = sampler.start(problem, spawn_generators(1, 3))
    for chain in ensemble.chains:
        chain.run(500, 10)
        chain.forget()
        chain.run(10_000, 40)
    draws = np.stack([ensemble.weights(chain.draws[0]) for chain in ensemble.chains])
    assert np.abs(moment_scores(draws, truth.mean, np.diag(truth.covariance))).max() < 4.0
