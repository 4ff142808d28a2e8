"""Settings of samplers are values: equal ones are equal, hash alike and never change."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from bayesmargin import BayesianLinearSVC
from bayesmargin.samplers import LangevinMC, SubgradientHMC


@pytest.mark.parametrize("kind", [SubgradientHMC, LangevinMC])
@pytest.mark.parametrize("mass", [np.array([1.0, 2.0]), np.array([[2.0, 0.5], [0.5, 1.0]])])
def test_settings_that_hold_an_array_are_compared_by_their_numbers(kind, mass):
    one = kind(mass=mass)
    assert one == kind(mass=mass.tolist())
    assert hash(one) == hash(kind(mass=mass.copy()))
    assert one != kind(mass=2.0 * mass)
    assert one != kind(mass=mass, thin=2)
    assert one != kind()
    assert len({one, kind(mass=mass), kind(mass=2.0 * mass)}) == 2
    assert pickle.loads(pickle.dumps(one)) == one
    assert clone(BayesianLinearSVC(sampler=one)).sampler == one


def test_equal_settings_of_another_sampler_are_not_equal():
    shared = {"target_acceptance": 0.7, "mass": "dense"}
    assert SubgradientHMC(**shared) != LangevinMC(**shared)
    assert SubgradientHMC() == SubgradientHMC()
    assert SubgradientHMC() != "hmc"


def test_a_mass_is_not_the_array_it_came_from():
    given = np.ones(2)
    sampler = SubgradientHMC(mass=given)
    given[:] = -1.0
    np.testing.assert_array_equal(sampler.mass, [1.0, 1.0])
    with pytest.raises(ValueError, match="read-only"):
        sampler.mass[0] = 3.0
