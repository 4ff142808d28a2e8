"""Components that describe the same rows are joined early, and a chain that keeps them says so."""

import math

import numpy as np
import pytest
from enumeration import _log_psi, log_crp, log_niw

from bayesmargin import InfiniteSVC
from bayesmargin.errors import ConvergenceWarning
from bayesmargin.models.infinite_svc.chain import Settings, start_chain
from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
from bayesmargin.models.infinite_svc.state import Hinge
from bayesmargin.models.infinite_svc.weights_thermostat import Thermostat

CONCENTRATION = 1e-4


def _chain(covariates, labels, clusters, weights, cost=0.4):
    """A chain of two components with the given experts, two classes."""
    hinge = Hinge(cost, 1.0)
    size = covariates.shape[1]
    base = make_base(np.zeros(size), 0.1, size + 2.0, 0.5 * np.eye(size), 1.0, len(labels))
    design = np.column_stack([covariates, np.ones(len(labels))])
    rows = make_rows(covariates, design, labels, base, hinge)
    settings = Settings(hinge=hinge, method=Thermostat(0.1, 5, 0, 1.0))
    rng = np.random.default_rng(5)
    chain = start_chain(rng, rows, base, settings, clusters, 2, CONCENTRATION)
    chain.components.weights[:2, 0] = weights
    return chain


def _textbook_gain(chain, clusters, weights):
    """The gain of joining two components, the smaller giving up its weights, by definition."""
    rows, base, hinge = chain.rows, chain.base, chain.settings.hinge

    def evidence(members):
        prior = base.location, base.strength, base.degrees, base.scatter
        return log_niw(rows.covariates[members], *prior)

    def psi(d, k):
        return float(_log_psi(np.array([weights[k] @ rows.design[d]]), rows.labels[d], hinge))

    groups = [np.flatnonzero(clusters == k) for k in range(2)]
    everyone = np.arange(len(clusters))
    own = int(len(groups[1]) > len(groups[0]))
    gain = log_crp(0 * clusters, CONCENTRATION) - log_crp(clusters, CONCENTRATION)
    gain += evidence(everyone) - evidence(groups[0]) - evidence(groups[1])
    gain += sum(psi(d, own) - psi(d, 1 - own) for d in groups[1 - own])
    for k in range(2):
        mine, theirs = groups[k], groups[1 - k]
        for d in mine:
            rest = mine[mine != d]
            stay = math.log(len(rest)) + evidence(mine) - evidence(rest) + psi(d, k)
            leave = math.log(len(theirs)) - evidence(theirs) + psi(d, 1 - k)
            leave += evidence(np.append(theirs, d))
            gain += stay - np.logaddexp(stay, leave)
    return gain


@pytest.mark.parametrize("seed", range(3))
def test_gain_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    covariates, labels = rng.normal(size=(14, 2)), rng.integers(0, 2, 14)
    clusters = (np.arange(14) % 5 < 2).astype(np.int64)
    weights = 0.2 * rng.normal(size=(2, 3))
    chain = _chain(covariates, labels, clusters, weights)
    exact = _textbook_gain(chain, clusters, weights)
    assert exact > 0.5
    assert chain.joining_gain() == pytest.approx(exact, rel=1e-9)


def test_far_components_are_not_joined():
    rng = np.random.default_rng(0)
    clusters = np.arange(60) % 2
    covariates = rng.normal(size=(60, 2)) + 6.0 * clusters[:, None]
    chain = _chain(covariates, clusters, clusters, np.zeros((2, 3)))
    assert chain.joining_gain() == 0.0
    assert chain.join(math.inf) == 0
    assert chain.components.size[0] == 2


def test_caution_keeps_experts_that_differ_apart():
    rng = np.random.default_rng(1)
    covariates = rng.normal(size=(400, 2))
    clusters = np.arange(400) % 2
    labels = (covariates[:, 0] > 0.0) ^ (clusters == 1)
    weights = np.array([[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]])
    for caution, joined in ((3.0, 0), (math.inf, 1)):
        chain = _chain(covariates, labels.astype(np.int64), clusters, weights, cost=0.05)
        assert chain.join(caution) == joined
        assert chain.components.size[0] == 2 - joined
    members = np.arange(400)
    np.testing.assert_array_equal(np.unique(chain.assignment.slot), chain.components.order[:1])
    slot = chain.components.order[0]
    begin, end = chain.assignment.start[slot], chain.assignment.start[slot + 1]
    np.testing.assert_array_equal(chain.assignment.members[begin:end], members)
    chain.sweep()


@pytest.mark.parametrize("seed", range(4))
def test_a_pair_is_fitted_an_expert_where_the_larger_has_not_seen_one_class(seed):
    rng = np.random.default_rng(seed)
    covariates = rng.normal(size=(600, 2))
    labels = (covariates[:, 0] > 1.2).astype(np.int64)
    clusters = (covariates[:, 0] > 0.8).astype(np.int64)
    weights = np.array([[0.0, 0.0, -2.0], [4.0, 0.0, -4.8]])
    chain = _chain(covariates, labels, clusters, weights, cost=1.0)
    chain.sweeps = 1
    assert chain.join(3.0) == 0
    chain.sweeps = 5
    assert chain.join(3.0) == 1
    expert = chain.components.weights[chain.components.order[0], 0]
    assert np.mean((chain.rows.design @ expert > 0.0) == labels) > 0.97


@pytest.mark.parametrize("seed", range(3))
def test_experts_with_more_weights_than_rows_are_not_fitted(seed):
    """They would serve any rows: random labels of 20 rows with 20 columns are separable."""
    rng = np.random.default_rng(seed)
    covariates = rng.normal(size=(40, 20))
    labels, clusters = rng.integers(0, 2, 40), np.arange(40) % 2
    halves = [clusters == k for k in range(2)]
    fits = [np.linalg.pinv(covariates[half]) @ (2 * labels[half] - 1) for half in halves]
    weights = np.column_stack([3.0 * np.array(fits), np.zeros(2)])
    chain = _chain(covariates, labels, clusters, weights, cost=1.0)
    chain.sweeps = 5
    assert chain.join(21.0) == 0


def test_two_boundaries_in_one_cloud_stay_apart():
    """An expert for both would lose what the cautious keep, however well it is fitted."""
    rng = np.random.default_rng(2)
    covariates = rng.normal(size=(600, 2))
    clusters = (covariates[:, 1] > 0.0).astype(np.int64)
    labels = (covariates[:, 0] > 0.0) ^ (clusters == 1)
    weights = np.array([[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]])
    for caution, joined in ((3.0, 0), (math.inf, 1)):
        chain = _chain(covariates, labels.astype(np.int64), clusters, weights, cost=0.02)
        chain.sweeps = 5
        assert chain.join(caution) == joined


def _groups(rows):
    rng = np.random.default_rng(0)
    labels = np.arange(rows) % 2
    return rng.normal(size=(rows, 2)) + np.array([8.0, 0.0]) * labels[:, None], labels


@pytest.mark.filterwarnings("ignore::bayesmargin.errors.ConvergenceWarning")
@pytest.mark.parametrize(
    ("rows", "sweeps"), [(2000, 100), pytest.param(20_000, 40, marks=pytest.mark.slow)]
)
def test_number_of_components_finds_its_level_in_tens_of_sweeps(rows, sweeps):
    """Two groups, 2.9 components in long chains; merges alone leave nine, and of many rows all."""
    X, y = _groups(rows)
    numbers = {
        joining: [
            InfiniteSVC(
                n_sweeps=sweeps, sampler__joining=joining, prediction="vote", random_state=seed
            )
            .fit(X, y)
            .n_components_.mean()
            for seed in range(4)
        ]
        for joining in ("cautious", None)
    }
    assert np.mean(numbers["cautious"]) < 3.7
    assert max(numbers["cautious"]) < 6.0
    assert min(numbers[None]) > 7.0


def test_a_chain_that_keeps_what_belongs_together_says_so():
    """A cloud cut in two by an unlucky start, where two Gaussians have nothing for themselves."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 12)), rng.integers(0, 2, 5000)
    model = InfiniteSVC(
        C=0.01, sampler__n_clusters=2, n_sweeps=45, sampler__burn_in=5, random_state=0
    )
    with pytest.warns(
        ConvergenceWarning, match="more probable as one, by .* nats.*joining='eager'"
    ):
        model.set_params(sampler__joining=None, sampler__split_merge=0).fit(X, y)
    assert model.diagnostics_["joining"] > 25.0
    assert model.diagnostics_.trustworthy is False
    assert "too MANY components" in str(model.diagnostics_)


def test_settings_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="joining='greedy' is not allowed"):
        InfiniteSVC(sampler__joining="greedy").fit([[0.0], [1.0]], [0, 1])
