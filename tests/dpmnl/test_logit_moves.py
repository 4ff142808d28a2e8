"""How logit models move: nowhere in circles, and freely where labels say nothing."""

import math

import numpy as np
import pytest

from bayesmargin.foundation.compiling import jit
from bayesmargin.models.dpmnl.logit import update_logit
from bayesmargin.models.dpmnl.parameters import update_common
from bayesmargin.models.dpmnl.state import empty_experts


@jit
def _moves(rng, experts, X, labels, members, step, leapfrogs, out):
    for t in range(out.shape[0]):
        update_logit(rng, 0, members, X, labels, experts, step, leapfrogs)
        out[t] = experts.coefficients[0]


@pytest.mark.parametrize("seed", range(3))
def test_trajectories_do_not_come_back_to_their_start(seed):
    """With two rows the law is nearly the prior's, and 30 steps of 0.2 are nearly a full turn."""
    X, labels = np.array([[0.3], [-0.2]]), np.array([0, 1])
    experts, draws = empty_experts(1, 1, 2), np.empty((2000, 2, 2))
    experts.log_scale[:] = -2.0
    _moves(np.random.default_rng(seed), experts, X, labels, np.arange(2), 0.2, 30, draws)
    values = draws.reshape(len(draws), -1)
    values = values - values.mean(axis=0)
    correlation = (values[1:] * values[:-1]).mean(axis=0) / values.var(axis=0)
    assert np.all(np.abs(correlation) < 0.25)  # it was 0.9


def test_the_mean_over_classes_is_drawn_and_the_differences_are_kept():
    @jit
    def fill(rng, experts, out):
        for t in range(out.shape[0]):
            update_common(rng, 0, experts)
            out[t] = experts.coefficients[0]

    rng = np.random.default_rng(0)
    experts, draws = empty_experts(1, 2, 3), np.empty((20_000, 3, 3))
    experts.log_scale[0] = 0.4, -1.1
    experts.coefficients[0] = start = rng.standard_normal((3, 3))
    fill(rng, experts, draws)
    centred = draws - draws.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(centred - (start - start.mean(axis=0)), 0.0, atol=1e-9)
    common = draws.mean(axis=1)
    variance = np.exp([-1.1, -1.1, 0.4]) / 3.0
    np.testing.assert_allclose(common.var(axis=0) / variance, 1.0, atol=4 * math.sqrt(2 / 20_000))
    assert np.all(np.abs(common.mean(axis=0)) < 4.0 * np.sqrt(variance / 20_000))


@pytest.mark.parametrize("seed", range(3))
def test_models_of_components_far_from_the_centre_move(seed):
    """Steps for columns around zero are too long there, and the coefficients had stayed at zero."""

    @jit
    def count(rng, experts, X, labels, members):
        accepted = 0
        for _ in range(200):
            accepted += update_logit(rng, 0, members, X, labels, experts, 0.2, 30)
        return accepted

    rng = np.random.default_rng(seed)
    X = 14.0 + 0.2 * rng.standard_normal((40, 2))
    labels = (X[:, 0] > 14.0).astype(np.int64)
    experts = empty_experts(1, 2, 2)
    assert count(rng, experts, X, labels, np.arange(40)) > 160
