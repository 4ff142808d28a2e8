"""The thermostat of the weights against exact draws by augmentation, topics of words given."""

import numpy as np
import pytest

from bayesmargin.foundation.random import augmentation_precision
from bayesmargin.models.medlda.gibbs import draw_weights
from bayesmargin.models.medlda.hinges import MultiTaskHinge
from bayesmargin.models.medlda.parameters import default_prior_scale
from bayesmargin.models.medlda.settings import Settings
from bayesmargin.models.medlda.weights import ThermostatMover, starting_weights

from .compiled import jit

HINGE = MultiTaskHinge(1.0, 164.0)
N_TOPICS = 5


def draw_shares(n_documents, seed):
    """Shares of topics, two of which belong to classes, and signs of two classifiers."""
    rng = np.random.default_rng(seed)
    label = rng.integers(2, size=n_documents)
    weight = np.full((n_documents, N_TOPICS), 0.5)
    weight[np.arange(n_documents), label] += 2.0
    shares = rng.gamma(weight)
    shares = rng.multinomial(40, shares / shares.sum(axis=1, keepdims=True)) / 40
    return shares, np.where(label[:, None] == np.arange(2), 1, -1).astype(np.int8)


@jit
def fill_precisions(rng, cost, slack, precisions):
    for d in range(slack.shape[0]):
        for i in range(slack.shape[1]):
            precisions[d, i] = augmentation_precision(rng, cost, slack[d, i])


def exact_weights(shares, signs, variance, n_draws, seed):
    """Draws of the weights given the shares, by augmentation."""
    rng, precisions, draws = np.random.default_rng(seed), np.ones(signs.shape), []
    for _ in range(n_draws + 200):
        draws.append(draw_weights(rng, shares, signs, precisions, HINGE, variance))
        fill_precisions(rng, 1.0, np.abs(HINGE.margin - signs * (shares @ draws[-1].T)), precisions)
    return np.array(draws[200:])


def thermostat_weights(shares, signs, variance, n_steps, batch_size, seed):
    """The path of the weights under the thermostat, its settings being the defaults."""
    n_documents, n_classes = signs.shape
    rng = np.random.default_rng(seed)
    settings = Settings(HINGE, N_TOPICS, 1, n_classes, 1.0, 0.1, variance, 1, 0, "sgrld", 1.0)
    mover = ThermostatMover(0.0)
    coef = starting_weights(HINGE, n_classes, N_TOPICS, rng)
    mover.start(coef.shape, rng)
    mover.expect(n_steps)
    path = []
    for _ in range(n_steps):
        mover.follow(settings, n_documents)
        some = rng.choice(n_documents, size=batch_size, replace=False)
        active = HINGE.margin - signs[some] * (shares[some] @ coef.T) > 0.0
        pull = (signs[some] * active).T @ shares[some]
        gradient = coef / variance - n_documents / batch_size * pull
        coef = mover.after(coef, gradient, rng)
        path.append(coef)
    return np.array(path)


@pytest.mark.parametrize(
    ("n_documents", "batch_size"), [pytest.param(80, 80, marks=pytest.mark.slow), (400, 100)]
)
def test_the_thermostat_has_the_mean_and_spread_of_exact_draws(n_documents, batch_size):
    """With a mass of one the weights had stayed where they start, and wandered for ages."""
    shares, signs = draw_shares(n_documents, 1)
    variance = default_prior_scale(HINGE, 2, n_documents) ** 2
    exact = exact_weights(shares, signs, variance, 3000, 2)
    runs = [
        thermostat_weights(shares, signs, variance, 12_000, batch_size, seed) for seed in (3, 4, 5)
    ]
    kept = np.concatenate([path[6000:] for path in runs])
    away = (kept - exact.mean(axis=0)) / exact.std(axis=0)
    assert np.abs(away.mean(axis=0)).max() < 0.3
    np.testing.assert_allclose(np.sqrt(np.mean(away**2, axis=0)), 1.0, atol=0.15)


@pytest.mark.parametrize(("n_documents", "batch_size"), [(80, 80), (400, 100), (1500, 250)])
def test_the_thermostat_has_arrived_when_chains_of_default_length_keep_draws(
    n_documents, batch_size
):
    shares, signs = draw_shares(n_documents, 1)
    variance = default_prior_scale(HINGE, 2, n_documents) ** 2
    exact = exact_weights(shares, signs, variance, 800, 2)
    kept = thermostat_weights(shares, signs, variance, 150, batch_size, 3)[75:]
    assert np.abs(kept.mean(axis=0) - exact.mean(axis=0)).max() < 6.0  # weights are 200
