"""What is told of every draw beside its weights."""

from dataclasses import dataclass

import numpy as np
import pytest

from bayesmargin.posterior import Posterior
from bayesmargin.running.ensemble import Account
from bayesmargin.running.statistics import statistics_of, together


@dataclass(frozen=True, kw_only=True)
class Warm(Account):
    level: float = 0.1

    @property
    def diffusion(self):
        return self.level


@pytest.fixture
def trace():
    return np.random.default_rng(0).random((2, 10, 3))


def test_a_thermostat_tells_its_temperature_and_friction(trace):
    found = statistics_of(Warm(), {}, trace, 10)
    np.testing.assert_allclose(found["temperature"], trace[..., 0], rtol=1e-6)
    np.testing.assert_allclose(found["thermostat"], trace[..., 1], rtol=1e-6)


def test_trajectories_tell_how_many_are_accepted(trace):
    for name in ("acceptance", "acceptance_rate"):
        found = statistics_of(Account(), {name: 0.8}, trace, 10)
        assert list(found) == ["acceptance_rate"]
    assert statistics_of(Account(), {}, trace, 10) == {}


def test_of_draws_that_are_not_kept_nothing_is_told(trace):
    found = statistics_of(Warm(), {}, trace, 4)  # every third one
    np.testing.assert_allclose(found["temperature"], trace[:, [0, 3, 6, 9], 0], rtol=1e-6)
    assert statistics_of(Warm(), {}, trace, 11) == {}


def test_runs_of_several_classes_stand_side_by_side(trace):
    runs = [statistics_of(Warm(), {}, trace, 10), statistics_of(Warm(), {}, trace[:, :8], 8)]
    found = together(runs, 8)
    assert found["temperature"].shape == (2, 8, 2)
    draws = {"coef": trace[:, :8, None, :2].repeat(2, axis=2), "intercept": trace[:, :8, :2]}
    dims = {"coef": ("class", "feature"), "intercept": ("class",)}
    attrs = {"step": 0.3, "divergent_trajectories": 2}
    posterior = Posterior(draws, dims, {"class": ["a", "b"]}, attrs, None, found)
    told = posterior.to_arviz().sample_stats
    assert told["temperature"].dims == ("chain", "draw", "class")
    assert (told["step_size"] == 0.3).all()
    assert "diverging" not in told  # nothing is known of which draws did
