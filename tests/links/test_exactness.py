"""Chains visit feature matrices as often as enumeration says; planted mistakes are noticed."""

import numpy as np
import pytest

from bayesmargin.dynamics.hamiltonian import Hamiltonian, energy_of
from bayesmargin.models.buffet.features import enlarged, features_of
from bayesmargin.models.buffet.prior import draw_buffet
from bayesmargin.models.links.model import AugmentedWeights, LinkModel, MovedWeights
from bayesmargin.models.links.pairs import Asked, indexed
from bayesmargin.models.links.target import Heights, n_positions, start_positions
from bayesmargin.models.links.view import energy_of_links, refresh
from bayesmargin.models.links.weights import INTERCEPT_SCALE
from bayesmargin.running.gibbs import Gibbs
from bayesmargin.targets.base import Scratch

from ..buffet.enumeration import distance, name_of
from .enumeration import posterior

CONCENTRATION, MARGIN, SCALE = 0.3, 0.8, 2.0
SYMMETRIC = (0, 1, 0, 1), (0, 2, 0, 0), (1, 2, 0, 1)
DIRECTED = (0, 1, 0, 1), (1, 0, 0, 0), (2, 1, 1, 1)


def network(rows, symmetric, n_entities=3, cost=1.5, **changes):
    """The model of a few pairs (source, target, relation, linked)."""
    source, target, relation, linked = np.array(rows).T
    asked = Asked(source, target, relation, linked, np.ones(len(linked)))
    roles, relations = 1 if symmetric else 2, int(relation.max()) + 1
    costs = np.linspace(cost, 2.0 * cost, len(linked))
    model = LinkModel(
        indexed(asked, costs, n_entities, relations * roles, roles), n_entities, relations, roles,
        SCALE, MARGIN, CONCENTRATION, None, AugmentedWeights(),
    )  # fmt: skip
    return model._replace(**changes)


class Watching:
    """A model whose draws are the names of the matrices."""

    def __init__(self, model):
        self.model, self.blocks, self.begin = model, model.blocks, model.begin

    def traces(self, state):
        return {}

    def draw(self, state):
        return name_of(state.features.matrix)


def visited(model, n_sweeps, seed=0):
    """Names of the matrices after every sweep."""
    chain = Gibbs(Watching(model), np.random.default_rng(seed), 200, range(200, n_sweeps))
    chain.run(n_sweeps)
    return chain.draws


def expected(model):
    """Their probabilities."""
    return posterior(model.pairs, 3, CONCENTRATION, MARGIN, SCALE, model.roles == 1)


CASES = {"symmetric": (SYMMETRIC, True), "directed, two relations": (DIRECTED, False)}
HMC = MovedWeights(Hamiltonian(1.5, 0, 0.2, 0.8), 2, 0, 0.0)


@pytest.mark.parametrize("name", CASES)
def test_matrices_are_as_frequent_as_enumeration_says(name):
    model = network(*CASES[name])
    # 12,000 independent draws are 0.015 away in the mean, and sweeps depend on each other.
    assert distance(visited(model, 12_200), expected(model)) < 0.04


@pytest.mark.slow
@pytest.mark.parametrize("mover", [AugmentedWeights(), HMC], ids=["gibbs", "hmc"])
@pytest.mark.parametrize("name", CASES)
def test_long_chains_come_within_a_hundredth(name, mover):
    model = network(*CASES[name], mover=mover)
    assert distance(visited(model, 400_200), expected(model)) < 0.01


def test_planted_mistakes_are_noticed():
    """Weights that the chain takes for narrower than they are, and a margin that is too small."""
    model = network(*CASES["symmetric"])
    for wrong in ({"scale": 1.0}, {"margin": 0.4}):
        found = visited(model._replace(**wrong), 12_200)
        assert distance(found, expected(model)) > 0.06


@pytest.mark.parametrize("name", CASES)
def test_gradient_is_that_of_the_energy(name):
    rng = np.random.default_rng(1)
    symmetric = CASES[name][1]
    n, relations = 7, 1 if symmetric else 2
    pairs = [(i, j, r, rng.integers(2)) for r in range(relations) for i in range(n)
             for j in range(n) if (i < j if symmetric else i != j)]  # fmt: skip
    model = network(pairs, symmetric, n_entities=n)
    chain = model.begin(rng)
    linked, free = np.flatnonzero(model.pairs.side > 0), np.flatnonzero(model.pairs.side < 0)
    size = n_positions(int(chain.features.size[0]), relations, symmetric)
    target = Heights(chain.view, chain.features, linked, free, 0, np.empty_like(chain.weights),
                     np.empty(relations), np.empty(size))  # fmt: skip
    start_positions(target, np.empty(size))  # widths
    place, again = rng.standard_normal(size), np.empty(size)
    work = Scratch(*(np.empty(size) for _ in range(3)))
    value, gradient = energy_of(target, place, work), work.gradient.copy()
    start_positions(target, again)
    np.testing.assert_allclose(again, place)
    before = energy_of_links(chain.view)
    prior = 0.5 * np.sum((chain.intercept / INTERCEPT_SCALE) ** 2)
    kept = np.tril(chain.weights) if symmetric else chain.weights
    k = chain.features.size[0]
    prior += 0.5 * np.sum((kept[:, :k, :k] / SCALE) ** 2)
    assert value == pytest.approx(before + prior)
    for j in range(size):
        ahead = energy_of(target, place + 1e-6 * np.eye(size)[j], work)
        assert gradient[j] == pytest.approx((ahead - value) / 1e-6, abs=2e-3)


def test_scores_are_kept_through_a_sweep():
    rng = np.random.default_rng(2)
    pairs = [(i, j, r, rng.integers(2)) for r in range(2) for i in range(9) for j in range(9)
             if i != j]  # fmt: skip
    model = network(pairs, False, n_entities=9, concentration=2.0)
    chain = model.begin(rng)
    for _ in range(20):
        model.blocks[1].update(chain, True)
        kept = chain.view.score.copy(), chain.view.reach.copy()
        refresh(chain.view, chain.features)
        np.testing.assert_allclose(chain.view.score, kept[0], atol=1e-9)
        size = chain.features.size[0]
        np.testing.assert_allclose(chain.view.reach[:, :size], kept[1][:, :size], atol=1e-9)
        model.mover.update(chain, True)


def from_prior(model, rng):
    """A chain whose features, weights and intercepts are those of the prior."""
    held = draw_buffet(rng, model.n_entities, CONCENTRATION)
    chain, size = model.begin(rng), held.shape[1]
    drawn = np.tril(SCALE * rng.standard_normal((1, size, size)))
    drawn += np.swapaxes(np.tril(drawn, -1), 1, 2)
    chain.features = features_of(held, max(16, size))
    chain.weights = enlarged(drawn, max(16, size), (1, 2))
    chain.intercept[:] = INTERCEPT_SCALE * rng.standard_normal(1)
    return chain


def test_successive_draws_have_the_law_of_independent_ones():
    """Geweke's test: labels given scores and a sweep given labels leave their joint law as it is.

    The pseudo-likelihood does not add up to one, so that the marginal law of features and weights
    is not the prior: its draws are those of the prior, taken with the product of the sums.
    """
    rng = np.random.default_rng(3)
    model = network([(0, 1, 0, 1), (0, 2, 0, 0), (1, 2, 0, 1)], True, cost=0.5)
    side, cost = model.pairs.side, model.pairs.cost

    def chance(score):
        logs = [-cost * np.maximum(0.0, MARGIN - y * score) for y in (1.0, -1.0)]
        return np.exp(logs[0]), np.exp(logs[0]) + np.exp(logs[1])

    def fill(chain):
        up, both = chance(chain.view.score)
        side[:] = np.where(rng.random(3) * both < up, 1.0, -1.0)

    def facts(chain):
        held = chain.features.matrix
        return [held.shape[1], held.sum(), (held.sum(axis=0) > 1).sum(), side.sum(),
                energy_of_links(chain.view), np.tanh(chain.view.score[0] * side[0])]  # fmt: skip

    most = np.prod(1.0 + np.exp(-2.0 * cost * MARGIN))
    independent = []
    while len(independent) < 6000:
        chain = from_prior(model, rng)
        if rng.random() * most < np.prod(chance(chain.view.score)[1]):
            fill(chain)
            independent.append(facts(chain))
    chain, successive = model.begin(rng), []
    for _ in range(30_000):
        fill(chain)
        for block in model.blocks:
            block.update(chain, False)
        successive.append(facts(chain))
    one, other = np.array(independent), np.array(successive[500:])
    parts = np.array([part.mean(axis=0) for part in np.array_split(other, 50)])
    error = np.sqrt(one.var(axis=0) / len(one) + parts.var(axis=0, ddof=1) / len(parts))
    assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) < 4.0 * error).all()
