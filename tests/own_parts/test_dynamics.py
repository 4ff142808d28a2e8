"""A dynamics of one's own: Langevin steps whose noise is the mean of two, of second order."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayesmargin import BayesianLinearSVC
from bayesmargin.dynamics.base import follow, moves_by_gradient
from bayesmargin.foundation.compiling import implements
from bayesmargin.foundation.noise import fill_noise
from bayesmargin.samplers import AugmentationGibbs, StochasticSampler
from bayesmargin.targets.base import project
from bayesmargin.validation import agreement


class AveragedNoise(NamedTuple):
    r"""Leimkuhler and Matthews: :math:`u - \tfrac{h^2}{2} g + \tfrac h2 (\nu_t + \nu_{t+1})`."""

    step: float


@implements(follow, AveragedNoise, borrows=True)
def _follow(dynamics, state, space, work, source):
    step, last, fresh = dynamics.step, state.momentum, work.noise
    fill_noise(source, fresh)
    project(space, fresh)
    for j in range(fresh.shape[0]):
        noise = 0.5 * step * (last[j] + fresh[j])
        state.position[j] += noise - 0.5 * step * step * work.gradient[j]
        last[j] = fresh[j]


moves_by_gradient(AveragedNoise)


@dataclass(frozen=True, kw_only=True)
class LeimkuhlerMatthews(StochasticSampler):
    def default_step(self):
        return 0.3

    def relaxation(self, step):
        return 2.0 / step**2

    def temperature(self, step, noise, trace, known=None):
        return 1.0 + 0.25 * step**2 * noise

    def dynamics(self, step, n_rows, noise=None):
        return AveragedNoise(float(step))


def test_it_agrees_with_an_exact_sampler():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.standard_normal(200) > 0.0
    draws = {}
    for sampler in (LeimkuhlerMatthews(batch_size=200), AugmentationGibbs()):
        model = BayesianLinearSVC(sampler=sampler, n_draws=4000, random_state=0).fit(X, y)
        draws[sampler] = model.posterior_["coef"].reshape(4, -1, 3)
    assert agreement(*draws.values()).agrees()
