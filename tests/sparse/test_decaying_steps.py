"""Wide chains of decaying steps weigh their draws as narrow ones do."""

import numpy as np
import pytest
from scipy import sparse

from bayesmargin import BayesianLinearSVC
from bayesmargin.foundation.storage import DrawStore
from bayesmargin.samplers import SSGLD
from bayesmargin.samplers.wide import WideChain, WideDraws


@pytest.mark.parametrize("lazy", [True, False])
def test_draws_of_decaying_steps_are_weighted_by_the_square_of_the_step(lazy):
    """The step falls to a fifth on the way, so the first draws count twenty-five times the last."""
    rng = np.random.default_rng(0)
    X = sparse.random(400, 900, density=0.02, format="csr", random_state=0)
    y = rng.integers(0, 2, 400)
    sampler = SSGLD(
        step=0.1, schedule="polynomial", offset=20.0, exponent=0.5, preconditioner=None,
        control_variates=False, batch_size=20, burn_in=0, thin=1, lazy=lazy,
    )  # fmt: skip
    model = BayesianLinearSVC(sampler=sampler, n_draws=480, n_chains=2, random_state=0)
    with pytest.warns(UserWarning, match="not converged|variance"):
        model.fit(X, y)
    coef = model.posterior_["coef"]
    places = np.unique(coef[0, :, 0], return_inverse=True)[1]
    assert np.bincount(places).max() >= 5  # 25/5.8 draws in the mean, and more at first
    step = 0.1 / np.sqrt(1.0 + (np.arange(480) + 1.0) / 20.0)
    wanted = np.round(480 * step**2 / np.sum(step**2))
    found = np.bincount(np.cumsum(np.append(0, np.any(np.diff(coef[0], axis=0), axis=1))))
    np.testing.assert_allclose(found[:20], wanted[:20], atol=1.0)
    np.testing.assert_allclose(model.coef_[0], coef.mean(axis=(0, 1)), atol=0.02)


def test_weights_give_the_moments_of_the_draws_and_copies_in_their_place():
    """Two chains of four draws, of which the first counts as much as the other three together."""
    draws = np.random.default_rng(0).standard_normal((2, 4, 3)).astype(np.float32)
    store = DrawStore(2, 4, 3)
    store.array[:] = draws
    nothing = dict.fromkeys(("advance", "watch", "to_weights", "describe", "moving"))
    chains = [WideChain(number=k, size=3, store=store, made=4, **nothing) for k in range(2)]
    kept = WideDraws(chains, None, 1)
    kept.weigh(np.array([3.0, 1.0, 1.0, 1.0]))
    np.testing.assert_array_equal(kept.weights(np.empty(0)), draws[:, [0, 0, 1, 3]])
    mean, variance = kept.moments()
    weight = np.tile([3.0, 1.0, 1.0, 1.0], 2)
    flat = draws.reshape(8, 3).astype(float)
    np.testing.assert_allclose(mean, np.average(flat, axis=0, weights=weight), rtol=1e-6)
    spread = np.average((flat - mean) ** 2, axis=0, weights=weight) * 8 / 7
    np.testing.assert_allclose(variance, spread, rtol=1e-6)
