"""Runs that are too short go on: chains that agree keep what they have, others begin again."""

import numpy as np
import pytest

from bayesmargin.diagnostics.assessment import enough_draws
from bayesmargin.errors import DivergenceError
from bayesmargin.foundation.storage import DrawStore
from bayesmargin.running.chains import every_second
from bayesmargin.running.ensemble import Chains, Ensemble, Plan, Remedies
from bayesmargin.running.journal import Journal
from bayesmargin.running.progress import progress_for
from bayesmargin.running.supervisor import Supervisor


class Walker:
    """An autoregression, each draw of which notes the iteration it was made in."""

    def __init__(self, seed, memory, start=0.0):
        self.rng, self.memory, self.value = np.random.default_rng(seed), memory, start
        self.draws, self.trace, self.made, self.forgotten = [], [], 0, 0
        self.moving = ((), self.rng)

    def run(self, n_draws, thin):
        draws, trace = np.empty((n_draws, 1)), np.empty((n_draws, 1))
        for k in range(n_draws):
            for _ in range(thin):
                noise = np.sqrt(1.0 - self.memory**2) * self.rng.standard_normal()
                self.value = self.memory * self.value + noise
                self.made += 1
            draws[k], trace[k] = self.value, self.made
        self.draws.append(draws)
        self.trace.append(trace)

    def forget(self):
        self.draws.clear()
        self.trace.clear()
        self.forgotten += 1

    def halve(self):
        every_second(self.draws, self.trace)


def extended(chains, n_draws=400, closer=0):
    ensemble = Ensemble(Chains(chains), Plan(thin=1, warmup=0, adaptive=True, closer=closer))
    with progress_for(False) as progress:
        supervisor = Supervisor(None, n_draws, 1, progress, Journal(), None)
        return supervisor.sample(ensemble)


def test_slow_chains_that_agree_keep_every_second_draw():
    chains = [Walker(seed, memory=0.9) for seed in range(4)]
    ensemble, watched, trace = extended(chains)
    thin = ensemble.info["thin"]
    assert thin >= 4
    assert watched.positions.shape == (4, 400, 1)
    assert all(chain.forgotten == 0 for chain in chains)
    assert chains[0].made <= 400 * thin  # as many as the last spacing alone would take
    gaps = np.diff(trace[0, :, 0])
    assert gaps.min() == thin
    assert gaps.max() < 2 * thin  # where a stretch follows another
    assert np.mean(gaps == thin) > 0.95


def test_chains_that_disagree_begin_again():
    chains = [Walker(seed, memory=0.98, start=40.0 * (seed % 2)) for seed in range(4)]
    extended(chains)
    assert all(chain.forgotten > 0 for chain in chains)


def test_dear_draws_that_nearly_suffice_go_on_for_no_longer_than_needed():
    """Twice as many were made for the want of a tenth."""
    chains = [Walker(seed, memory=0.7) for seed in range(4)]
    ensemble, watched, trace = extended(chains, closer=3)
    assert ensemble.info["thin"] == 1
    assert 400 < chains[0].made < 2 * 400
    assert watched.worst[1] > enough_draws(watched)
    assert watched.positions.shape == (4, 400, 1)
    assert set(np.diff(trace[0, :, 0])) == {1.0, 2.0}
    assert all(chain.forgotten == 0 for chain in chains)


def test_dear_draws_that_are_far_from_enough_keep_every_second_one_first():
    chains = [Walker(seed, memory=0.9) for seed in range(4)]
    ensemble, watched, _ = extended(chains, closer=3)
    assert ensemble.info["thin"] >= 2
    assert chains[0].made < 2 * 400 * ensemble.info["thin"]
    assert watched.worst[1] > enough_draws(watched)


class Stumbling(Walker):
    """A walker that diverges as soon as its warm-up of 20 iterations is over."""

    def run(self, n_draws, thin):
        if self.made >= 20:
            raise DivergenceError("a chain diverged")
        super().run(n_draws, thin)


def test_a_smaller_step_comes_with_its_own_spacing_and_takes_no_extension():
    left = [4, 2, 1]

    class Again(Remedies):
        can_restart = True

        def smaller(self):
            kind = Stumbling if left else Walker
            spacing = 8 * left.pop() if left else 64
            chains = Chains(kind(seed, memory=0.5) for seed in range(4))
            plan = Plan(thin=spacing, warmup=20, adaptive=True)
            return Ensemble(chains, plan, remedies=self)

    with progress_for(False) as progress:
        supervisor = Supervisor(None, 400, 1, progress, Journal(), None, max_extensions=0)
        ensemble, watched, _ = supervisor.sample(supervisor.warm_up(Again().smaller()))
    assert supervisor.restarts == 3
    assert ensemble.info["thin"] == 64
    assert ensemble.chains[0].made == 20 + 400 * 64
    assert watched.positions.shape == (4, 400, 1)


def test_steps_found_too_long_are_halved_as_often_as_needed_at_once():
    class Again(Remedies):
        can_restart = True

        def smaller(self):
            return with_thin(2 * thin.pop())

    def with_thin(spacing):
        thin.append(spacing)
        return Ensemble(Chains([]), Plan(thin=spacing, warmup=20, adaptive=True), remedies=Again())

    thin = []
    with progress_for(False) as progress:
        supervisor = Supervisor(None, 400, 1, progress, Journal(), None, max_restarts=1)
        assert supervisor.shorter(with_thin(1), "kicks", 3.3).plan.thin == 4
        assert supervisor.restarts == 2
        assert supervisor.shorter(with_thin(1), "kicks", 3.3) is None  # the exact sampler is due
        cheap = Supervisor(None, 400, 1, progress, Journal(), None, max_restarts=0)
        assert cheap.shorter(with_thin(1), "kicks", 1.1) is None


def test_where_half_the_step_does_not_help_every_row_is_read():
    class Again(Remedies):
        can_restart = True

        def smaller(self):
            chains = Chains(Stumbling(seed, memory=0.5) for seed in range(4))
            return Ensemble(chains, Plan(thin=1, warmup=20, adaptive=True), remedies=self)

        def steadier(self):
            chains = Chains(Walker(seed, memory=0.5) for seed in range(4))
            return Ensemble(chains, Plan(thin=2, warmup=20, adaptive=True))

    with progress_for(False) as progress:
        supervisor = Supervisor(None, 400, 1, progress, Journal(), None, max_restarts=1)
        ensemble, _, _ = supervisor.sample(supervisor.warm_up(Again().smaller()))
    reasons = [note.split(" (")[0] for note in supervisor.notes]
    assert reasons == ["step halved", "every row read"]
    assert ensemble.info["thin"] == 2


@pytest.mark.parametrize("length", [0, 10, 99, 150, 199, 250, 1001])
def test_a_warm_up_is_as_long_as_asked_for(length):
    chains = [Walker(seed, memory=0.5) for seed in range(2)]
    ensemble = Ensemble(Chains(chains), Plan(thin=1, warmup=length, adaptive=False))
    with progress_for(False) as progress:
        supervisor = Supervisor(None, 10, 1, progress, Journal(), None)
        supervisor.warm_up(ensemble)
    assert [chain.made for chain in chains] == [length, length]
    assert supervisor.iterations == 2 * length


@pytest.mark.parametrize(("made", "kept"), [(8, [0, 2, 4, 6]), (7, [0, 2, 4, 6]), (1, [0])])
def test_a_store_is_halved_in_place(made, kept):
    store = DrawStore(2, 8, 1)
    for draw in range(made):
        store.put(1, draw, np.array([float(draw)]))
    store.halve(1, made)
    assert store.array[1, : len(kept), 0].tolist() == kept
