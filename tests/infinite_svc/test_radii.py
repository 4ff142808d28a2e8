"""Kept radii stay bounds, and stay useful however long a chain is."""

import numpy as np
import pytest

from bayesmargin.foundation.compiling import from_python
from bayesmargin.models.infinite_svc import radii
from bayesmargin.models.infinite_svc.chain import Settings, start_chain
from bayesmargin.models.infinite_svc.preparation import make_base, make_rows
from bayesmargin.models.infinite_svc.state import Hinge
from bayesmargin.models.infinite_svc.weights_augmentation import Augmentation

HINGE = Hinge(2.0, 1.0)

least_radius = from_python(radii.least_radius)
keep_radius = from_python(radii.keep_radius)
renew_radii = from_python(radii.renew_radii)


@pytest.fixture
def chain():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) + 2.0 * rng.integers(0, 3, (200, 1))
    labels = rng.integers(0, 2, 200)
    base = make_base(np.zeros(3), 0.1, 5.0, 0.3 * np.eye(3), 1.0, 200)
    rows = make_rows(X, np.column_stack([X, np.ones(200)]), labels, base, HINGE)
    settings = Settings(HINGE, Augmentation(1))
    chain = start_chain(rng, rows, base, settings, np.arange(200) % 4, 2, 1.0)
    for _ in range(5):
        chain.sweep()
    return chain


def _slots(chain):
    return chain.components.order[: chain.components.size[0]]


def _radii_now(chain, slot):
    gap = chain.rows.covariates - chain.components.centre[slot]
    return np.sqrt(np.einsum("di,ij,dj->d", gap, chain.components.inverse[slot], gap))


def _bounds(chain, slot):
    shrink, reach = chain.components.shrink, chain.assignment.reach
    return np.array([least_radius(d, slot, shrink, reach) for d in range(len(reach))])


def test_a_long_worn_component_keeps_radii_again(chain):
    slot = int(np.argmax(chain.components.population))
    chain.components.shrink[slot] = (1e-40, 0.1)  # as thousands of joining rows leave it
    chain.sweep()
    now = _radii_now(chain, slot)
    keep_radius(7, slot, now[7], chain.components.shrink, chain.assignment.reach)
    assert _bounds(chain, slot)[7] == pytest.approx(now[7], rel=1e-5)


def test_radii_stay_bounds_when_wear_is_taken_into_them(chain):
    for slot in _slots(chain):
        for d, radius in enumerate(_radii_now(chain, slot)):
            keep_radius(d, slot, radius, chain.components.shrink, chain.assignment.reach)
        chain.components.shrink[slot] *= (1e-13, 0.5)
    before = {slot: _bounds(chain, slot) for slot in _slots(chain)}
    renew_radii(chain.assignment, chain.components)
    for slot, bound in before.items():
        after = _bounds(chain, slot)
        assert (after <= bound).all()
        np.testing.assert_allclose(after, bound, rtol=1e-5)
        assert tuple(chain.components.shrink[slot]) == (1.0, 0.0)


def test_every_kept_radius_bounds_the_present_one_throughout_a_chain(chain):
    informative = 0
    for _ in range(30):
        chain.sweep()
        for slot in _slots(chain):
            now, bound = _radii_now(chain, slot), _bounds(chain, slot)
            assert (bound <= now + 1e-9).all()
            informative += int((bound > 0.5 * now).sum())
    assert informative > 1000
