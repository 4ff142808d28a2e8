"""The chain against the enumerated posterior over all partitions of four points."""

import numpy as np
import pytest
from enumeration import canonical, exact_posterior

from bayesmargin.models.infinite_svc.births import EXACT, PRIOR_DRAW
from bayesmargin.models.infinite_svc.chain import Settings, start_chain
from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
from bayesmargin.models.infinite_svc.state import Hinge
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation
from bayesmargin.models.infinite_svc.weights_hamiltonian import Hamiltonian

HINGE = Hinge(1.5, 1.0)
CONCENTRATION = 0.8
METHODS = {"gibbs": Augmentation(1), "hmc": Hamiltonian(0.4, 6)}


def _problem(covariates, classes, diagonal=False):
    x = np.array([[-1.1, 0.7], [0.2, 0.9], [0.5, -0.4], [1.6, 0.3]])
    labels = np.array([0, 1, 0, 1] if classes == 2 else [0, 1, 2, 1])
    design = np.column_stack([x[:, :1], np.ones(4)]) if classes == 2 else x[:, :1].copy()
    degrees = (1 if diagonal else covariates) + 2.0
    scatter = 0.4 * np.eye(covariates)
    base = make_base(np.zeros(covariates), 0.3, degrees, scatter, 1.5, 4, diagonal)
    return make_rows(x[:, :covariates].copy(), design, labels, base, HINGE), base


def total_variation(
    covariates, classes, method, scheme, proposals, sweeps, seed=1, groups=1, diagonal=False
):
    """Distance between the visited partitions and the enumerated posterior."""
    rows, base = _problem(covariates, classes, diagonal)
    vectors = 1 if classes == 2 else classes
    exact = exact_posterior(rows, base, HINGE, CONCENTRATION, vectors)
    settings = Settings(HINGE, METHODS[method], scheme=scheme, proposals=proposals, groups=groups)
    chain = start_chain(
        np.random.default_rng(seed), rows, base, settings, np.zeros(4, int), classes, CONCENTRATION
    )
    visits = dict.fromkeys(exact, 0)
    for _ in range(sweeps):
        chain.sweep()
        visits[canonical(chain.assignment.slot)] += 1
    return 0.5 * sum(abs(visits[p] / sweeps - exact[p]) for p in exact)


def test_exact_chain_visits_partitions_with_their_probabilities():
    assert total_variation(1, 2, "gibbs", EXACT, 1, 60_000) < 0.01


def test_chain_with_independent_columns_visits_partitions_with_their_probabilities():
    assert total_variation(2, 2, "gibbs", EXACT, 1, 60_000, diagonal=True) < 0.01


def test_prior_draw_for_a_new_component_fails_the_same_test():
    assert total_variation(1, 2, "gibbs", PRIOR_DRAW, 0, 10_000) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("method", ["gibbs", "hmc"])
@pytest.mark.parametrize("scheme", [EXACT, 3])
@pytest.mark.parametrize("proposals", [0, 2])
@pytest.mark.parametrize(("covariates", "classes"), [(1, 2), (0, 2), (1, 3)])
def test_every_exact_combination(covariates, classes, method, scheme, proposals):
    distance = total_variation(covariates, classes, method, scheme, proposals, 200_000)
    assert distance < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [EXACT, 3])
@pytest.mark.parametrize("proposals", [0, 2])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("diagonal", [False, True])
def test_two_columns_in_every_exact_combination(classes, scheme, proposals, diagonal):
    distance = total_variation(2, classes, "gibbs", scheme, proposals, 200_000, diagonal=diagonal)
    assert distance < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("covariates", [0, 1])
def test_prior_draw_fails_by_far(covariates):
    assert total_variation(covariates, 2, "gibbs", PRIOR_DRAW, 0, 100_000) > 0.1
