"""Groups of components that are swept side by side have the posterior of a plain sweep."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from test_enumeration import CONCENTRATION, HINGE, METHODS, _problem, total_variation

from bayesmargin import InfiniteSVC
from bayesmargin.models.infinite_svc import groups
from bayesmargin.models.infinite_svc.births import EXACT
from bayesmargin.models.infinite_svc.chain import BLOCKS, Settings, start_chain
from bayesmargin.models.infinite_svc.groups import GroupedSweep, deal_slots
from bayesmargin.running.gibbs import sweep


def test_partitions_have_their_probabilities():
    """Chance alone is 0.008 to 0.014 (eight seeds); longer runs are below."""
    assert total_variation(1, 2, "gibbs", EXACT, 0, 20_000, groups=2) < 0.02


def test_a_group_of_the_whole_concentration_fails_the_same_test(monkeypatch):
    """A group has its share of the concentration alone."""
    honest = GroupedSweep.go_on

    def whole(self, call, mixture, concentration, *others):
        return honest(self, call, mixture, 2.0 * concentration, *others)

    monkeypatch.setattr(groups.GroupedSweep, "go_on", whole)
    assert total_variation(1, 2, "gibbs", EXACT, 0, 8_000, groups=2) > 0.05


@pytest.mark.slow
@pytest.mark.parametrize(
    ("covariates", "classes", "method", "scheme", "number"),
    [
        (1, 2, "gibbs", EXACT, 2),
        (1, 2, "hmc", EXACT, 4),
        (0, 2, "hmc", 3, 3),
        (1, 3, "gibbs", 3, 5),
    ],
)
def test_every_kind_of_sweep_is_exact(covariates, classes, method, scheme, number):
    distance = total_variation(covariates, classes, method, scheme, 1, 200_000, groups=number)
    assert distance < 0.01


def start(rng, number):
    rows, base = _problem(1, 2)
    settings = Settings(HINGE, METHODS["gibbs"], groups=number)
    return start_chain(rng, rows, base, settings, np.zeros(4, int), 2, CONCENTRATION)


def test_a_group_without_a_free_slot_is_given_more():
    """More groups than there are slots."""
    chain = start(np.random.default_rng(0), 30)
    capacity = len(chain.components.order)
    assert capacity < 30
    for _ in range(200):
        chain.sweep()
        order, size = chain.components.order, int(chain.components.size[0])
        assert sorted(order) == list(range(len(order)))
        assert set(order[:size]) == set(chain.assignment.slot)
        population = np.bincount(chain.assignment.slot, minlength=len(order))
        assert np.array_equal(chain.components.population, population)
    assert len(chain.components.order) > capacity


def test_slots_are_dealt_once():
    order = np.random.default_rng(1).permutation(11)
    parts = deal_slots(order, 5, np.array([2, 0, 2, 2, 0]), 3)
    assert sorted(np.concatenate(parts)) == list(range(11))
    assert list(parts[0][:2]) == [order[1], order[4]]
    assert set(parts[1]).isdisjoint(order[:5])
    assert list(parts[2][:3]) == [order[0], order[2], order[3]]


def test_rows_stay_in_their_group_during_a_sweep():
    X, y = make_blobs(600, centers=8, cluster_std=1.5, random_state=0)
    model = InfiniteSVC(
        n_sweeps=4, sampler__groups=3, sampler__n_clusters=12, sampler__joining=None, random_state=0
    )
    met = []
    honest = GroupedSweep.go_on

    def watched(self, call, mixture, *others):
        slot = mixture.assignment.slot
        before = self._labels[slot].copy()
        moved = honest(self, call, mixture, *others)
        met.append((np.array_equal(before, self._labels[slot]), moved, len(set(before))))
        return moved

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GroupedSweep, "go_on", watched)
        model.fit(X, y % 2)
    assert all(kept for kept, _, _ in met)
    assert sum(moved for _, moved, _ in met) > 0
    assert max(labels for _, _, labels in met) == 3


@pytest.mark.parametrize("n_chains", [1, 2])
def test_draws_do_not_depend_on_threads(n_chains):
    X, y = make_blobs(800, centers=6, cluster_std=2.0, random_state=0)
    settings = {"n_sweeps": 20, "sampler__groups": 4, "n_chains": n_chains, "random_state": 0}
    alone = InfiniteSVC(**settings).fit(X, y % 3)
    beside = InfiniteSVC(**settings, n_jobs=4).fit(X, y % 3)
    assert np.array_equal(alone.predict_proba(X), beside.predict_proba(X))
    assert np.array_equal(alone.n_components_, beside.n_components_)
    other = InfiniteSVC(**{**settings, "sampler__groups": 1}).fit(X, y % 3)
    assert not np.array_equal(alone.predict_proba(X), other.predict_proba(X))


def test_seconds_of_other_threads_count():
    chain, pooled = (start(np.random.default_rng(0), 2) for _ in range(2))
    with ThreadPoolExecutor(2) as pool:
        pooled.pool = pool
        seconds = {}
        for _ in range(100):
            sweep(BLOCKS, chain, seconds=seconds)
            pooled.sweep()
    assert np.array_equal(chain.assignment.slot, pooled.assignment.slot)
    assert chain.elsewhere == 0.0
    assert pooled.elsewhere > 0.1 * seconds["assignments"]


def test_groups_must_be_a_count():
    with pytest.raises(ValueError, match="groups"):
        InfiniteSVC(sampler__groups=0).fit([[0.0], [1.0]], [0, 1])
