"""R-hat and effective sample sizes equal ArviZ's."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import rankdata

from bayesmargin.diagnostics.convergence import (
    SLICE,
    bulk_ess,
    by_slices,
    effective_sample_size,
    normal_scores,
    rhat,
    rhat_and_bulk_ess,
    tail_ess,
)
from bayesmargin.posterior import import_arviz


@pytest.fixture(scope="module")
def chains():
    """Autoregressive chains, one heavy-tailed, one that disagrees, one antithetic."""
    rng = np.random.default_rng(0)
    draws = np.empty((4, 501, 5))
    draws[:, 0] = rng.standard_normal((4, 5))
    memory = np.array([0.0, 0.8, 0.95, 0.5, -0.7])
    for t in range(1, 501):
        noise = np.sqrt(1 - memory**2) * rng.standard_normal((4, 5))
        draws[:, t] = memory * draws[:, t - 1] + noise
    draws[..., 1] **= 3
    draws[0, :, 3] += 2.0
    return draws


def test_figures_equal_those_of_arviz(chains):
    arviz = import_arviz()
    for j in range(chains.shape[2]):
        one = chains[..., j]
        assert rhat(one) == pytest.approx(arviz.rhat(one), rel=1e-10)
        assert bulk_ess(one) == pytest.approx(arviz.ess(one), rel=1e-8)
        assert tail_ess(one) == pytest.approx(
            arviz.ess(one, method="tail", prob=(0.05, 0.95)), rel=1e-8
        )
        plain = arviz.ess(one, method="identity")
        assert effective_sample_size(one) == pytest.approx(plain, rel=1e-8)


def test_tied_draws_share_their_mean_rank():
    draws = np.random.default_rng(2).integers(0, 6, (3, 40, 7)).astype(float)
    draws[..., 0] += np.arange(120).reshape(3, 40) / 1000.0  # without ties, among others with
    ranks = rankdata(draws.reshape(120, 7), axis=0).reshape(draws.shape)
    np.testing.assert_allclose(normal_scores(draws), ndtri((ranks - 0.375) / 120.25), rtol=1e-13)


def test_many_weights_at_once_equal_one_at_a_time(chains):
    together = bulk_ess(chains)
    for j in range(chains.shape[2]):
        assert together[j] == pytest.approx(float(bulk_ess(chains[..., j])))


def test_disagreeing_chains_are_seen(chains):
    assert rhat(chains)[3] > 1.2
    assert rhat(chains)[0] < 1.02


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("figure", [rhat_and_bulk_ess, tail_ess])
def test_slices_and_threads_change_no_figure(figure, threads):
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((4, 50, 2 * SLICE + 5)).cumsum(axis=1)
    np.testing.assert_array_equal(by_slices(figure, draws, threads), figure(draws))
