"""Chains visit labellings as often as enumeration says; planted mistakes are noticed."""

import numpy as np
import pytest

from bayesmargin.dynamics.hamiltonian import Hamiltonian, energy_of
from bayesmargin.models.crowd.model import Voting
from bayesmargin.models.crowd.reading import sorted_votes
from bayesmargin.models.crowd.votes import UNKNOWN
from bayesmargin.models.crowd.weights import weights_of
from bayesmargin.running.gibbs import Gibbs
from bayesmargin.targets.base import Scratch

from .enumeration import hinge, labellings

TWO = np.array([[0, 0], [1, 0], [1, -1], [0, 1]])
THREE = np.array([[0, 1], [2, 2], [1, 2]])
COST, MARGIN, MEAN, SCALE = 0.8, 1.2, 0.3, 0.9


def voting(table, n_classes, strength, known=None):
    """The model of a small table."""
    item, worker = np.nonzero(table >= 0)
    told = np.full(len(table), UNKNOWN)
    for place, label in (known or {}).items():
        told[place] = label
    return Voting(
        votes=sorted_votes(item, worker, table[item, worker], len(table)), known=told,
        n_workers=table.shape[1], n_classes=n_classes,
        strength=np.zeros((0, 0)) if strength is None else np.array(strength, float),
        cost=COST, margin=MARGIN, mean=MEAN, scale=SCALE,
        dynamics=Hamiltonian(1.5, 0, 0.2, 0.8), step=None, moves=2,
    )  # fmt: skip


def visited(model, n_sweeps, seed=0):
    """How often each labelling was visited, and the mean weights."""
    chain = Gibbs(Watching(model), np.random.default_rng(seed), 500, range(500, n_sweeps))
    chain.run(n_sweeps)
    truths = np.array([truth for truth, _ in chain.draws])
    base = model.n_classes ** np.arange(truths.shape[1])[::-1]
    counts = np.bincount(truths @ base, minlength=model.n_classes ** truths.shape[1])
    return counts / counts.sum(), np.mean([weight for _, weight in chain.draws], axis=0), chain


class Watching:
    """A model whose draws are the labels and the weights."""

    def __init__(self, model):
        self.model, self.blocks = model, model.blocks
        self.begin = model.begin

    def traces(self, state):
        return {}

    def draw(self, state):
        return state.truth.copy(), state.target.eta.copy()


CASES = {
    "plain": (TWO, 2, None),
    "with matrices": (TWO, 2, [[2.0, 1.0], [1.0, 2.0]]),
    "three classes": (THREE, 3, [[2.0, 0.5, 0.5], [0.5, 2.0, 0.5], [0.5, 0.5, 2.0]]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_long_chains_come_within_a_hundredth(name):
    table, n_classes, strength = CASES[name]
    found, _, _ = visited(voting(table, n_classes, strength), 400_500)
    _, chance, _ = labellings(table, n_classes, COST, MARGIN, MEAN, SCALE, strength)
    assert 0.5 * np.abs(found - chance).sum() < 0.01


@pytest.mark.parametrize("name", CASES)
def test_labellings_are_as_frequent_as_enumeration_says(name):
    table, n_classes, strength = CASES[name]
    found, weight, chain = visited(voting(table, n_classes, strength), 40_500)
    _, chance, mean = labellings(table, n_classes, COST, MARGIN, MEAN, SCALE, strength)
    # 40,000 sweeps; the distance of so many independent draws would be 0.004 (two classes, 16
    # labellings) and 0.008 (27), and sweeps depend on each other.
    assert 0.5 * np.abs(found - chance).sum() < 0.02
    np.testing.assert_allclose(weight, mean, atol=0.03)
    # The probabilities that labels were drawn with are those of the items, with less noise.
    shares = chain.state.chances / chain.state.counted
    every = np.array(np.unravel_index(np.arange(len(chance)), (n_classes,) * len(table))).T
    exact = [[chance[every[:, i] == k].sum() for k in range(n_classes)] for i in range(len(table))]
    np.testing.assert_allclose(shares, exact, atol=0.01)


def test_known_labels_stay():
    table, n_classes, strength = CASES["with matrices"]
    found, _, chain = visited(voting(table, n_classes, strength, {0: 1, 3: 0}), 20_500)
    every, chance, _ = labellings(table, n_classes, COST, MARGIN, MEAN, SCALE, strength)
    allowed = np.array([truth[0] == 1 and truth[3] == 0 for truth in every])
    assert found[~allowed].sum() == 0.0
    expected = np.where(allowed, chance, 0.0)
    assert 0.5 * np.abs(found - expected / expected.sum()).sum() < 0.02
    assert (chain.state.chances[0] / chain.state.counted).tolist() == [0.0, 1.0]


def test_a_planted_mistake_is_noticed():
    """One pseudo-count too many in every cell: the distance is far beyond the noise."""
    table, n_classes, strength = CASES["with matrices"]
    model = voting(table, n_classes, strength)
    wrong = model._replace(strength=model.strength + 1.0)
    found, _, _ = visited(wrong, 10_500)
    _, chance, _ = labellings(table, n_classes, COST, MARGIN, MEAN, SCALE, strength)
    assert 0.5 * np.abs(found - chance).sum() > 0.03


def test_gradient_is_that_of_the_energy():
    rng = np.random.default_rng(0)
    table = rng.integers(-1, 3, (20, 4))
    item, worker = np.nonzero(table >= 0)
    truth = rng.integers(0, 3, 20)
    votes = sorted_votes(item, worker, table[item, worker], 20)
    target = weights_of(votes, truth, 3, 4, COST, MARGIN, MEAN, SCALE)
    work = Scratch(np.empty(4), np.empty(0), np.empty(0))
    place = rng.standard_normal(4)
    value, gradient = energy_of(target, place, work), work.gradient.copy()
    eta = MEAN + target.width * place
    scores = np.zeros((20, 3))
    np.add.at(scores, (item, table[item, worker]), eta[worker])
    direct = 0.5 * np.sum(((eta - MEAN) / SCALE) ** 2)
    direct += COST * sum(hinge(scores[i], truth[i], MARGIN) for i in range(20))
    assert value == pytest.approx(direct)
    for j in range(4):
        ahead = energy_of(target, place + 1e-6 * np.eye(4)[j], work)
        assert gradient[j] == pytest.approx((ahead - value) / 1e-6, abs=1e-4)
